package executor

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
)

// What is remembered of a resource lasts from a stop to the next start. A stop stores the resource's size, or that
// it was off already: then the start leaves it off. The start that ends well marks what was remembered as used,
// before its own end is recorded, so that the same start finds it again after a crash, and no other start does.

// offBefore is why a start leaves off a resource that the stop before it has found off.
const offBefore = "it was off before it was stopped"

// loadMemories reads what is remembered of the resources that are to be started: one round trip.
func (r *run) loadMemories(ctx context.Context) error {
	if !r.kind.Remembers || r.actions[0].Action != cloud.Start {
		return nil
	}
	keys := make([]table.Key, len(r.actions))
	for i, a := range r.actions {
		keys[i] = snapshotKey(r.in.Org, a.ResourceUID)
	}
	got, err := r.e.p.Table.BatchGet(ctx, keys...)
	if err != nil {
		return fmt.Errorf("recall capacity: %w", err)
	}
	r.memories = make(map[string]snapshot, len(got))
	for i, a := range r.actions {
		it, ok := got[keys[i]]
		if !ok {
			continue
		}
		s, err := table.Decode[snapshot](it)
		if err != nil {
			return err
		}
		if s.IsFor(a.ID) {
			r.memories[a.ResourceUID] = s
		}
	}
	return nil
}

// staysOff reports whether the start of a resource leaves it off, and has no marks to take away.
func (r *run) staysOff(a *execution.Action, s cloud.State) bool {
	return a.Action == cloud.Start && s.Status == cloud.Stopped && !s.Marked &&
		cloud.IsOff(r.memories[a.ResourceUID].Snapshot)
}

// owes reports whether a start has still to give something back to a resource that somebody else has started: what a
// stop has suspended beside it, or the marks of the stop.
func (r *run) owes(a *execution.Action, s cloud.State) bool {
	if a.Action != cloud.Start || s.Status != cloud.Running || !a.Progress.ActedAt.IsZero() {
		return false
	}
	m, known := r.memories[a.ResourceUID]
	return s.Marked || known && m.UsedBy == "" && !cloud.IsOff(m.Snapshot)
}

// noteFound notes that a stop has found its resource off, which no mark of a stop of ours explains.
func (r *run) noteFound(a *execution.Action, s cloud.State) {
	if a.Action != cloud.Stop || s.Marked {
		return
	}
	if r.foundOff == nil {
		r.foundOff = map[string]bool{}
	}
	r.foundOff[a.ID] = true
}

// leaveOff ends a start well that leaves its resource off.
func (r *run) leaveOff(a *execution.Action, why string) {
	if a.Status == execution.Pending {
		r.running(a)
	}
	s := r.states[a.ResourceUID]
	a.AppendLog(r.now, "verify", "ok", "the resource is left off: "+why)
	r.ended = append(r.ended,
		execution.Outcome{Action: *a, Status: execution.Succeeded, State: s.Status, Steps: s.Steps, At: r.now})
}

// keepMemories stores what the ended actions leave to remember.
func (r *run) keepMemories(ctx context.Context) error {
	if !r.kind.Remembers {
		return nil
	}
	var g errgroup.Group
	g.SetLimit(markers)
	for _, o := range r.ended {
		if w := r.memoryWrite(o); w != nil {
			g.Go(func() error {
				_, err := r.e.p.Table.Write(ctx, *w)
				if _, newer := errors.AsType[*table.ConditionError](err); newer {
					return nil
				}
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("keep what is remembered of %d resources: %w", len(r.ended), err)
	}
	return nil
}

// memoryWrite returns what an ended action changes of what is remembered; nil when that is nothing.
func (r *run) memoryWrite(o execution.Outcome) *table.Write {
	key := snapshotKey(r.in.Org, o.Action.ResourceUID)
	switch {
	case o.Status != execution.Succeeded:
		return nil
	case o.Action.Action == cloud.Stop && r.foundOff[o.Action.ID]:
		row, err := table.NewItem(key, snapshot{ActionID: o.Action.ID, Snapshot: cloud.WasOff})
		if err != nil {
			return nil // of two texts, which JSON can hold
		}
		w := table.Put(row, table.Any(table.Absent(), table.Has("usedBy"), table.Has("keepUntil")))
		return &w
	case o.Action.Action == cloud.Start:
		m, known := r.memories[o.Action.ResourceUID]
		if !known || m.UsedBy != "" {
			return nil
		}
		w := table.Update(key, []table.Change{table.Set("usedBy", o.Action.ID)}, table.Equal("actionID", m.ActionID))
		return &w
	}
	return nil
}
