package organisations

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestCreate_AtMostTenOrganizationsAnHour(t *testing.T) {
	h := newFixture(t)
	for i := range 10 {
		h.newOrganisation("usr_ada", fmt.Sprint("Engines ", i))
	}
	h.createAs("usr_ada", `{"name":"Engines 3"}`).Want(http.StatusForbidden, "10 organizations within an hour")
	h.createAs("usr_eve", `{"name":"Engines 1"}`).Want(http.StatusOK)
	h.Clock.Advance(time.Hour)
	h.createAs("usr_ada", `{"name":"Engines 3"}`).Want(http.StatusConflict, "already")
	for i := range 10 { // a refused name has not counted
		h.newOrganisation("usr_ada", fmt.Sprint("More engines ", i))
	}
	h.createAs("usr_ada", `{"name":"Too many"}`).Want(http.StatusForbidden)
}

func TestCreate_TwentyAtOnceMakeTen(t *testing.T) {
	h := newFixture(t)
	var wg sync.WaitGroup
	var made atomic.Int64
	for i := range 20 {
		wg.Go(func() {
			for range 5 { // the service asks to try again when too many create at the same moment
				a := h.createAs("usr_ada", fmt.Sprintf(`{"name":"Engines %d"}`, i))
				if a.Status == http.StatusOK {
					made.Add(1)
				}
				if a.Status != http.StatusConflict {
					return
				}
			}
		})
	}
	wg.Wait()
	if n := len(h.listAs("usr_ada")); made.Load() > 10 || int64(n) != made.Load() {
		t.Errorf("%d were created, and %d are listed", made.Load(), n)
	}
	if made.Load() < 10 {
		h.newOrganisation("usr_ada", "One more")
	}
}

func TestCreate_AtMostFiftyOrganizationsInAll(t *testing.T) {
	h := newFixture(t)
	made := make([]string, 50)
	for i := range made {
		if i%10 == 0 {
			h.Clock.Advance(time.Hour)
		}
		made[i] = h.newOrganisation("usr_ada", fmt.Sprint("Engines ", i))
	}
	h.Clock.Advance(time.Hour)
	h.createAs("usr_ada", `{"name":"The 51st"}`).Want(http.StatusForbidden, "50 organizations", "delete one")

	t.Run("one that the user has left still counts", func(t *testing.T) {
		k := identity.MembershipKey("usr_ada", made[0])
		was := apitest.Read[identity.Membership](h.Fixture, k)
		h.Write(table.Delete(k))
		h.createAs("usr_ada", `{"name":"The 51st"}`).Want(http.StatusForbidden)
		h.Put(k, was)
	})
	t.Run("one that was deleted does not count", func(t *testing.T) {
		h.org, h.Workflow = made[1], nowhere{}
		h.as("owner", "DELETE /organisation?confirm=Engines+1", "").Want(http.StatusOK)
		h.newOrganisation("usr_ada", "The 51st")
		h.createAs("usr_ada", `{"name":"The 52nd"}`).Want(http.StatusForbidden)
	})
}

// Organizations of earlier versions are on no list of created ones.
func TestCreate_CountsOrganizationsOfEarlierVersions(t *testing.T) {
	h := newFixture(t)
	for i := range 50 {
		org := fmt.Sprintf("org_01k8z3v5y0e6m9x2q4t7r1c%03d", i)
		h.Put(identity.OrganisationKey(org), identity.Organisation{ID: org, Name: org, CreatedBy: "usr_ada"})
		h.Put(identity.MembershipKey("usr_ada", org), identity.Membership{Org: org})
	}
	h.createAs("usr_ada", `{"name":"Engines"}`).Want(http.StatusForbidden, "50 organizations")
}

func TestCreate_StoresHowManyOrganizationsTheUserBelongsTo(t *testing.T) {
	h := newFixture(t)
	for want := range int64(3) {
		h.newOrganisation("usr_ada", fmt.Sprint("Engines ", want))
		if u := apitest.Read[identity.User](h.Fixture, identity.UserKey("usr_ada")); u.Organisations != want+1 {
			t.Errorf("%d organizations, and stored %d", want+1, u.Organisations)
		}
	}
}

// A request that was accepted just before the account ended creates no organization without an owner.
func TestCreate_ByAnAccountThatHasEnded(t *testing.T) {
	h := newFixture(t)
	h.Write(table.Delete(identity.UserKey("usr_ada")))
	h.createAs("usr_ada", `{"name":"Engines"}`).Want(http.StatusUnauthorized)
	if all := h.listAs("usr_ada"); len(all) != 0 {
		t.Errorf("%d organizations", len(all))
	}
}
