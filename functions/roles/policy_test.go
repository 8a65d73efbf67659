package roles

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestPoliciesForEverybody(t *testing.T) {
	s := newFixture(t)
	s.addMember("nil")
	got := apitest.Data[[]grant.Policy](s.as("nil", "GET /policies"))
	if !slices.Equal(got, grant.Policies()) {
		t.Errorf("%d policies", len(got))
	}
}

func TestPermissions(t *testing.T) {
	s := newFixture(t)
	team, res := s.teams[ours], s.resources[ours]
	s.addMember("pat")
	r := s.newRole("Mixed", "budgets:*", "actions:read")
	s.assignRole("pat", r.ID, "team:"+team)
	s.assignRole("pat", r.ID, "resource:"+res)
	s.assignRole("pat", grant.Operator, "team:"+team)
	wide := s.newRole("Wide", "actions:read")
	want := []HeldPermission{
		{"actions:read", "org", ours},
		{"actions:execute", "team", team},
		{"budgets:read", "team", team},
		{"budgets:read", "resource", res},
	}
	s.assignRole("pat", wide.ID, "org")
	got := apitest.Data[[]HeldPermission](s.as("pat", "GET /permissions"))
	got = slices.DeleteFunc(got, func(p HeldPermission) bool {
		return !strings.HasPrefix(p.Policy, "actions") && !strings.HasPrefix(p.Policy, "budgets")
	})
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	owner := apitest.Data[[]HeldPermission](s.as("olga", "GET /permissions"))
	if len(owner) != len(grant.Policies()) || strings.Contains(apitest.JSON(owner), "*") ||
		owner[2] != (HeldPermission{"organisation:delete", "org", ours}) {
		t.Errorf("an owner: %+v", owner)
	}
	s.addMember("nil")
	if r := s.as("nil", "GET /permissions"); strings.TrimSpace(r.Body) != `{"data":[]}` {
		t.Errorf("nobody: %s", r.Body)
	}
}

func TestPermissions_OfAMemberAreForThoseWhoMayReadRoles(t *testing.T) {
	s := newFixture(t)
	s.addMember("pat")
	s.addMember("nil")
	s.assignRole("pat", s.newRole("Looker", "actions:read").ID, "team:"+s.teams[ours])
	own := apitest.Data[[]HeldPermission](s.as("pat", "GET /permissions"))
	got := apitest.Data[[]HeldPermission](s.as("olga", "GET /permissions?email="+apitest.Email("pat")))
	if !slices.Equal(got, own) || len(got) == 0 {
		t.Errorf("an owner sees %v; pat has %v", got, own)
	}
	s.as("pat", "GET /permissions?email="+apitest.Email("nil")).Want(http.StatusForbidden, "roles:read")
	s.as("olga", "GET /permissions?email=nobody@example.com").Want(http.StatusOK, `{"data":[]}`)
}

// row 18 of issue 21: a grant on a team or a resource lists only what it permits there.
func TestPermissions_ListOnlyWhatWorksInTheScope(t *testing.T) {
	s := newFixture(t)
	team, res := s.teams[ours], s.resources[ours]
	s.addMember("pat")
	s.assignRole("pat", grant.Owner, "team:"+team)
	s.assignRole("pat", grant.Owner, "resource:"+res)
	got := apitest.Data[[]HeldPermission](s.as("pat", "GET /permissions"))
	if len(got) < 20 {
		t.Fatalf("only %+v", got)
	}
	for _, p := range got {
		if !grant.WorksOn(p.Policy, p.ScopeType) {
			t.Errorf("listed %+v", p)
		}
	}
	for _, p := range []HeldPermission{
		{"users:read", "team", team},
		{"teams:read", "resource", res},
		{"teams:write", "team", team},
		{"cloud-accounts:read", "resource", res},
		{"schedules:write", "team", team},
	} {
		if slices.Contains(got, p) {
			t.Errorf("listed %+v", p)
		}
	}
	for _, p := range []HeldPermission{
		{"teams:read", "team", team}, {"actions:execute", "resource", res}, {"resources:read", "team", team},
	} {
		if !slices.Contains(got, p) {
			t.Errorf("not listed %+v", p)
		}
	}
}
