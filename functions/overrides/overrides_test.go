package overrides

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const ours, theirs = apitest.Org, apitest.OtherOrg

// fixture is our organization with six instances of an account, i-0 to i-5, and a group of the first three.
type fixture struct {
	*apitest.Fixture
	ids   []string
	group inventory.Group
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	a := &fixture{Fixture: apitest.New(t)}
	a.Workflow = apitest.Idle{}
	a.Mount(Operations)
	a.Join(ours, "ada", "owner")
	a.ids = inventorytest.Discover(a.Fixture, ours, "aws-ec2", inventorytest.Instances(6)...)
	places := []inventory.GroupPlacement{
		{ResourceID: a.ids[0], Tier: 1, Order: 1},
		{ResourceID: a.ids[1], Tier: 2, Order: 1},
		{ResourceID: a.ids[2], Tier: 2, Order: 1},
	}
	a.group = apitest.Value(inventory.New(a.Platform).CreateGroup(a.In(ours), ours,
		inventory.Group{ID: id.New("grp", apitest.Start), Name: "Shop", FailurePolicy: "abort", StepDelaySeconds: 7},
		places))(a)
	return a
}

// uid returns the native id of the n-th instance.
func (a *fixture) uid(n int) string {
	a.Helper()
	found := apitest.Value(inventory.New(a.Platform).ByIDs(a.In(ours), ours, []string{a.ids[n]},
		inventory.SeeEverything()))(a)
	return found[0].UID
}

func (a *fixture) call(request string, body ...any) apitest.Answer {
	a.Helper()
	return a.Call(apitest.Caller(ours, "ada", "*:*"), request, body...)
}

func (a *fixture) timeIn(d time.Duration) string { return a.Clock.Now().Add(d).Format(time.RFC3339) }

// holdGroup makes an override on the group.
func (a *fixture) holdGroup(action override.Action, d time.Duration) Override {
	a.Helper()
	a.Clock.Advance(time.Second)
	return apitest.Data[Override](a.call("POST /overrides",
		map[string]any{"groupID": a.group.ID, "action": action, "reason": "release", "expiresAt": a.timeIn(d)}))
}

// listBulks returns the bulk actions that were queued, oldest first.
func (a *fixture) listBulks() []execution.Bulk {
	a.Helper()
	return apitest.Rows[execution.Bulk](a.Fixture, execution.BulkPK(ours))
}

func TestOverride_OnAResourceIsAppliedAtOnce(t *testing.T) {
	a := newFixture(t)
	w := a.call("POST /overrides",
		map[string]any{
			"resourceUID": a.uid(4), "action": "force_off", "reason": "broken",
			"expiresAt": a.timeIn(time.Hour),
		}).AtMost(8)
	o := apitest.Data[Override](w)
	if o.Status != "active" || *o.ResourceUID != a.uid(4) || *o.ResourceID != a.ids[4] || o.GroupID != nil ||
		o.CreatedBy != "ada@example.com" || o.EndedAt != nil {
		t.Errorf("%+v", o)
	}
	b := a.listBulks()
	if len(b) != 1 || b[0].ID != o.BulkActionID || b[0].Type != "stop" || b[0].Total != 1 ||
		b[0].Plan.ChangedBy != "override:force_off" || b[0].Plan.Reason != "override" {
		t.Errorf("%+v", b)
	}
	if due := apitest.Rows[scheduling.Due](a.Fixture, duePKs()...); len(due) != 1 || due[0].Minute.After(o.ExpiresAt) ||
		o.ExpiresAt.Sub(due[0].Minute) >= time.Minute {
		t.Errorf("its end is due at %+v", due)
	}
	if got := apitest.Data[Override](a.call("GET /overrides/" + o.ID).AtMost(1)); got.ID != o.ID ||
		got.Reason != "broken" {
		t.Errorf("%+v", got)
	}
}

func duePKs() []string {
	out := make([]string, scheduling.DueShards)
	for i := range out {
		out[i] = scheduling.DuePK(i)
	}
	return out
}

