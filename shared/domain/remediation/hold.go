package remediation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// hold keeps other workflows from a resource.
type hold struct {
	ResourceID string `json:"resourceID"`
	WorkflowID string `json:"workflowID"`
	// Until is the end of the hold of a proposal, in Unix seconds: it expires though the work that records it is late.
	Until int64 `json:"until,omitempty"`
}

const (
	holdPrefix = "HOLD#"
	dayPrefix  = "DAY#"
	listPrefix = "LIST#"
)

func holdKey(org, resourceID string) table.Key {
	return table.Key{PK: pk(org), SK: holdPrefix + resourceID}
}

func isHold(k table.Key) bool { return strings.HasPrefix(k.SK, holdPrefix) }

// takeHolds returns the writes that hold the resources of a proposal. They fail if another workflow holds one.
func (w *Workflow) takeHolds(now time.Time) ([]table.Write, error) {
	return w.holds(w.ExpiresAt.Unix(), table.Any(table.Absent(), table.LessEqual("until", now.Unix())))
}

// keepHolds returns the writes that make the holds of a proposal last until its workflow ends. They fail if it has lost
// one.
func (w *Workflow) keepHolds() ([]table.Write, error) {
	return w.holds(0, table.Equal("workflowID", w.ID))
}

// retakeHolds returns the writes that hold the resources of an ended workflow again, to roll it back.
func (w *Workflow) retakeHolds(now time.Time) ([]table.Write, error) {
	return w.holds(0, table.Any(table.Absent(), table.Equal("workflowID", w.ID),
		table.LessEqual("until", now.Unix())))
}

func (w *Workflow) holds(until int64, cond table.Cond) ([]table.Write, error) {
	out := make([]table.Write, len(w.Targets))
	for i := range w.Targets {
		h := hold{w.Targets[i].ResourceID, w.ID, until}
		it, err := table.NewItem(holdKey(w.Org, h.ResourceID), h)
		if err != nil {
			return nil, err
		}
		out[i] = table.Put(it, cond)
	}
	return out, nil
}

// dropHolds returns the writes that release the resources that the workflow still holds. They fail if one of them has
// become another workflow's in between.
func (s *Store) dropHolds(ctx context.Context, w *Workflow) ([]table.Write, error) {
	ids := make([]string, len(w.Targets))
	for i := range w.Targets {
		ids[i] = w.Targets[i].ResourceID
	}
	holders, err := s.Holders(ctx, w.Org, ids...)
	var out []table.Write
	for _, id := range ids {
		if holders[id] == w.ID {
			out = append(out, table.Delete(holdKey(w.Org, id), table.Equal("workflowID", w.ID)))
		}
	}
	return out, err
}

// Holders returns which workflows hold resources at this moment, by resource. It takes one round trip for a hundred.
func (s *Store) Holders(ctx context.Context, org string, resourceIDs ...string) (map[string]string, error) {
	keys := make([]table.Key, len(resourceIDs))
	for i, id := range resourceIDs {
		keys[i] = holdKey(org, id)
	}
	got, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fault.Wrap("read which workflows hold resources of "+org, err)
	}
	out, now := map[string]string{}, s.clock.Now().Unix()
	for _, it := range got {
		h, err := table.Decode[hold](it)
		if err != nil {
			return nil, err
		}
		if h.Until == 0 || h.Until > now {
			out[h.ResourceID] = h.WorkflowID
		}
	}
	return out, nil
}

func dayKey(org string, at time.Time) table.Key {
	return table.Key{PK: pk(org), SK: dayPrefix + at.UTC().Format(time.DateOnly)}
}

func isDay(k table.Key) bool { return strings.HasPrefix(k.SK, dayPrefix) }

func dayOf(k table.Key) string { return strings.TrimPrefix(k.SK, dayPrefix) }

// CountChange returns the write that counts one change of a day. It fails if the day has MaxDayChanges already.
func CountChange(org string, at time.Time) table.Write {
	return table.Update(dayKey(org, at),
		[]table.Change{table.Add("changes", 1), table.Expire(at.Add(7 * 24 * time.Hour))},
		table.Any(table.Lacks("changes"), table.Less("changes", MaxDayChanges)))
}

// IsDayLimit reports whether a write failed because the changes of the day are used up.
func IsDayLimit(err error) bool { return errors.Is(err, errDayUsed) }

// ChangesOn returns how many changes an organization has made on the day of at, in UTC.
func (s *Store) ChangesOn(ctx context.Context, org string, at time.Time) (int, error) {
	row, err := table.Read[struct {
		Changes int `json:"changes"`
	}](ctx, s.table, dayKey(org, at))
	if fault.Is(err, fault.NotFound) {
		return 0, nil
	}
	return row.Changes, fault.Wrap("count the changes of "+org, err)
}

// WorkID returns the name of the present or last work of the workflow: its run, the part of its run after its latest
// suspension, or its latest rollback.
func (w *Workflow) WorkID() string {
	switch {
	case w.Rollbacks > 0:
		return fmt.Sprintf("%s-undo%d", w.ID, w.Rollbacks)
	case w.Suspensions > 0:
		return fmt.Sprintf("%s-part%d", w.ID, w.Suspensions+1)
	}
	return w.ID
}

// listWork returns the write that lists work of the workflow, to be started at a time.
func (w *Workflow) listWork(workID string, at time.Time) (table.Write, error) {
	return workqueue.AddWork(workqueue.Work{ID: workID, Org: w.Org, Machine: Machine, At: at}, Input{w.Org, w.ID})
}
