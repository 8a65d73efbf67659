package executor

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/foundation/fault"
)

// Without its kind, a resource in a cluster would be changed with the credentials of the wrong account.
func TestConnectTarget_RefusesATypeThatItsProviderDoesNotHave(t *testing.T) {
	e := &Executor{providers: cloud.Providers{}}
	_, err := e.connectTarget(t.Context(), org, inventory.Account{},
		&remediation.Target{Provider: "aws", ResourceType: "aws-unheard-of", ResourceUID: "i-1"})
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("%v; want it refused", err)
	}
}
