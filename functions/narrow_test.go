package functions_test

import (
	"testing"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
)

// GET /permissions lists a policy on a team or a resource only if an operation accepts such a grant.
func TestWorksOn_IsTrueForThePoliciesOfScopedOperations(t *testing.T) {
	scoped := map[string]string{}
	for _, f := range functions.All() {
		for _, g := range f.Operations(&platform.Platform{}) {
			for _, op := range g.Ops() {
				if op.Scoped {
					scoped[op.Policy] = op.ID
				}
			}
		}
	}
	if len(scoped) < 10 {
		t.Fatalf("only %d policies with scoped operations", len(scoped))
	}
	for _, p := range grant.Policies() {
		if !grant.WorksOn(p.ID, grant.OrgScope) {
			t.Errorf("%s does not work on the organization", p.ID)
		}
		if works := grant.WorksOn(p.ID, "team"); works != (scoped[p.ID] != "") {
			t.Errorf("%s works on a team: %v; scoped operation: %q", p.ID, works, scoped[p.ID])
		}
		if works := grant.WorksOn(p.ID, "resource"); works != (scoped[p.ID] != "" && p.ID != "teams:read") {
			t.Errorf("%s works on a resource: %v; scoped operation: %q", p.ID, works, scoped[p.ID])
		}
	}
	if grant.WorksOn("nonsense", grant.OrgScope) || grant.WorksOn("*:*", "team") {
		t.Error("something that is no policy works")
	}
}
