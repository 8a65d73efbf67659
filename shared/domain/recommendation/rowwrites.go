package recommendation

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// writeRows replaces rows as they were read by their next versions, and adds them to the columns, in one transaction
// with other writes. It returns a *table.ConditionError if another process was faster.
func (s *Store) writeRows(ctx context.Context, org string, olds, rows []Row, with ...table.Write) error {
	seg := newSegment()
	ws := append(make([]table.Write, 0, len(rows)+len(with)+1), with...)
	for i := range rows {
		w, err := putRow(org, &olds[i], &rows[i])
		if err != nil {
			return err
		}
		ws = append(ws, w)
		seg.entries = append(seg.entries, newEntry(seg.names, &rows[i]))
	}
	slices.SortFunc(seg.entries, byID)
	delta, err := newDelta(org, s.clock.Now(), seg)
	if err != nil {
		return err
	}
	return fault.Wrap(fmt.Sprintf("write %d recommendations of %s", len(rows), org),
		s.table.Transact(ctx, append(ws, delta)...))
}

func putRow(org string, old, next *Row) (table.Write, error) {
	k, ok := Key(org, next.ID)
	if !ok {
		return table.Write{}, fault.New(fault.Internal, "recommendation %q: this is no id", next.ID)
	}
	cond := table.Equal("version", old.Version)
	if old.Version == 0 {
		cond = table.Absent()
	}
	it, err := table.NewItem(k, next)
	switch next.Status {
	case Optimised:
		it.Expires = next.EndedAt.Add(Keep)
	case Candidate:
		it.Expires = next.UpdatedAt.Add(KeepCandidate)
	default: // kept
	}
	return table.Put(it, cond), err
}
