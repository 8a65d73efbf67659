package evaluation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
)

// duePage is how many rows of the due list are read per page.
const duePage = 1000

// minuteOf returns the minute when a time is due: the first minute that begins at or after it.
func minuteOf(at time.Time) time.Time {
	return at.Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
}

// ReadDue reads the rows of a shard that are due now or were missed, by organization. It takes one round trip for each
// duePage rows.
func ReadDue(ctx context.Context, s table.Store, shard int, now time.Time) (map[string][]scheduling.Due, error) {
	// The read is eventually consistent. A row that the replica misses waits for the next minute; a deleted row that
	// the replica still has is looked at once more, without effect.
	ctx, out := table.Eventually(table.Within(ctx, scheduling.DuePrefix)), map[string][]scheduling.Due{}
	for q := (table.Query{PK: scheduling.DuePK(shard), To: scheduling.DueUpTo(now), Limit: duePage}); ; {
		rows, next, err := table.ReadPage[scheduling.Due](ctx, s, q)
		if err != nil {
			return out, fmt.Errorf("read what is due: %w", err)
		}
		for _, d := range rows {
			out[d.Org] = append(out[d.Org], d)
		}
		if q.Cursor = next; q.Cursor == "" {
			return out, nil
		}
	}
}

// forget deletes the given rows of the due list. It keeps a row that was written again meanwhile, because the
// evaluation may not have seen the cause of that write.
func (s *Store) forget(ctx context.Context, rows []scheduling.Due) error {
	for _, d := range rows {
		_, err := s.p.Table.Write(within(ctx),
			table.Delete(scheduling.DueKey(d.Org, d.Minute), table.Any(table.Absent(), table.Equal("nonce", d.Nonce))))
		if _, anew := errors.AsType[*table.ConditionError](err); err != nil && !anew {
			return fmt.Errorf("note that %s was looked at: %w", d.Org, err)
		}
	}
	return nil
}

// FirstDue returns the earliest due time of the rows.
func FirstDue(rows []scheduling.Due) time.Time {
	first := rows[0].FirstDue()
	for _, d := range rows {
		if at := d.FirstDue(); at.Before(first) {
			first = at
		}
	}
	return first
}

// Postpone replaces the rows of an organization whose evaluation fails by one row at a later time. No firing is lost:
// an evaluation begins at the end of the last one, at most a day ago.
func (s *Store) Postpone(ctx context.Context, org string, rows []scheduling.Due, until time.Time) error {
	ctx = table.WithOrg(ctx, org)
	w, err := scheduling.PostponeDue(org, minuteOf(until), FirstDue(rows))
	if err != nil {
		return err
	}
	if _, err = s.p.Table.Write(within(ctx), w); err != nil {
		return fmt.Errorf("postpone the evaluation of %s: %w", org, err)
	}
	return s.forget(ctx, rows)
}