func TestOverride_OnAGroupKeepsItsTiersAndPolicy(t *testing.T) {
	a := newFixture(t)
	o := a.holdGroup(override.ForceOn, time.Hour)
	b := a.listBulks()[0]
	members := apitest.Value(execution.BulkTargets(a.In(ours), a.Table, inventory.New(a.Platform), ours, b))(a)
	tiers := map[string]int{}
	for _, m := range members {
		tiers[m.ResourceID] = m.Tier
	}
	if *o.GroupID != a.group.ID || b.Type != "start" || b.Plan.FailurePolicy != "abort" || b.Plan.StepDelay != 7 ||
		len(tiers) != 3 || tiers[a.ids[0]] != 1 || tiers[a.ids[1]] != 2 || tiers[a.ids[2]] != 2 {
		t.Errorf("%+v %+v %v", o, b, tiers)
	}
}

func TestOverride_BadInputIsRefusedByFieldAndValue(t *testing.T) {
	a := newFixture(t)
	good := func() map[string]any {
		return map[string]any{"resourceUID": a.uid(0), "action": "force_on", "expiresAt": a.timeIn(time.Hour)}
	}
	for name, c := range map[string]struct {
		field string
		value any
		code  int
		words []string
	}{
		"an end in the past": {
			"expiresAt", a.timeIn(-time.Minute), 400,
			[]string{"expiresAt", a.timeIn(-time.Minute)},
		},
		"an end now": {"expiresAt", a.timeIn(0), 400, []string{"expiresAt", a.timeIn(0)}},
		"an end beyond 90 days": {
			"expiresAt", a.timeIn(90*24*time.Hour + time.Second), 400,
			[]string{"expiresAt", "90 days"},
		},
		"an end that is no time":        {"expiresAt", "tomorrow", 400, []string{"expiresAt", "RFC 3339"}},
		"an action that does not exist": {"action", "force_sleep", 400, []string{"action", "force_on"}},
		"a resource and a group":        {"groupID", a.group.ID, 400, []string{"resourceUID, groupID"}},
		"a resource that is not there":  {"resourceUID", "i-none", 404, []string{"i-none"}},
		"neither resource nor group":    {"resourceUID", nil, 400, []string{"resourceUID"}},
	} {
		t.Run(name, func(t *testing.T) {
			body := good()
			if body[c.field] = c.value; c.value == nil {
				delete(body, c.field)
			}
			a.call("POST /overrides", body).Want(c.code, c.words...)
		})
	}
	a.call("POST /overrides",
		map[string]any{
			"groupID": "grp_01k00000000000000000000009", "action": "force_on",
			"expiresAt": a.timeIn(time.Hour),
		}).Want(404, "grp_01k00000000000000000000009")
	a.call("POST /overrides",
		map[string]any{
			"resourceUID": a.uid(0), "action": "force_on",
			"expiresAt": a.timeIn(90 * 24 * time.Hour),
		}).Want(200)
	if n := len(a.listBulks()); n != 1 {
		t.Errorf("%d bulk actions; want that of the good one alone", n)
	}
}

func TestOverride_AReadOnlyAccountIsForbidden(t *testing.T) {
	a := newFixture(t)
	found := apitest.Value(inventory.New(a.Platform).ByIDs(a.In(ours), ours, a.ids[:1], inventory.SeeEverything()))(a)
	a.Change(inventory.AccountKey(ours, found[0].CloudAccountID), table.Set("permissionLevel", "read_only"))
	a.call("POST /overrides",
		map[string]any{"resourceUID": a.uid(0), "action": "force_on", "expiresAt": a.timeIn(time.Hour)}).Want(403,
		"read_only", a.uid(0))
	a.call("POST /resource-groups/"+a.group.ID+"/overrides",
		map[string]any{"action": "force_on", "expiresAt": a.timeIn(time.Hour)}).Want(403, "read_only")
	if n := len(a.listBulks()); n != 0 {
		t.Errorf("%d bulk actions were queued", n)
	}
}

