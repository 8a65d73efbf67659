package actions

import (
	"testing"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// holdResource has an override hold resources of our organization for an hour.
func (a *fixture) holdResource(action override.Action, held ...override.Held) string {
	live := override.Live{Change: 1}
	for i := range held {
		held[i].ID, held[i].Action, held[i].ExpiresAt = override.NewID(a.Clock.Now()), action,
			a.Clock.Now().Add(time.Hour)
		live.Overrides = append(live.Overrides, held[i])
	}
	a.Put(override.LiveKey(ours), live)
	return held[0].ID
}

func TestSubmit_AgainstAnOverrideIsRefusedAndNamesIt(t *testing.T) {
	a := newFixture(t)
	ovr := a.holdResource(override.ForceOn, override.Held{ResourceID: a.res.ID})
	a.call(ours, "POST", "/actions", a.actionBody()).Want(409, ovr, "force_on").AtMost(3)
	a.call(ours, "POST", "/actions", a.actionBody("type", "start")).Want(200)
	a.Clock.Advance(time.Hour)
	a.holdResource(override.ForceOff, override.Held{ResourceID: "res_01k00000000000000000000007"}) // another one's
	a.call(theirs, "POST", "/actions", a.actionBody()).Want(404)
}

func TestSubmit_AgainstAnOverrideOfItsGroupIsRefused(t *testing.T) {
	a := newFixture(t)
	ids := inventorytest.Discover(a.Fixture, ours, "aws-ec2", inventorytest.Instances(2)...)
	store := inventory.New(a.Platform)
	g := apitest.Value(store.CreateGroup(a.In(ours), ours,
		inventory.Group{ID: id.New("grp", apitest.Start), Name: "one"},
		[]inventory.GroupPlacement{{ResourceID: ids[0], Tier: 1, Order: 1}}))(t)
	ovr := a.holdResource(override.ForceOn, override.Held{GroupID: g.ID})
	body := func(uid string) string {
		return a.actionBody("resourceUID", uid, "cloudAccountID", inventorytest.Account)
	}
	a.call(ours, "POST", "/actions", body("i-0")).Want(409, ovr)
	a.call(ours, "POST", "/actions", body("i-1")).Want(200)
	bulk := func(what string) apitest.Answer {
		return a.call(ours, "POST", "/actions/bulk", `{"type":"stop","dryRun":true,`+what+`}`)
	}
	bulk(`"groupID":"`+g.ID+`"`).Want(409, ovr)
	got := apitest.Data[BulkSubmitted](bulk(`"resourceIDs":["` + ids[0] + `","` + ids[1] + `"]`))
	if got.Total != 1 || len(got.Plan.LeftOut) == 0 || got.Plan.LeftOut[0].ResourceID != ids[0] {
		t.Errorf("%+v", got.Plan)
	}
}
