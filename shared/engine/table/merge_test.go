package table_test

import (
	"errors"
	"fmt"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

// spreadOut returns a store with n items of about 1 kB in a spread partition.
func spreadOut(t *testing.T, n, shards int) (table.Store, table.Spread) {
	t.Helper()
	s, spread := tabletest.New(t), table.Spread{PK: "P", Shards: shards}
	ws := make([]table.Write, n)
	for i := range ws {
		it, err := table.NewItem(spread.Key(fmt.Sprintf("%06d", i)), map[string]string{"pad": fmt.Sprintf("%0900d", i)})
		if err != nil {
			t.Fatal(err)
		}
		ws[i] = table.Put(it)
	}
	if err := s.BatchWrite(t.Context(), ws...); err != nil {
		t.Fatal(err)
	}
	return s, spread
}

func TestMerge_CostsLittleMoreThanOnePartition(t *testing.T) {
	s, spread := spreadOut(t, 8000, 4)
	for _, c := range []struct {
		skip, trips int
		units       float64
	}{
		{0, 4, 16},          // one partition: 5
		{100, 8, 60},        // 30
		{7000, 12, 2100},    // 1,800
		{100_000, 16, 4200}, // after the end: all items are counted, and read once more to be sure
	} {
		ctx, meter := table.WithMeter(t.Context())
		items, err := table.NewMerge(s, table.Query{Skip: c.skip, Reverse: true}, spread.PKs()...).Next(ctx, 20)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%06d", 7999-c.skip)
		if c.skip < 8000 && (len(items) != 20 || items[0].SK != want) || c.skip >= 8000 && len(items) != 0 {
			t.Errorf("behind %d: %d items", c.skip, len(items))
		}
		if u := meter.Usage(); u.RoundTrips > c.trips || u.ReadUnits > c.units {
			t.Errorf("behind %d: %+v, want at most %d trips and %.0f units", c.skip, u, c.trips, c.units)
		}
	}
}

// TestMerge_OfUnevenPartitions has nearly all items in one of four partitions, so the partitions skip too many items
// themselves.
func TestMerge_OfUnevenPartitions(t *testing.T) {
	s := tabletest.New(t)
	for i := range 1000 {
		pk := "a"
		if i < 3 || i > 996 {
			pk = string(rune('b' + i%3))
		}
		it, err := table.NewItem(table.Key{PK: pk, SK: fmt.Sprintf("%04d", i)}, struct{}{})
		if err == nil {
			_, err = s.Write(t.Context(), table.Put(it))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for skip := range 999 {
		items, err := table.NewMerge(s, table.Query{Skip: skip}, "a", "b", "c", "d").Next(t.Context(), 1)
		if want := fmt.Sprintf("%04d", skip); err != nil || len(items) != 1 || items[0].SK != want {
			t.Fatalf("behind %d comes %v, want %s: %v", skip, items, want, err)
		}
	}
}

func TestMerge_FailsWhenAPartitionCannotBeRead(t *testing.T) {
	s, spread := spreadOut(t, 40, 4)
	f := table.NewFaultyStore(s, clock.System{},
		table.Injection{Harm: table.FailBefore, Method: table.QueryMethod, PK: "P#02"})
	if items, err := table.NewMerge(f, table.Query{}, spread.PKs()...).Next(t.Context(), 5); !errors.Is(err,
		table.ErrDown) {
		t.Errorf("%d items, %v", len(items), err)
	}
}

func TestSpread_FillsEveryPartitionAlike(t *testing.T) {
	for _, name := range []string{"act_01k%022d", "arn:aws:ec2:eu-west-1:123456789012:instance/i-%017x", "%d"} {
		n := map[string]int{}
		spread := table.Spread{PK: "P", Shards: 16}
		for i := range 16_000 {
			n[spread.Key(fmt.Sprintf(name, i)).PK]++
		}
		for _, pk := range spread.PKs() {
			if n[pk] < 850 || n[pk] > 1150 {
				t.Errorf("%s: %d of 16,000 are in %s", name, n[pk], pk)
			}
		}
	}
}
