package evaluation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
)

// duePage is how many rows of what is due are read at a time.
const duePage = 1000

// minuteOf returns the minute in which something of the time at is due: the first one that begins at it or after it.
func minuteOf(at time.Time) time.Time {
	return at.Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
}

// ReadDue reads what of a shard of the list is due now or was missed, by organization: one round trip where that is little.
func ReadDue(ctx context.Context, s table.Store, shard int, now time.Time) (map[string][]scheduling.Due, error) {
	// What a replica does not have yet waits for the next minute; what it still has is looked at once more, for nothing.
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

// forget takes rows off the list that were looked at, unless they were written anew meanwhile: what made that due may not have been seen.
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

// FirstDue returns when what the rows point to was due first.
func FirstDue(rows []scheduling.Due) time.Time {
	first := rows[0].FirstDue()
	for _, d := range rows {
		if at := d.FirstDue(); at.Before(first) {
			first = at
		}
	}
	return first
}

// Postpone has an organization whose evaluation fails be looked at again at a later time, in place of the rows. Nothing is lost: what an
// evaluation decides begins where the last one has ended, at most a day ago.
func (s *Store) Postpone(ctx context.Context, org string, rows []scheduling.Due, until time.Time) error { //nolint:revive // whose, which, and to when
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
