package index_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/indextest"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/tabletest"
)

// The limits of a cold load: the read units that it may take from any one key, and the number of loads at the same
// time.
const (
	maxColdUnits = 100
	coldLoads    = 16
)

var dynamoLimits = table.Limits{ReadUnits: 3000, WriteUnits: 1000, Hold: 20 * time.Millisecond}

// TestColdLoadsOfAHugeIndexThrottleNobody loads an index of half a million resources by sixteen processes within one
// second of virtual time, with as many pending changes as a worker leaves.
func TestColdLoadsOfAHugeIndexThrottleNobody(t *testing.T) {
	race.SkipSequential(t)
	if testing.Short() {
		t.Skip("SKIPPED: -short: no huge index was read")
	}
	stored := tabletest.NewUnlimited(t)
	indextest.Fill(t, stored, org(0), 500_000)
	indextest.NoteUntilDue(t, stored, org(0))
	synctest.Test(t, func(t *testing.T) {
		limited := table.NewLimitedStore(stored, clock.System{}, dynamoLimits)
		ctx, meter := table.WithPartitionMeter(table.WithOrg(context.Background(), org(0)))
		began, calls := time.Now(), &recorder{Store: limited}
		v, err := index.NewStore(calls, clock.System{}).Open(ctx, org(0))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := v.State.RowByUID(indextest.UID(499_999)); !ok {
			t.Error("the last resource is not in the index")
		}
		checkCold(t, meter.Partitions())
		for range coldLoads - 1 {
			calls.repeat(t)
		}
		r := limited.Report()
		if r.Throttled+r.Conflicts+r.GivenUp > 0 || time.Since(began) > time.Second {
			t.Errorf("in %v %d calls were throttled, %d in conflict, %d given up", time.Since(began), r.Throttled,
				r.Conflicts, r.GivenUp)
		}
		for pk, u := range r.Peaks {
			if u.Read > dynamoLimits.ReadUnits {
				t.Errorf("%s gave %.0f read units in a second", pk, u.Read)
			}
		}
	})
}

// recorder records the calls of a load, so that they can be repeated without decoding.
type recorder struct {
	table.Store
	calls []func() error
}

func (r *recorder) Query(ctx context.Context, q table.Query) (table.Page, error) {
	r.calls = append(r.calls, func() error { _, err := r.Store.Query(ctx, q); return err })
	return r.Store.Query(ctx, q)
}

func (r *recorder) BatchGet(ctx context.Context, keys ...table.Key) (map[table.Key]table.Item, error) {
	keys = slices.Clone(keys)
	r.calls = append(r.calls, func() error { _, err := r.Store.BatchGet(ctx, keys...); return err })
	return r.Store.BatchGet(ctx, keys...)
}

func (r *recorder) repeat(t *testing.T) {
	t.Helper()
	for _, call := range r.calls {
		if err := call(); err != nil {
			t.Fatal(err)
		}
	}
}

// checkCold checks that no key takes a large part of one load.
func checkCold(t *testing.T, cold map[string]table.Units) {
	t.Helper()
	most, changes, sum := 0., 0., 0.
	for pk, u := range cold {
		sum += u.Read
		if strings.HasSuffix(pk, "#INV") {
			changes = u.Read
		} else {
			most = max(most, u.Read)
		}
		if u.Read > maxColdUnits {
			t.Errorf("a load reads %.0f units of %s; %d are allowed", u.Read, pk, maxColdUnits)
		}
	}
	t.Logf("a load reads %.0f units of %d keys: %.0f of the changes, at most %.1f of a chunk", sum, len(cold), changes,
		most)
	if len(cold) < 50 {
		t.Errorf("only %d keys were read", len(cold))
	}
}
