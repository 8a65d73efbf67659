package actions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const eventPlan = "evt_01k00000000000000000000009"

// holdForEvent makes an event readiness plan hold a resource and its enclosing resources for an hour.
func (a *fixture) holdForEvent(uid string, enclosing ...string) {
	a.Helper()
	h := scheduling.EventHold{
		PlanID: eventPlan, PolicyID: "asp_" + uid, UID: uid, Enclosing: enclosing, Since: a.Clock.Now(),
		Until: a.Clock.Now().Add(time.Hour),
	}
	a.Write(scheduling.BeginEventHold(ours, h)[0])
}

// disconnect marks an account as disconnected.
func (a *fixture) disconnect(accountID string) {
	a.Helper()
	a.Change(inventory.AccountKey(ours, accountID), table.Set("status", inventory.AccountDisconnected),
		table.Set("error", "it was excluded from its organization"))
}

// forcedRequest returns the body of a forced stop.
func (a *fixture) forcedRequest() string {
	a.Helper()
	return strings.TrimSuffix(a.actionBody(), "}") + `,"force":true}`
}

func TestSubmit_AStopDuringAnEventIsRefusedAndNamesThePlan(t *testing.T) {
	a := newFixture(t)
	a.holdForEvent(a.res.UID)
	a.call(ours, "POST", "/actions", a.actionBody()).Want(409, eventPlan, "force").AtMost(3)
	if n := len(apitest.Rows[execution.Action](a.Fixture, execution.ActionPKs(ours)...)); n != 0 {
		t.Errorf("%d actions were created", n)
	}
	a.call(ours, "POST", "/actions", a.actionBody("type", "start")).Want(200)
	a.call(theirs, "POST", "/actions", a.actionBody()).Want(404)
}

func TestSubmit_AForcedStopIsDoneAndOnRecord(t *testing.T) {
	a := newFixture(t)
	a.holdForEvent(a.res.UID)
	tim := apitest.Caller(ours, "tim", "viewer")
	a.Call(tim, "POST /actions", a.forcedRequest()).Want(403)
	got := apitest.Data[Submitted](a.call(ours, "POST", "/actions", a.forcedRequest()).Want(200).AtMost(3))
	a.call(ours, "GET", "/actions/"+got.ActionID, "").Want(200, `"force":true`)
	again := apitest.Data[Submitted](a.call(ours, "POST", "/actions", a.forcedRequest()))
	if again.ActionID != got.ActionID {
		t.Errorf("a second forced stop is %s; it joins %s", again.ActionID, got.ActionID)
	}
}

func TestSubmit_ForceBeatsAnOverride(t *testing.T) {
	a := newFixture(t)
	a.holdResource("force_on", heldResource(a.res.ID))
	a.call(ours, "POST", "/actions", a.actionBody()).Want(409)
	a.call(ours, "POST", "/actions", a.forcedRequest()).Want(200)
}

func TestSubmit_ForceDoesNotJoinAStopWithoutForce(t *testing.T) {
	a := newFixture(t)
	first := apitest.Data[Submitted](a.call(ours, "POST", "/actions", a.actionBody()))
	a.call(ours, "POST", "/actions", a.forcedRequest()).Want(409, first.ActionID, "without force")
}

func TestSubmit_AStopOfWhatEnclosesATargetIsRefused(t *testing.T) {
	a := newFixture(t)
	a.holdForEvent("cluster/shop/deployments/web", a.res.UID)
	a.call(ours, "POST", "/actions", a.actionBody()).Want(409, eventPlan)
}

func TestSubmit_InADisconnectedAccountIsRefusedWithTheReason(t *testing.T) {
	a := newFixture(t)
	a.disconnect(a.account.ID)
	for _, body := range []string{a.actionBody(), a.actionBody("type", "start"), a.forcedRequest()} {
		a.call(ours, "POST", "/actions", body).Want(409, a.account.ID, "excluded from its organization").AtMost(3)
	}
}

// bulkOn creates four instances in two accounts, i-0 and i-1 in the first, o-0 and o-1 in the other, and a group of
// all four.
func (a *fixture) bulkOn() (ids []string, groupID string) {
	a.Helper()
	const other = "ca_01k00000000000000000000077"
	inventorytest.Connect(a.Fixture, ours, other)
	ids = inventorytest.Discover(a.Fixture, ours, "aws-ec2", inventorytest.Instances(2)...)
	ids = append(ids,
		inventorytest.DiscoverIn(a.Fixture, inventory.Partition{AccountID: other, Region: "eu-west-1", Kind: "aws-ec2"},
			ours,
			cloud.Resource{UID: "o-0", Name: "web", Status: cloud.Running},
			cloud.Resource{UID: "o-1", Name: "web", Status: cloud.Running})...)
	places := make([]inventory.GroupPlacement, len(ids))
	for i, resourceID := range ids {
		places[i] = inventory.GroupPlacement{ResourceID: resourceID, Tier: 1, Order: 1}
	}
	g := apitest.Value(inventory.New(a.Platform).CreateGroup(a.In(ours), ours,
		inventory.Group{ID: id.New("grp", apitest.Start), Name: "all"}, places))(a)
	return ids, g.ID
}

