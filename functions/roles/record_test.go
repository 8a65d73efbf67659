package roles

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/testkit/apitest"
)

// Whatever is changed about permissions is on record as it was and as it became, and what was refused as refused.
func TestChangesOfPermissionsAreOnRecord(t *testing.T) {
	s := newFixture(t)
	s.member("lou")
	s.member("adam", grant.Admin)
	r := s.role("Looker", "actions:read")
	s.as("olga", "PUT /roles/"+r.ID+` {"policies":["budgets:read"]}`).Want(200)
	a := s.assigned("lou", r.ID, grant.OrgScope)
	s.as("adam", assigning("lou", grant.Owner, grant.OrgScope)).Want(403)
	s.as("olga", "DELETE /assignments/"+a.ID).Want(200)
	s.as("olga", "DELETE /roles/"+r.ID).Want(200)
	want := []struct {
		actor, action string
		status        int
		target        string
		before, after string // what the sides say; "" is that there is none
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
			!told(before, w.before) || !told(after, w.after) {
			t.Errorf("%+v\nfrom %s to %s\nwant %+v", row, before, after, w)
		}
	}
}

// told reports whether a side of a change says what it should.
func told(side, want string) bool {
	if want == "" {
		return side == "null"
	}
	return strings.Contains(side, want)
}
