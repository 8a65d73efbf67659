package inventory

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// NoteStatuses returns the write that records observed statuses in the index. It is unconditional, may be repeated,
// and belongs into the transaction that changes the records. It takes at most MaxBatch statuses. The At of each status
// decides which is the newest; the parameter at only names the delta.
func NoteStatuses(org string, at time.Time, seen []Seen) (table.Write, error) {
	if len(seen) > MaxBatch {
		return table.Write{}, fault.New(fault.Internal, "a delta of %d statuses: at most %d", len(seen), MaxBatch)
	}
	g := index.NewSegment()
	for _, s := range seen {
		g.AddStatus(s.UID, string(s.Status), s.At.UnixMicro())
	}
	return index.NewDelta(org, at, g)
}

// attempts is how often a transaction is retried after a concurrent change of its records.
const attempts = 8

// perTransaction is how many writes one transaction takes.
const perTransaction = 100

// atOnce is how many transactions of one call run concurrently.
const atOnce = 4

// writeInTransactions does writes in as many transactions as they need. A write whose condition fails goes to retry,
// which returns a replacement, or false to skip the write. The other writes of its transaction are done without it.
func (s *Store) writeInTransactions(ctx context.Context, ws []table.Write,
	retry func(table.Write, table.Item) (table.Write, bool, error),
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, atOnce)
	ws = byPartition(ws)
	for len(ws) > 0 {
		n := min(perTransaction, len(ws))
		part := ws[:n:n]
		ws = ws[n:]
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			if err := s.transactPart(ctx, part, retry); err != nil {
				cancel(err)
			}
		}()
	}
	for range atOnce {
		slots <- struct{}{}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// byPartition returns ws grouped by partition, so that a transaction waits for the capacity of few partitions. The
// order of the partitions is random, so that concurrent batches do not all wait for the same one.
func byPartition(ws []table.Write) []table.Write {
	ws = slices.Clone(ws)
	slices.SortStableFunc(ws, func(a, b table.Write) int { return strings.Compare(a.Item.PK, b.Item.PK) })
	if len(ws) <= perTransaction {
		return ws
	}
	first := rand.N(len(ws)) //nolint:gosec // spreads load, guards nothing
	return append(ws[first:], ws[:first]...)
}

func (s *Store) transactPart(ctx context.Context, ws []table.Write,
	retry func(table.Write, table.Item) (table.Write, bool, error),
) error {
	for range attempts {
		if len(ws) == 0 {
			return nil
		}
		err := table.NewPatientStore(s.table).Transact(ctx, ws...)
		failed, ok := errors.AsType[*table.ConditionError](err)
		if !ok {
			return err
		}
		if ws, err = instead(ws, failed, retry); err != nil {
			return err
		}
	}
	return fault.New(fault.Unavailable, "the inventory changed %d times while it was being written; try again",
		attempts)
}

// instead replaces the writes that failed.
func instead(ws []table.Write, failed *table.ConditionError,
	retry func(table.Write, table.Item) (table.Write, bool, error),
) ([]table.Write, error) {
	out := ws[:0:0]
	for i, w := range ws {
		old, no := failed.Old(i)
		if !no {
			out = append(out, w)
			continue
		}
		next, again, err := retry(w, old)
		if err != nil {
			return nil, err
		}
		if again {
			out = append(out, next)
		}
	}
	return out, nil
}
