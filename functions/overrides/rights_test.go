package overrides

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// operator makes tim an operator of a team that owns the members of the group, and of nothing else.
func (a *fixture) operator() identity.Caller {
	a.Helper()
	team := inventorytest.Team(a.Fixture, ours, "Shop", a.ids[:3]...)
	a.Must(a.People.JoinOrganisation(a.Context(), ours, a.User("tim"), apitest.Grants("operator team:"+team)))
	return a.Authorized(ours, "tim")
}

// growGroup puts the instance of number 3, which tim may not act on, into the group.
func (a *fixture) growGroup() {
	a.Helper()
	var places []inventory.GroupPlacement
	for _, id := range a.ids[:4] {
		places = append(places, inventory.GroupPlacement{ResourceID: id, Tier: 1, Order: 1})
	}
	a.group = apitest.Value(inventory.New(a.Platform).UpdateGroup(a.In(ours), ours, a.group,
		inventory.Grouping{Group: a.group, Places: places}))(a)
}

// countHeld returns how many of the instances live overrides hold now.
func (a *fixture) countHeld() int {
	a.Helper()
	live := apitest.Value(override.ReadLive(a.In(ours), a.Table, ours))(a)
	return len(apitest.Value(live.Holding(a.In(ours), inventory.New(a.Platform), ours, a.Clock.Now()))(a))
}

// stopped returns how many resources the bulk actions since the first n were asked to act on.
func (a *fixture) askedSince(n int) int {
	a.Helper()
	total := 0
	for _, b := range a.listBulks()[n:] {
		total += b.Total
	}
	return total
}

func groupOverride(a *fixture, action string) map[string]any {
	return map[string]any{"groupID": a.group.ID, "action": action, "expiresAt": a.timeIn(time.Hour)}
}

func TestOverride_OfAScopedMakerReachesNothingThatJoinsTheGroup(t *testing.T) {
	a := newFixture(t)
	tim := a.operator()
	a.newSchedule()
	o := apitest.Data[Override](a.Call(tim, "POST /overrides", groupOverride(a, "force_off")))
	a.Equal("held at first", a.countHeld(), 3)
	a.growGroup()
	a.Equal("held when the group has grown", a.countHeld(), 3)
	before := len(a.listBulks())
	apitest.Value(evaluation.New(a.Platform).EndOverride(a.In(ours), ours, o.ID, ""))(t)
	a.Equal("restored", a.askedSince(before), 3)
}

func TestOverride_HoldsNothingAfterItsMakerHasLeftAndRestoresAtItsEnd(t *testing.T) {
	a := newFixture(t)
	tim := a.operator()
	a.newSchedule()
	o := apitest.Data[Override](a.Call(tim, "POST /overrides", groupOverride(a, "force_off")))
	a.Must(a.People.RemoveMember(a.Context(), ours, a.Member(ours, "tim")))
	a.Equal("held", a.countHeld(), 0)
	before := len(a.listBulks())
	apitest.Value(evaluation.New(a.Platform).EndOverride(a.In(ours), ours, o.ID, ""))(t)
	a.Equal("restored", a.askedSince(before), 3)
}

func TestOverride_ItsMakerListsAndEndsItAfterTheGroupHasGrown(t *testing.T) {
	a := newFixture(t)
	tim := a.operator()
	o := apitest.Data[Override](a.Call(tim, "POST /overrides", groupOverride(a, "force_on")))
	other := a.holdGroup(override.ForceOn, time.Hour)
	a.growGroup()
	if l := apitest.Data[rest.List[Override]](a.Call(tim, "GET /overrides")); l.Total != 2 {
		t.Errorf("%+v", l)
	}
	a.Call(tim, "DELETE /overrides/"+other.ID).Want(403, "every resource")
	a.Call(tim, "DELETE /overrides/"+o.ID).Want(200)
}

