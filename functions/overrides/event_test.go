package overrides

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const eventPlan = "evt_01k00000000000000000000009"

// holdForEvent has an event readiness plan hold the first instance for a time.
func (a *fixture) holdForEvent(d time.Duration) {
	a.Helper()
	h := scheduling.EventHold{
		PlanID: eventPlan, PolicyID: "asp_1", UID: a.uid(0), Since: a.Clock.Now(),
		Until: a.Clock.Now().Add(d),
	}
	a.Write(scheduling.BeginEventHold(ours, h)[0])
}

func TestOverride_OffDuringAnEventIsRefusedAndNamesThePlan(t *testing.T) {
	a := newFixture(t)
	a.holdForEvent(time.Hour)
	body := map[string]any{"action": "force_off", "expiresAt": a.timeIn(2 * time.Hour), "resourceUID": a.uid(0)}
	a.call("POST /overrides", body).Want(409, eventPlan)
	delete(body, "resourceUID")
	a.call("POST /resource-groups/"+a.group.ID+"/overrides", body).Want(409, eventPlan)
	if n := len(a.listBulks()); n != 0 {
		t.Errorf("%d bulk actions were queued", n)
	}
	body["action"] = "force_on"
	a.call("POST /resource-groups/"+a.group.ID+"/overrides", body).Want(200)
	body["action"], body["resourceUID"] = "force_off", a.uid(4)
	a.call("POST /overrides", body).Want(200)
}

func TestOverride_ForceTakesTheRightToActAndIsPassedOn(t *testing.T) {
	a := newFixture(t)
	a.holdForEvent(time.Hour)
	body := map[string]any{
		"action": "force_off", "expiresAt": a.timeIn(2 * time.Hour), "resourceUID": a.uid(0),
		"force": true,
	}
	tim := apitest.Caller(ours, "tim", "overrides:write", "overrides:read", "resources:read")
	a.Call(tim, "POST /overrides", body).Want(403, "actions:execute")
	o := apitest.Data[Override](a.call("POST /overrides", body).Want(200, `"force":true`))
	b := a.listBulks()
	if len(b) != 1 || !b[0].Force {
		t.Fatalf("%s", apitest.JSON(b))
	}
	members := apitest.Value(execution.BulkTargets(a.In(ours), a.Table, inventory.New(a.Platform), ours, b[0]))(t)
	if len(members) != 1 {
		t.Errorf("the forced override acts on %d resources", len(members))
	}
	a.call("GET /overrides/"+o.ID).Want(200, `"force":true`)
	if row := a.LastAudited(ours); !strings.Contains(apitest.JSON(row.Changes), `"force":true`) {
		t.Errorf("the audit row does not say that the override was forced: %s", apitest.JSON(row))
	}
}

// TestWake_ItsEndStopsNothingDuringAnEvent ends the override of a wake link, whose end is a stop.
func TestWake_ItsEndStopsNothingDuringAnEvent(t *testing.T) {
	for name, c := range map[string]struct {
		force bool
		acts  int
	}{"without force the target is left out": {false, 2}, "with force it is stopped": {true, 3}} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			_, page := a.newLink(map[string]any{"maxHours": 1, "force": c.force})
			a.visitPage("POST " + page).Want(200)
			a.holdForEvent(3 * time.Hour)
			a.Clock.Advance(time.Hour)
			live := apitest.Rows[struct {
				ID         string `json:"id"`
				WakeLinkID string `json:"wakeLinkID"`
			}](a.Fixture, table.OrgPK(ours)+"OVERRIDE")
			for _, o := range live {
				if o.WakeLinkID != "" {
					apitest.Value(evaluation.New(a.Platform).EndOverride(a.In(ours), ours, o.ID, ""))(t)
				}
			}
			b := a.listBulks()
			stop := b[len(b)-1]
			members := apitest.Value(execution.BulkTargets(a.In(ours), a.Table, inventory.New(a.Platform), ours,
				stop))(t)
			if stop.Type != "stop" || stop.Force != c.force || len(members) != c.acts {
				t.Errorf("a %s of %d resources, forced %v", stop.Type, len(members), stop.Force)
			}
		})
	}
}

func TestWake_ThatWouldStopDuringAnEventIsRefusedAndNamesThePlan(t *testing.T) {
	a := newFixture(t)
	_, page := a.newLink(map[string]any{"maxHours": 1})
	_, forced := a.newLink(map[string]any{"maxHours": 1, "force": true})
	_, longer := a.newLink(map[string]any{"maxHours": 5})
	a.holdForEvent(3 * time.Hour)
	a.visitPage("GET "+page).Want(200, eventPlan)
	a.visitPage("POST "+page).Want(409, eventPlan)
	if n := len(a.listBulks()); n != 0 {
		t.Errorf("%d bulk actions were queued", n)
	}
	a.visitPage("POST "+longer).Want(200, "Starting")
	a.visitPage("POST "+forced).Want(200, "Starting")
}

func TestWake_ForceTakesTheRightToAct(t *testing.T) {
	a := newFixture(t)
	tim := apitest.Caller(ours, "tim", "overrides:write", "overrides:read", "resources:read", "resource-groups:read")
	a.Call(tim, "POST /resource-groups/"+a.group.ID+"/wake-links", map[string]any{"force": true}).Want(403,
		"actions:execute")
}

func TestOverride_InADisconnectedAccountIsRefusedWithTheReason(t *testing.T) {
	a := newFixture(t)
	_, page := a.newLink(nil)
	a.Change(inventory.AccountKey(ours, inventorytest.Account), table.Set("status", inventory.AccountDisconnected),
		table.Set("error", "it was excluded"))
	body := map[string]any{"action": "force_on", "expiresAt": a.timeIn(time.Hour), "resourceUID": a.uid(0)}
	a.call("POST /overrides", body).Want(409, "it was excluded")
	delete(body, "resourceUID")
	a.call("POST /resource-groups/"+a.group.ID+"/overrides", body).Want(409, "it was excluded")
	a.call("POST /resource-groups/"+a.group.ID+"/wake-links", map[string]any{}).Want(409, "it was excluded")
	a.visitPage("POST "+page).Want(409, "disconnected")
	if n := len(a.listBulks()); n != 0 {
		t.Errorf("%d bulk actions were queued", n)
	}
}
