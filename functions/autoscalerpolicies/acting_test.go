package autoscalerpolicies

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/testkit/apitest"
)

const tuning = "autoscaler-policies:read,autoscaler-policies:write,resources:read"

func TestPolicies_WhoHasATargetScaledNeedsActionsExecuteOnIt(t *testing.T) {
	f := newFixture(t)
	uid := f.byType[cloud.AWSASG][0].UID
	found := apitest.Value(inventory.New(f.Platform).ByUIDs(f.In(apitest.Org), apitest.Org, []string{uid},
		inventory.SeeEverything()))(t)
	tuner := apitest.Caller(apitest.Org, "tom", tuning)
	other := apitest.Caller(apitest.Org, "tom", tuning, "actions:execute resource:res_01k00000000000000000000009")
	actor := apitest.Caller(apitest.Org, "tom", tuning, "actions:execute resource:"+found[0].ID)
	f.Call(tuner, "POST /autoscaler-policies", f.policyBody(cloud.AWSASG, 0)).Want(403, "actions:execute")
	f.Call(other, "POST /autoscaler-policies", f.policyBody(cloud.AWSASG, 0)).Want(403, "actions:execute", uid)
	p := apitest.Data[AutoscalerPolicy](f.Call(actor, "POST /autoscaler-policies", f.policyBody(cloud.AWSASG, 0)))
	path := "/autoscaler-policies/" + p.ID
	f.Call(tuner, "PUT "+path, `{"name":"Shop"}`).Want(200)
	f.Call(tuner, "PUT "+path, `{"mode":"autopilot"}`).Want(403)
	f.Call(tuner, "POST "+path+"/apply").Want(403)
	f.Call(actor, "POST "+path+"/apply").Want(200)
	f.Call(tuner, "POST "+path+"/pause").Want(200)
	f.Call(tuner, "POST "+path+"/resume").Want(403)
	f.Call(tuner, "DELETE "+path).Want(403)
	f.Call(actor, "DELETE "+path).Want(200)
}
