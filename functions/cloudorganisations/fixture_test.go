package cloudorganisations_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/functions/cloudorganisations"
	"lamplighter.dev/functions/connector"
	"lamplighter.dev/functions/discovery"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
)

type fields = map[string]any

type keys = map[string]string

// The callers: the administrators of two organizations, and one who may only look.
var (
	alice  = apitest.Caller("org_a", "alice", "*:*")
	bob    = apitest.Caller("org_b", "bob", "*:*")
	viewer = apitest.Caller("org_a", "vic", "*:read")
)

// fixture is the operations, beside those of accounts, in front of a cloud, with discovery behind it.
type fixture struct{ *apitest.Fixture }

func newFixture(t *testing.T, change ...func(*platform.Platform)) *fixture {
	t.Helper()
	s := &fixture{apitest.On(t, apitest.PlatformAt(t, clock.System{}))}
	s.Settings.Simulated, s.Settings.CustomEndpoints = true, true
	providers := cloud.Providers{simulated.Name: simulated.New(s.Table, s.Platform.Clock)}
	s.Workers = lambdacall.Local{inventory.Connector: connector.Handler(s.Platform, providers)}
	s.RunMachines(apitest.Machines(t, "discovery"),
		map[string]workflow.Handler{"discovery": discovery.Handler(s.Platform, providers)})
	for _, f := range change {
		f(s.Platform)
	}
	s.Mount(cloudaccounts.Operations, cloudorganisations.Operations)
	return s
}

// call sends body, which is encoded unless it is a string, as c.
func (s *fixture) call(c identity.Caller, method, path string, body any) apitest.Answer {
	s.Helper()
	return s.Call(c, method+" "+path, body)
}

// waitIdle waits until no discovery is under way.
func (s *fixture) waitIdle() {
	s.Helper()
	s.Must(s.Workflow.(*workflow.Embedded).Idle(s.Context())) //nolint:forcetypeassert // the fixture made it
}

// renamed is the simulated cloud under the name of another provider. It stores the settings of the last connection.
// Its account number is native, or else the claimed one.
type renamed struct {
	cloud.Provider
	name, native string
	mu           sync.Mutex
	opened       cloud.Account
}

func (r *renamed) Name() string { return r.name }

func (r *renamed) Connect(ctx context.Context, a cloud.Account) (cloud.Conn, error) {
	r.mu.Lock()
	r.opened = a
	r.mu.Unlock()
	a.Provider, a.AuthMethod, a.Credentials = "simulated", "simulated", map[string]string{"size": "10", "regions": "1"}
	if r.native != "" {
		a.Credentials["accountID"] = r.native
	}
	return r.Provider.Connect(ctx, a)
}

func (r *renamed) lastSettings() cloud.Account {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opened
}

// withProvider makes the connector one that has the provider.
func withProvider(r *renamed) func(*platform.Platform) {
	return func(p *platform.Platform) {
		r.Provider = simulated.New(p.Table, p.Clock)
		p.Workers = lambdacall.Local{inventory.Connector: connector.Handler(p, cloud.Providers{r.name: r})}
	}
}

func unquote(s string) string { return strings.ReplaceAll(s, `\"`, `"`) }