func TestOverride_AnotherOrganizationSeesNothing(t *testing.T) {
	a := newFixture(t)
	o := a.holdGroup(override.ForceOn, time.Hour)
	eve := apitest.Caller(theirs, "eve", "*:*")
	a.Call(eve, "GET /overrides/"+o.ID).Want(404, o.ID)
	a.Call(eve, "DELETE /overrides/"+o.ID).Want(404, o.ID)
	a.Call(eve, "GET /resource-groups/"+a.group.ID+"/overrides").Want(404)
	if l := apitest.Data[rest.List[Override]](a.Call(eve, "GET /overrides")); l.Total != 0 {
		t.Errorf("%+v", l)
	}
}

func TestOverride_AScopedGrantReachesWhatLiesInItWhole(t *testing.T) {
	a := newFixture(t)
	tim := apitest.Caller(ours, "tim", "operator resource:"+a.ids[0])
	body := map[string]any{"action": "force_on", "expiresAt": a.timeIn(time.Hour)}
	a.Call(tim, "POST /resource-groups/"+a.group.ID+"/overrides", body).Want(403, "every resource")
	body["resourceUID"] = a.uid(0)
	o := apitest.Data[Override](a.Call(tim, "POST /overrides", body))
	body["resourceUID"] = a.uid(4)
	a.Call(tim, "POST /overrides", body).Want(404)
	other := a.holdGroup(override.ForceOn, time.Hour)
	a.Call(tim, "DELETE /overrides/"+other.ID).Want(403, "every resource")
	a.Call(tim, "DELETE /overrides/"+o.ID).Want(200)
	bob := apitest.Caller(ours, "bob", "viewer")
	a.Call(bob, "DELETE /overrides/"+other.ID).Want(403, "overrides:write")
	if l := apitest.Data[rest.List[Override]](a.Call(bob, "GET /overrides?status=active")); l.Total != 1 ||
		l.Items[0].ID != other.ID {
		t.Errorf("%+v", l)
	}
}

func TestOverride_ListsNewestFirstAndByStatus(t *testing.T) {
	a := newFixture(t)
	first, second := a.holdGroup(override.ForceOn, time.Hour), a.holdGroup(override.ForceOff, 2*time.Hour)
	l := apitest.Data[rest.List[Override]](a.call("GET /resource-groups/" + a.group.ID + "/overrides"))
	if l.Total != 2 || l.Items[0].ID != second.ID || l.Items[1].ID != first.ID {
		t.Errorf("%+v", l)
	}
	a.Clock.Advance(90 * time.Minute)
	if l = apitest.Data[rest.List[Override]](a.call("GET /overrides?status=ended")); l.Total != 1 ||
		l.Items[0].ID != first.ID {
		t.Errorf("%+v", l)
	}
}

// Of two on one resource the newest holds it; after its end the older one again, and nothing when none is left.
func TestOverride_TheOlderOneHoldsAgainWhenTheNewerEnds(t *testing.T) {
	a := newFixture(t)
	on, off := a.holdGroup(override.ForceOn, 3*time.Hour), a.holdGroup(override.ForceOff, time.Hour)
	a.Clock.Advance(time.Minute)
	a.call("DELETE /overrides/"+off.ID).Want(200, off.ID)
	b := a.listBulks()
	last := b[len(b)-1]
	if len(b) != 3 || last.Type != "start" || last.Plan.ChangedBy != "override_expired:force_off" ||
		last.Plan.Reason != "override_expired" || last.Total != 3 {
		t.Fatalf("%+v", b)
	}
	got := apitest.Data[Override](a.call("GET /overrides/" + off.ID))
	if got.Status != "ended" || *got.EndedBy != "ada@example.com" || len(got.RestoredBy) != 1 ||
		got.RestoredBy[0] != last.ID {
		t.Errorf("%+v", got)
	}
	a.call("DELETE /overrides/"+off.ID).Want(409, "ended already")
	a.call("DELETE /overrides/" + on.ID).Want(200)
	if n := len(a.listBulks()); n != 3 {
		t.Errorf("%d bulk actions: nothing wants anything any more", n)
	}
}

