package eventreadiness

import (
	"testing"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/testkit/apitest"
)

const planning = "event-readiness:read,event-readiness:write,resources:read"

func TestSchedule_NeedsActionsExecuteOnEachTarget(t *testing.T) {
	f := newFixture(t)
	found := apitest.Value(inventory.New(f.Platform).ByUIDs(f.In(ours), ours, []string{"web", "api"},
		inventory.SeeEverything()))(t)
	web, api := found[0].ID, found[1].ID
	planner := apitest.Caller(ours, "pia", planning)
	half := apitest.Caller(ours, "pia", planning, "actions:execute resource:"+web)
	whole := apitest.Caller(ours, "pia", planning, "actions:execute resource:"+web, "actions:execute resource:"+api)
	p := apitest.Data[EventPlan](f.Call(planner, "POST /event-readiness", f.planBody("asp_web", "asp_api")))
	path := "/event-readiness/" + p.ID
	f.Call(planner, "PUT "+path, `{"description":"a draft changes nothing"}`).Want(200)
	f.Call(planner, "POST "+path+"/schedule").Want(403, "actions:execute")
	f.Call(half, "POST "+path+"/schedule").Want(403, "actions:execute", "api")
	if got := apitest.Data[EventPlan](f.Call(planner, "GET "+path)); got.Status != "draft" ||
		len(f.engine.started) != 0 {
		t.Errorf("%s, started %v", got.Status, f.engine.started)
	}
	f.Call(whole, "POST "+path+"/schedule").Want(200)
}
