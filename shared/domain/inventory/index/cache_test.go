package index

import (
	"context"
	"maps"
	"slices"
	"testing"

	"lamplighter.dev/shared/engine/table"
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

// TestOthersLeaveBeforeALargeIndexIsRead checks the cache when the chunks of a second organization are read.
func TestOthersLeaveBeforeALargeIndexIsRead(t *testing.T) {
	f := newFixture(t)
	for _, org := range []string{"org_1", "org_2"} {
		f.ctx = table.WithOrg(f.ctx, org)
		g := NewSegment()
		for n := range 2000 {
			g.Rows = append(g.Rows, newSampleRow(g, largeSample(n)))
		}
		f.check(f.store.Note(f.ctx, org, g))
		f.check(f.store.Fold(f.ctx, org))
	}
	watched := &watchedStore{Store: f.table}
	s := NewStore(watched, f.clock)
	s.cache.max = 1000 * rowBytes
	for _, org := range []string{"org_1", "org_2"} {
		watched.beforeBatchGet = func() {
			if len(s.cache.orgs) != 1 || s.cache.orgs[org] == nil {
				t.Errorf("%v are kept while the chunks of %s are read", slices.Sorted(maps.Keys(s.cache.orgs)), org)
			}
		}
		v, err := s.Open(table.WithOrg(f.ctx, org), org)
		f.check(err)
		if _, ok := v.State.RowByUID(largeSample(1999).uid); !ok {
			t.Error("the organization in use has not all of its rows")
		}
	}
}

// watchedStore calls back before it reads chunks.
type watchedStore struct {
	table.Store
	beforeBatchGet func()
}

// BatchGet reads chunks.
func (w *watchedStore) BatchGet(ctx context.Context, keys ...table.Key) (map[table.Key]table.Item, error) {
	w.beforeBatchGet()
	return w.Store.BatchGet(ctx, keys...)
}
