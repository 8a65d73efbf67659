package execution_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

const org = "org_a"

// counted returns a store with the counts of a bulk action of 250 chunks of 4 actions, in two months, and of 7 single
// actions.
func counted(t *testing.T) (table.Store, []execution.ChunkCounts) {
	t.Helper()
	s := tabletest.New(t)
	end := time.Date(2999, 5, 1, 0, 0, 0, 0, time.UTC)
	write := func(ws ...table.Write) {
		for _, w := range ws {
			if _, err := s.Write(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 7 {
		write(execution.CountItems(org, execution.ItemCount{
			List: execution.ActionList, Number: 1, Expires: end.AddDate(0, i%2, 0), ShardBy: strconv.Itoa(i),
		}))
	}
	for i := range 250 {
		chunk := execution.ChunkKey(org, "bulk_a", 0, i).SK
		write(execution.OpenCounts(org, "bulk_a", chunk, end),
			execution.CountCreated(org, execution.ActionCount{
				BulkID: "bulk_a", Chunk: chunk, Number: 4, Expires: end.AddDate(0, i%2, 0),
			}))
	}
	counts, err := execution.ReadChunkCounts(t.Context(), s, org, "bulk_a")
	if err != nil || len(counts) != 250 {
		t.Fatalf("%d counts, %v", len(counts), err)
	}
	return s, counts
}

// wantTotal checks the length of the list of actions, and the number of chunks with counts of their own.
func wantTotal(t *testing.T, s table.Store, total, chunks int) {
	t.Helper()
	ctx, meter := table.WithMeter(t.Context())
	got, err := execution.ReadTotal(ctx, s, org, execution.ActionList)
	if err != nil || got != total || meter.Usage().RoundTrips > 1 {
		t.Errorf("%d actions in %d round trips, want %d: %v", got, meter.Usage().RoundTrips, total, err)
	}
	if n, err := execution.ReadTotal(ctx, s, org, execution.HistoryList); n != 0 || err != nil {
		t.Errorf("%d changes of state: %v", n, err)
	}
	left, err := execution.ReadChunkCounts(t.Context(), s, org, "bulk_a")
	if err != nil || len(left) != chunks {
		t.Errorf("%d chunks count for themselves, want %d: %v", len(left), chunks, err)
	}
}

func TestFoldCounts_MovesEachCountOnce(t *testing.T) {
	s, counts := counted(t)
	wantTotal(t, s, 1007, 250)
	var wg sync.WaitGroup
	patient := table.NewPatientStore(s) // as the executor's
	for range 4 {
		wg.Go(func() {
			if err := execution.FoldCounts(t.Context(), patient, org, counts); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantTotal(t, s, 1007, 0)
}

func TestFoldCounts_IsTakenUpAfterEachFailure(t *testing.T) {
	for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
		for call := 1; call <= 4; call++ {
			s, counts := counted(t)
			f := table.NewFaultyStore(s, clock.System{},
				table.Injection{Harm: harm, Method: table.TransactMethod, Call: call})
			if err := execution.FoldCounts(t.Context(), f, org, counts); !errors.Is(err, table.ErrDown) &&
				!errors.Is(err, table.ErrLost) {
				t.Errorf("harm %d of call %d: %v", harm, call, err)
			}
			if err := execution.FoldCounts(t.Context(), f, org, counts); err != nil {
				t.Error(err)
			}
			wantTotal(t, s, 1007, 0)
		}
	}
}

func TestFoldCounts_LeavesWhatCountsOn(t *testing.T) {
	s, counts := counted(t)
	chunk := execution.ChunkKey(org, "bulk_a", 0, 100).SK
	end := time.Date(2999, 5, 1, 0, 0, 0, 0, time.UTC)
	more := execution.CountCreated(org,
		execution.ActionCount{BulkID: "bulk_a", Chunk: chunk, Number: 3, Expires: end})
	if _, err := s.Write(t.Context(), more); err != nil {
		t.Fatal(err)
	}
	if err := execution.FoldCounts(t.Context(), s, org, counts); err != nil {
		t.Fatal(err)
	}
	wantTotal(t, s, 1010, 1)
	gone := execution.ChunkKey(org, "bulk_a", 0, 7).SK
	_, err := s.Write(t.Context(), execution.CountCreated(org,
		execution.ActionCount{BulkID: "bulk_a", Chunk: gone, Number: 1, Expires: end}))
	if _, refused := errors.AsType[*table.ConditionError](err); !refused {
		t.Errorf("an action of a chunk that was folded: %v", err)
	}
}
