package tabletest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// outbox is a partition whose puts the feed delivers.
const outbox = "ORG#o1#EVENTS"

// followed is the number of entries of one read.
const followed = 5

// followFeed reads the feed after the cursor until it has n items. It waits for them, because streams are delayed.
func followFeed(t *testing.T, s table.Store, cursor string, n int) ([]table.Item, string) {
	t.Helper()
	var got []table.Item
	for deadline := time.Now().Add(20 * time.Second); len(got) < n; {
		f, err := s.Feed(t.Context(), cursor, followed)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Items) > followed {
			t.Errorf("the feed gave %d items, %d were asked for", len(f.Items), followed)
		}
		got, cursor = append(got, f.Items...), f.Next
		if len(f.Items) > 0 {
			continue
		}
		if time.Now().After(deadline) {
			t.Fatalf("the feed has given %d of %d items", len(got), n)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return got, cursor
}

// sortKeys returns the sort keys of items.
func sortKeys(items []table.Item) []string {
	sks := make([]string, len(items))
	for i, it := range items {
		sks[i] = it.SK
	}
	return sks
}

func testFeed(t *testing.T, s table.Store) {
	t.Helper()
	var want []string
	for i := range 12 {
		k := newKey(outbox, fmt.Sprintf("%02d", 99-i)) // the feed is ordered by time, not by key
		want = append(want, k.SK)
		writeItems(t, s, newItem(newKey("ORG#o1#ACT", k.SK), `{}`))
		err := s.Transact(t.Context(), table.Put(newItem(k, `{"i":1}`), table.Absent()),
			table.Put(newItem(newKey("ORG#o1#RES", k.SK), `{}`)))
		if err != nil {
			t.Fatal(err)
		}
	}
	got, cursor := followFeed(t, s, "", len(want))
	if !slices.Equal(sortKeys(got), want) {
		t.Errorf("the feed gave %q, want %q", sortKeys(got), want)
	}
	if f, err := s.Feed(t.Context(), cursor, 5); err != nil || len(f.Items) > 0 {
		t.Errorf("after the end the feed gave %d items, %v", len(f.Items), err)
	}
	err := s.BatchWrite(t.Context(), table.Put(newItem(newKey(outbox, "new"), `{}`)),
		table.Delete(newKey(outbox, "99")))
	if err != nil {
		t.Fatal(err)
	}
	got, _ = followFeed(t, s, cursor, 1)
	if !slices.Equal(sortKeys(got), []string{"new"}) {
		t.Errorf("after the resume the feed gave %q, want only the new item", sortKeys(got))
	}
	again, _ := followFeed(t, s, "", 13)
	if !slices.Equal(sortKeys(again), append(want, "new")) {
		t.Errorf("from the start the feed gave %q", sortKeys(again))
	}
}

func feedItems(t *testing.T, s table.Store) {
	t.Helper()
	k, end := newKey(outbox, "evt\x00\u00e9"), future().Truncate(time.Second)
	writeItems(t, s, expiringItem(k, `{"n":12345678901234567890.5,"pk":"mine","t":[true,null]}`, end))
	writeItems(t, s, expiringItem(k, `{"second":1}`, end))
	got, _ := followFeed(t, s, "", 2)
	if got[0].Key != k || !sameJSON(got[0].Data, []byte(`{"n":12345678901234567890.5,"pk":"mine","t":[true,null]}`)) ||
		!got[0].Expires.Equal(end) {
		t.Errorf("the first entry is %+v %s", got[0].Key, got[0].Data)
	}
	if !sameJSON(got[1].Data, []byte(`{"second":1}`)) {
		t.Errorf("the second entry is %s", got[1].Data)
	}
}
