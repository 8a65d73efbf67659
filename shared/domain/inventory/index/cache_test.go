package index

import (
	"maps"
	"slices"
	"testing"
)

func TestTheCacheLetsGoOfWhatWasNotUsed(t *testing.T) {
	c := newCache(10)
	fill := func(org string, bytes int) { c.count(c.cachedIndex(org), bytes) }
	fill("a", 4)
	fill("b", 4)
	fill("a", 4)
	fill("c", 5)
	if c.orgs["a"] == nil || c.orgs["b"] != nil || c.orgs["c"] == nil {
		t.Errorf("kept %v, want a and c", slices.Sorted(maps.Keys(c.orgs)))
	}
	fill("d", 50)
	if len(c.orgs) != 1 {
		t.Errorf("%d are kept beside one that is larger than the bound", len(c.orgs)-1)
	}
}
