package roles

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
)

// recorded are the rows of our organization's audit log, the oldest first.
func (s *stage) recorded() []audit.Row {
	s.t.Helper()
	pk := audit.PlaceOf(ours).PK
	low, high := audit.Everything()
	page, err := s.p.Table.Query(table.Within(s.t.Context(), pk), table.Query{PK: pk, From: low, To: high, Limit: 100})
	s.must(err)
	rows, err := table.DecodeAll[audit.Row](page.Items)
	s.must(err)
	return rows
}

// Whatever is changed about permissions is on record as it was and as it became, and what was refused as refused.
func TestChangesOfPermissionsAreOnRecord(t *testing.T) {
	s := newStage(t)
	s.member("lou")
	s.member("adam", grant.Admin)
	r := s.role("Looker", "actions:read")
	s.as("olga", "PUT /roles/"+r.ID+` {"policies":["budgets:read"]}`).says(200)
	a := s.assigned("lou", r.ID, grant.OrgScope)
	s.as("adam", assigning("lou", grant.Owner, grant.OrgScope)).says(403)
	s.as("olga", "DELETE /assignments/"+a.ID).says(200)
	s.as("olga", "DELETE /roles/"+r.ID).says(200)
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
	got := s.recorded()
	if len(got) != len(want) {
		t.Fatalf("%d rows: %+v", len(got), got)
	}
	for i, w := range want {
		row, before, after := got[i], text(got[i].Changes.Before), text(got[i].Changes.After)
		if row.Actor != w.actor+"@example.com" || row.Action != w.action || row.Status != w.status || w.target != "" && row.Target != w.target ||
			!told(before, w.before) || !told(after, w.after) {
			t.Errorf("%+v\nfrom %s to %s\nwant %+v", row, before, after, w)
		}
	}
}

// told tells whether a side of a change says what it should.
func told(side, want string) bool {
	if want == "" {
		return side == "null"
	}
	return strings.Contains(side, want)
}
