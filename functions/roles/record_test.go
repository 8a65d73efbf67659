package roles

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/testkit/apitest"
)

// Each change of permissions is recorded with its state before and after, and each refused change as refused.
func TestChangesOfPermissionsAreOnRecord(t *testing.T) {
	s := newFixture(t)
	s.addMember("lou")
	s.addMember("adam", grant.Admin)
	r := s.newRole("Looker", "actions:read")
	s.as("olga", "PUT /roles/"+r.ID+` {"policies":["budgets:read"]}`).Want(200)
	a := s.assignRole("lou", r.ID, grant.OrgScope)
	s.as("adam", assignRequest("lou", grant.Owner, grant.OrgScope)).Want(403)
	s.as("olga", "DELETE /assignments/"+a.ID).Want(200)
	s.as("olga", "DELETE /roles/"+r.ID).Want(200)
	want := []struct {
		actor, action string
		status        int
		target        string
		before, after string // the expected sides; "" for an absent one
	}{
		{"olga", "createRole", 200, r.ID, "", "actions:read"},
		{"olga", "updateRole", 200, r.ID, "actions:read", "budgets:read"},
		{"olga", "createAssignment", 200, a.ID, "", "lou@example.com"},
		{"adam", "createAssignment", 403, "", "", ""},
		{"olga", "deleteAssignment", 200, a.ID, r.ID, ""},
		{"olga", "deleteRole", 200, r.ID, "budgets:read", ""},
	}
	got := s.Audited(ours)
	if len(got) != len(want) {
		t.Fatalf("%d rows: %+v", len(got), got)
	}
	for i, w := range want {
		row, before, after := got[i], apitest.JSON(got[i].Changes.Before), apitest.JSON(got[i].Changes.After)
		if row.Actor != w.actor+"@example.com" || row.Action != w.action || row.Status != w.status || w.target != "" &&
			row.Target != w.target ||
			!matchesSide(before, w.before) || !matchesSide(after, w.after) {
			t.Errorf("%+v\nfrom %s to %s\nwant %+v", row, before, after, w)
		}
	}
}

// matchesSide reports whether a side of a change has the expected content.
func matchesSide(side, want string) bool {
	if want == "" {
		return side == "null"
	}
	return strings.Contains(side, want)
}
