package autoscalerpolicies

import (
	"net/http"
	"testing"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// TestApply_InADisconnectedAccountIsRefusedWithTheReason applies, changes and deletes a policy whose account was
// excluded meanwhile.
func TestApply_InADisconnectedAccountIsRefusedWithTheReason(t *testing.T) {
	f := newFixture(t)
	p := f.createPolicy(map[string]any{"mode": "recommend", "min": 3, "max": 30, "desired": 4})
	f.postVerb(p, "apply").Want(http.StatusOK)
	f.Change(inventory.AccountKey(apitest.Org, f.account), table.Set("status", inventory.AccountDisconnected),
		table.Set("error", "it was excluded"))
	f.postVerb(p, "apply").Want(http.StatusConflict, "it was excluded")
	got := apitest.Data[AutoscalerPolicy](f.Call(ada, "PUT /autoscaler-policies/"+p.ID,
		`{"mode":"autopilot","max":60}`))
	f.Equal("status", got.Status, "error")
	f.Call(ada, "DELETE /autoscaler-policies/"+p.ID).Want(http.StatusConflict, "it was excluded", "force=true")
	f.Equal("the maximum of the target", f.liveScaling(p).Max, int64(30))
	f.Call(ada, "DELETE /autoscaler-policies/"+p.ID+"?force=true").Want(http.StatusOK)
}
