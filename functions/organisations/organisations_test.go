package organisations

import (
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestTheCreatorOwnsTheOrganization(t *testing.T) {
	h := newFixture(t)
	if all := h.listAs("usr_ada"); all == nil || len(all) != 0 {
		t.Errorf("before: %+v", all)
	}
	got := h.createAs("usr_ada", `{"name":" Engines ","id":"org_mine","createdBy":"usr_eve"}`)
	o := apitest.Data[identity.Organisation](got)
	if !id.IsValid("org", o.ID) || o.Name != "Engines" || o.CreatedBy != "usr_ada" ||
		!o.CreatedAt.Equal(apitest.Start) || !o.UpdatedAt.Equal(o.CreatedAt) {
		t.Errorf("created %+v", o)
	}
	if fields := apitest.Data[map[string]any](got); len(fields) != 5 {
		t.Errorf("record %s", got.Body)
	}
	m := apitest.Read[identity.Member](h.Fixture, identity.MemberKey(o.ID, "usr_ada"))
	owner := identity.Caller{Org: o.ID, User: "usr_ada", Grants: grant.ResolveGrants(m.Grants)}
	if !identity.Allows(owner, "organisation:delete") {
		t.Errorf("grants %+v", m.Grants)
	}
	h.Clock.Advance(time.Second)
	h.createAs("usr_ada", `{"name":"Looms"}`)
	if all := h.listAs("usr_ada"); len(all) != 2 || all[0] != o || all[1].Name != "Looms" {
		t.Errorf("list %+v", all)
	}
	if all := h.listAs("usr_eve"); len(all) != 0 {
		t.Errorf("somebody else sees %+v", all)
	}
}

func TestNamesOfOrganizations(t *testing.T) {
	h := newFixture(t)
	for _, c := range []struct {
		name, user, body string
		status           int
	}{
		{"the first", "usr_ada", `{"name":"Engines"}`, 200},
		{"again", "usr_ada", `{"name":"Engines"}`, 409},
		{"in other case", "usr_ada", `{"name":" ENGINES"}`, 409},
		{"of somebody else", "usr_eve", `{"name":"Engines"}`, 200},
		{"empty", "usr_ada", `{"name":""}`, 400},
		{"only blanks", "usr_ada", `{"name":"   "}`, 400},
		{"none", "usr_ada", `{}`, 400},
		{"too long", "usr_ada", `{"name":"` + strings.Repeat("x", 101) + `"}`, 400},
		{"with a newline", "usr_ada", `{"name":"a\nb"}`, 400},
		{"not a string", "usr_ada", `{"name":7}`, 400},
		{"of nobody", "", `{"name":"Engines"}`, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := h.createAs(c.user, c.body); got.Status != c.status {
				t.Errorf("status %d: %s", got.Status, got.Body)
			}
		})
	}
}

func TestCreatingTheSameAtOnceMakesOne(t *testing.T) {
	h := newFixture(t)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { h.createAs("usr_ada", `{"name":"Engines"}`) })
	}
	wg.Wait()
	if all := h.listAs("usr_ada"); len(all) != 1 {
		t.Errorf("%d organizations", len(all))
	}
}
