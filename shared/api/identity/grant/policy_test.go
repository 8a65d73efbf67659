package grant_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity/grant"
)

var update = flag.Bool("update", false, "write testdata anew")

func TestTheCatalogueOfPolicies(t *testing.T) {
	resources := strings.Fields(`organisation users teams roles audit-logs cloud-accounts resources schedules calendars
		resource-groups overrides actions reports showback budgets billing recommendations remediation smart-tags
		autoscaler-policies event-readiness dashboards notifications spaces provisioning projects deployments builds
		integrations webhooks`)
	seen := map[string]bool{}
	for _, p := range grant.Policies() {
		resource, action, _ := strings.Cut(p.ID, ":")
		if seen[p.ID] || p.Description == "" || !slices.Contains(resources, resource) {
			t.Errorf("policy %+v", p)
		}
		if !slices.Contains([]string{"read", "write", "execute", "create"}, action) && p.ID != "organisation:delete" {
			t.Errorf("action of %s", p.ID)
		}
		seen[p.ID] = true
	}
	for _, r := range resources {
		if !seen[r+":read"] {
			t.Errorf("%s:read is missing", r)
		}
	}
	for _, id := range []string{
		"actions:execute", "remediation:execute", "deployments:execute", "provisioning:create",
		"schedules:write",
	} {
		if !grant.IsPolicy(id) {
			t.Errorf("%s is missing", id)
		}
	}
}

// The authorizer and the functions identify policies by index and are not deployed at the same moment: existing
// policies keep their index, and new ones come last. -update accepts them.
func TestTheCatalogueOnlyGrows(t *testing.T) {
	const file = "testdata/catalogue.txt"
	var ids []string
	for _, p := range grant.Policies() {
		ids = append(ids, p.ID)
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(ids, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.Fields(string(b))
	if len(ids) < len(kept) || !slices.Equal(ids[:len(kept)], kept) {
		t.Errorf("the first %d policies are no longer those of %s", len(kept), file)
	}
	if len(ids) > len(kept) {
		t.Errorf("%v are not in %s: go test ./shared/api/identity/grant -run Catalogue -update", ids[len(kept):], file)
	}
	if len(ids) > 128 {
		t.Errorf("%d policies are more than a set has room for", len(ids))
	}
}
