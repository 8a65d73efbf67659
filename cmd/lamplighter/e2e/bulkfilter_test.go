package e2e

import (
	"encoding/json"
	"slices"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/functions"
)

// TestABulkActionTakesTheFiltersOfTheList compares the filter of POST /actions/bulk with the query of GET /resources.
func TestABulkActionTakesTheFiltersOfTheList(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(functions.Describe(testenv.Start(t, testenv.Setup{}).Platform).JSON(), &doc); err != nil {
		t.Fatal(err)
	}
	var query, filter []string
	for _, p := range doc.Paths["/resources"]["get"].Parameters {
		if p.In == "query" && !slices.Contains([]string{"page", "limit", "sort_by", "sort_order"}, p.Name) {
			query = append(query, p.Name)
		}
	}
	for name := range doc.Components.Schemas["BulkFilter"].Properties {
		filter = append(filter, name)
	}
	slices.Sort(query)
	slices.Sort(filter)
	if len(query) < 10 || !slices.Equal(query, filter) {
		t.Errorf("GET /resources filters by %v, POST /actions/bulk by %v", query, filter)
	}
}