func TestOverride_IsEndedOnceWhoeverEndsIt(t *testing.T) {
	a := newFixture(t)
	a.holdGroup(override.ForceOn, 3*time.Hour)
	off := a.holdGroup(override.ForceOff, time.Hour)
	a.Clock.Advance(2 * time.Hour)
	var ends atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := evaluation.New(a.Platform).EndOverride(a.In(ours), ours, off.ID, ""); err == nil {
				ends.Add(1)
			}
		})
	}
	wg.Wait()
	if n := len(a.listBulks()); ends.Load() != 1 || n != 3 {
		t.Errorf("%d ends, %d bulk actions; want 1, 3", ends.Load(), n)
	}
}

func TestOverride_ManyAtOnceAreAllKept(t *testing.T) {
	a := newFixture(t)
	var wg sync.WaitGroup
	for n := range 6 {
		wg.Go(func() {
			a.call("POST /overrides",
				map[string]any{
					"resourceUID": a.uid(n), "action": "force_on",
					"expiresAt": a.timeIn(time.Hour),
				}).Want(200)
		})
	}
	wg.Wait()
	live := apitest.Value(override.ReadLive(a.In(ours), a.Table, ours))(a)
	if len(live.Overrides) != 6 || len(a.listBulks()) != 6 {
		t.Errorf("%d live, %d bulk actions", len(live.Overrides), len(a.listBulks()))
	}
}

func TestOverride_MoreThanTheBoundIsRefused(t *testing.T) {
	a := newFixture(t)
	live := override.Live{Change: 1}
	for n := range override.MaxLive {
		live.Overrides = append(live.Overrides,
			override.Held{
				ID: fmt.Sprint("ovr_", n), ResourceID: a.ids[5], Action: override.ForceOn,
				ExpiresAt: a.Clock.Now().Add(time.Hour),
			})
	}
	a.Put(override.LiveKey(ours), live)
	a.call("POST /overrides",
		map[string]any{"resourceUID": a.uid(0), "action": "force_on", "expiresAt": a.timeIn(time.Hour)}).Want(409,
		"500")
}

func TestOverride_IsToldOf(t *testing.T) {
	a := newFixture(t)
	team := inventorytest.Team(a.Fixture, ours, "Web", a.ids[1])
	o := apitest.Data[Override](a.call("POST /overrides",
		map[string]any{
			"resourceUID": a.uid(1), "action": "force_off", "reason": "broken",
			"expiresAt": a.timeIn(time.Hour),
		}))
	g := a.holdGroup(override.ForceOn, 2*time.Hour)
	events := apitest.Rows[event.Event](a.Fixture, event.PK(ours))
	if len(events) != 2 {
		t.Fatalf("%d events", len(events))
	}
	var said [2]evaluation.ToldOverride
	for i, e := range events {
		a.Must(json.Unmarshal(e.Data, &said[i]))
		if e.Key != event.ResourceOverride {
			t.Errorf("%+v", e)
		}
	}
	want := []event.Scope{
		{Type: "org"},
		{Type: "resource", ID: a.uid(1)},
		{Type: "cloud_account", ID: inventorytest.Account},
		{Type: "resource_group", ID: a.group.ID},
		{Type: "team", ID: team},
	}
	if !slices.Equal(events[0].Scopes(), want) || events[0].Subject != o.ID {
		t.Errorf("%+v", events[0])
	}
	if s := said[0]; s.OverrideID != o.ID || s.CreatedBy != "ada@example.com" || !s.ExpiresAt.Equal(o.ExpiresAt) ||
		s.ResourceName == "" || s.Action != override.ForceOff || s.Resources != 1 {
		t.Errorf("%+v", s)
	}
	if s := said[1]; s.OverrideID != g.ID || s.GroupName != "Shop" || s.Resources != 3 ||
		events[1].ScopeType != "resource_group" || events[1].ScopeID != a.group.ID {
		t.Errorf("%+v of %+v", s, events[1])
	}
}

func TestOverride_ThatIsRefusedIsNotToldOf(t *testing.T) {
	a := newFixture(t)
	a.call("POST /overrides",
		map[string]any{"resourceUID": "i-nothing", "action": "force_off", "expiresAt": a.timeIn(time.Hour)})
	if events := apitest.Rows[event.Event](a.Fixture, event.PK(ours)); len(events) != 0 {
		t.Errorf("%+v", events)
	}
}