func TestWake_StartsOnlyWhatItsMakerMayActOn(t *testing.T) {
	a := newFixture(t)
	tim := a.operator()
	l := apitest.Data[NewLink](a.Call(tim, "POST /resource-groups/"+a.group.ID+"/wake-links", "{}"))
	_, token, _ := strings.Cut(l.URL, "/wake/")
	a.growGroup()
	a.visitPage("GET /wake/"+token).Want(200, "3 resources")
	a.visitPage("POST /wake/"+token).Want(200, "Starting")
	b := a.listBulks()
	if len(b) != 1 || b[0].Total != 3 {
		t.Errorf("%+v", b)
	}
	o := apitest.Data[rest.List[Override]](a.Call(tim, "GET /overrides"))
	if o.Total != 1 {
		t.Fatalf("its maker sees %d overrides", o.Total)
	}
	a.Call(tim, "DELETE /overrides/"+o.Items[0].ID).Want(200)
	a.Equal("asked to stop at the end", a.askedSince(1), 3)
}

func TestWake_EndsWithTheRightsOfItsMaker(t *testing.T) {
	for name, lose := range map[string]func(*fixture){
		"removed": func(a *fixture) { a.Must(a.People.RemoveMember(a.Context(), ours, a.Member(ours, "tim"))) },
		"demoted": func(a *fixture) {
			a.Must(a.People.ReplaceGrants(a.Context(), ours, a.Member(ours, "tim"), apitest.Roles("viewer")))
		},
		"narrowed": func(a *fixture) {
			a.Must(a.People.ReplaceGrants(a.Context(), ours, a.Member(ours, "tim"),
				apitest.Grants("operator resource:"+a.ids[5])))
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			tim := a.operator()
			l := apitest.Data[NewLink](a.Call(tim, "POST /resource-groups/"+a.group.ID+"/wake-links", "{}"))
			_, token, _ := strings.Cut(l.URL, "/wake/")
			a.visitPage("GET /wake/" + token).Want(200)
			lose(a)
			a.visitPage("GET /wake/"+token).Want(404, "does not work")
			a.visitPage("POST /wake/"+token).Want(404, "does not work")
			a.Equal("bulk actions", len(a.listBulks()), 0)
			all := apitest.Data[rest.List[WakeLink]](a.call("GET /wake-links"))
			if all.Total != 1 || all.Items[0].EndedReason == nil ||
				!strings.Contains(*all.Items[0].EndedReason, "tim@") {
				t.Errorf("%+v", all)
			}
		})
	}
}

func TestWake_ALinkWhoseMakerKeepsAPartOfTheGroupHasNotEnded(t *testing.T) {
	a := newFixture(t)
	tim := a.operator()
	a.Call(tim, "POST /resource-groups/"+a.group.ID+"/wake-links", "{}").Want(200)
	a.Must(a.People.ReplaceGrants(a.Context(), ours, a.Member(ours, "tim"),
		apitest.Grants("operator resource:"+a.ids[0])))
	a.call("GET /wake-links").Want(200, `"endedReason":null`)
}

// A link of before links named their makers has only an address.
func TestWake_AnOlderLinkEndsWithItsMakerToo(t *testing.T) {
	a := newFixture(t)
	l, page := a.newLink(nil)
	row := apitest.Read[link](a.Fixture, override.WakeLinkKey(ours, l.ID))
	row.Maker = ""
	a.Put(override.WakeLinkKey(ours, l.ID), row)
	a.visitPage("GET " + page).Want(200)
	a.call("GET /wake-links").Want(200, `"endedReason":null`)
	a.Join(ours, "bob", "owner")
	a.Must(a.People.RemoveMember(a.Context(), ours, a.Member(ours, "ada")))
	a.visitPage("GET " + page).Want(404)
	a.call("GET /wake-links").Want(200, "is no active member")
}

func TestWake_ItsMakerListsAndRevokesIt(t *testing.T) {
	a := newFixture(t)
	tim := a.operator()
	own := apitest.Data[NewLink](a.Call(tim, "POST /resource-groups/"+a.group.ID+"/wake-links", "{}"))
	a.growGroup()
	other, _ := a.newLink(nil)
	elsewhere := apitest.Data[NewLink](a.call("POST /resources/"+a.ids[5]+"/wake-links", "{}"))
	if l := apitest.Data[rest.List[WakeLink]](a.Call(tim, "GET /wake-links")); l.Total != 2 {
		t.Errorf("tim sees %+v, want his own and that on the group", l)
	}
	a.Call(tim, "DELETE /wake-links/"+other.ID).Want(403, "every resource")
	a.Call(tim, "DELETE /wake-links/"+elsewhere.ID).Want(404)
	a.Call(tim, "DELETE /wake-links/"+own.ID).Want(200)
}
