package table_test

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/tabletest"
)

// wideItem is an item of n KB in the partition pk.
func wideItem(pk, sk string, n int) table.Item {
	return table.Item{Key: table.Key{PK: pk, SK: sk}, Data: []byte(`{"a":"` + strings.Repeat("x", n*1000) + `"}`)}
}

func TestEmbedded_RefusesATransactionWhoseItemsAreTooBigTogether(t *testing.T) {
	s := tabletest.New(t)
	var puts, updates []table.Write
	for i := range 11 {
		it := wideItem("p", strconv.Itoa(i), 390)
		mustWrite(t, s, it)
		puts = append(puts, table.Put(it))
		updates = append(updates, table.Update(it.Key, []table.Change{table.Set("b", 1)}))
	}
	for name, ws := range map[string][]table.Write{
		"by what it carries":           puts,
		"by the items that it changes": updates,
	} {
		if err := s.Transact(t.Context(), ws...); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: 4.3 MB: %v, want it refused as invalid", name, err)
		}
		if err := s.Transact(t.Context(), ws[:10]...); err != nil {
			t.Errorf("%s: 3.9 MB: %v", name, err)
		}
	}
}

func TestEmbedded_CountsABatchGetOfMoreThan16MBAsSeveralTrips(t *testing.T) {
	s := tabletest.New(t)
	keys := make([]table.Key, 90)
	for i := range keys {
		it := wideItem("p", strconv.Itoa(i), 390)
		keys[i] = it.Key
		mustWrite(t, s, it)
	}
	ctx, m := table.WithMeter(t.Context())
	if _, err := s.BatchGet(ctx, keys...); err != nil || m.Usage().RoundTrips != 3 {
		t.Errorf("35 MB took %d trips, %v; want 3", m.Usage().RoundTrips, err)
	}
}

func TestMeter_CountsByPartition(t *testing.T) {
	s := tabletest.New(t)
	ctx, outer := table.WithPartitionMeter(t.Context())
	mid, m := table.WithPartitionMeter(ctx)
	a, b := smallItem("a", "1"), wideItem("b", "1", 9)
	if err := s.Transact(mid, table.Put(a), table.Put(b), table.Put(smallItem("a", "2"))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.BatchGet(mid, a.Key, b.Key); err != nil {
		t.Fatal(err)
	}
	want := map[string]table.Units{"a": {Read: 1, Write: 4}, "b": {Read: 3, Write: 18}}
	if got := m.Partitions(); !maps.Equal(got, want) || !maps.Equal(outer.Partitions(), want) {
		t.Errorf("counted %v and %v, want %v", got, outer.Partitions(), want)
	}
	if u := m.Usage(); u != (table.Usage{RoundTrips: 2, ReadUnits: 4, WriteUnits: 22}) {
		t.Errorf("in all %+v", u)
	}
}