// bulkBodies are the ways to name the four instances to a bulk action.
func bulkBodies(ids []string, groupID string) map[string]string {
	return map[string]string{
		"by group":  fmt.Sprintf(`"groupID":%q`, groupID),
		"by ids":    `"resourceIDs":` + apitest.JSON(ids),
		"by filter": `"filter":{"type":"aws-ec2"}`,
	}
}

func TestSubmitBulk_LeavesOutTargetsOfAnEventWithReasonEvent(t *testing.T) {
	for _, way := range []string{"by group", "by ids", "by filter"} {
		t.Run(way, func(t *testing.T) {
			a := newFixture(t)
			named := bulkBodies(a.bulkOn())[way]
			a.holdForEvent("i-0")
			planned := apitest.Data[BulkSubmitted](a.call(ours, "POST", "/actions/bulk",
				`{"type":"stop","dryRun":true,`+named+`}`))
			if l := planned.Plan.LeftOut[len(planned.Plan.LeftOut)-1]; planned.Total != 3 || l.ResourceUID != "i-0" ||
				l.Reason != "event" || !strings.Contains(*l.Detail, eventPlan) {
				t.Errorf("the dry run says %s", apitest.JSON(planned))
			}
			got := apitest.Data[BulkSubmitted](a.call(ours, "POST", "/actions/bulk", `{"type":"stop",`+named+`}`))
			if got.Total != 3 || got.LeftOut != 1 || got.LeftOutOf[0].Reason != "event" ||
				!strings.Contains(got.LeftOutOf[0].Detail, eventPlan) {
				t.Errorf("%s", apitest.JSON(got))
			}
			a.call(ours, "GET", "/actions/bulk/"+got.BulkActionID, "").Want(200, `"leftOut":1`, eventPlan)
			b := apitest.Read[execution.Bulk](a.Fixture, execution.BulkKey(ours, got.BulkActionID))
			for _, m := range apitest.Value(execution.BulkTargets(a.In(ours), a.Table, inventory.New(a.Platform), ours,
				b))(t) {
				if m.UID == "i-0" {
					t.Error("the bulk action acts on the target of the event")
				}
			}
		})
	}
}

func TestSubmitBulk_OnNothingButTargetsOfAnEventIsRefusedAndForceIsNot(t *testing.T) {
	a := newFixture(t)
	ids, _ := a.bulkOn()
	a.holdForEvent("i-0")
	body := fmt.Sprintf(`{"type":"stop","resourceIDs":[%q]`, ids[0])
	a.call(ours, "POST", "/actions/bulk", body+`}`).Want(409, eventPlan)
	got := apitest.Data[BulkSubmitted](a.call(ours, "POST", "/actions/bulk", body+`,"force":true}`))
	if got.Total != 1 || got.LeftOut != 0 {
		t.Errorf("%s", apitest.JSON(got))
	}
	a.call(ours, "GET", "/actions/bulk/"+got.BulkActionID, "").Want(200, `"force":true`)
	a.call(ours, "POST", "/actions/bulk", strings.Replace(body, "stop", "start", 1)+`}`).Want(200, `"leftOut":0`)
}

func TestSubmitBulk_ForceDoesNotJoinOneWithoutForceOnTheGroup(t *testing.T) {
	a := newFixture(t)
	_, groupID := a.bulkOn()
	body := fmt.Sprintf(`{"type":"stop","groupID":%q`, groupID)
	first := apitest.Data[BulkSubmitted](a.call(ours, "POST", "/actions/bulk", body+`}`))
	a.call(ours, "POST", "/actions/bulk", body+`,"force":true}`).Want(409, first.BulkActionID, "without force")
}

func TestSubmitBulk_LeavesOutDisconnectedAccountsAlsoWithForce(t *testing.T) {
	for _, way := range []string{"by group", "by ids", "by filter"} {
		for _, force := range []string{"", `,"force":true`} {
			t.Run(way+force, func(t *testing.T) {
				a := newFixture(t)
				named := bulkBodies(a.bulkOn())[way]
				a.disconnect(inventorytest.Account)
				got := apitest.Data[BulkSubmitted](a.call(ours, "POST", "/actions/bulk",
					`{"type":"stop",`+named+force+`}`))
				if got.Total != 2 || got.LeftOut != 2 ||
					!strings.Contains(got.LeftOutOf[0].Reason, "excluded from its organization") {
					t.Errorf("%s", apitest.JSON(got))
				}
				a.disconnect("ca_01k00000000000000000000077")
				a.call(ours, "POST", "/actions/bulk", `{"type":"start",`+named+force+`}`).Want(409,
					"excluded from its organization")
			})
		}
	}
}

// TestSubmit_TheAuditRowSaysForce reads the entry that goes with a forced stop.
func TestSubmit_TheAuditRowSaysForce(t *testing.T) {
	a := newFixture(t)
	a.call(ours, "POST", "/actions", a.forcedRequest()).Want(200)
	if row := a.LastAudited(ours); !strings.Contains(apitest.JSON(row.Changes), `"force":true`) {
		t.Errorf("the audit row does not say that the stop was forced: %s", apitest.JSON(row))
	}
}

func heldResource(resourceID string) override.Held { return override.Held{ResourceID: resourceID} }
