package tabletest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/seed"
)

// testMerge compares the merge of a spread partition with the same items in one partition, for every range, order,
// skip and page size.
func testMerge(t *testing.T, s table.Store) {
	t.Helper()
	r, whole := seed.Random(t), "whole"
	spread := table.Spread{PK: "part", Shards: 4}
	var ws []table.Write
	for i := range 600 {
		sk := fmt.Sprintf("%04d-%x", i, r.Uint32())
		for _, k := range []table.Key{newKey(whole, sk), spread.Key(sk)} {
			it := newItem(k, `{"v":1}`)
			if i%10 == 3 {
				it.Expires = past()
			}
			ws = append(ws, table.Put(it))
		}
	}
	if err := s.BatchWrite(t.Context(), ws...); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		q := table.Query{Reverse: r.IntN(2) == 0}
		if r.IntN(3) == 0 {
			q.From, q.To = fmt.Sprintf("%04d", r.IntN(300)), fmt.Sprintf("%04d", 300+r.IntN(300))
		}
		if r.IntN(3) > 0 {
			q.Skip = r.IntN(650)
		}
		sameItems(t, s, q, mergePages{spread, r})
	}
}

// mergePages are the pages of random sizes of a spread partition.
type mergePages struct {
	spread table.Spread
	sizes  *rand.Rand
}

// sameItems requires that q returns the same items from the partition whole and from the spread, with any page size.
func sameItems(t *testing.T, s table.Store, q table.Query, pages mergePages) {
	t.Helper()
	all := q
	all.PK, all.Limit = "whole", 1000
	page, err := s.Query(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, it := range page.Items {
		want = append(want, it.SK)
	}
	m := table.NewMerge(s, q, pages.spread.PKs()...)
	for {
		n := 1 + pages.sizes.IntN(150)
		items, err := m.Next(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			got = append(got, it.SK)
		}
		if len(items) < n {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("merged, %+v gives %d items, want %d:\n%q\n%q", q, len(got), len(want), got, want)
	}
}
