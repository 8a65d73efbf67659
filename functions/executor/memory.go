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

// The snapshot of a resource lasts from a stop to the next start. A stop stores the resource's size, or that it was
// already off; then the start leaves it off. A start that succeeds marks the snapshot as used before its own end is
// recorded. After a crash the same start finds the snapshot again, and no other start does.

// offBefore is the message of a start that leaves off a resource which the stop before it found off.
const offBefore = "it was off before it was stopped"

// loadMemories reads the snapshots of the resources to be started, in one round trip.
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

// staysOff reports whether the start of a resource leaves it off and has no marks to remove.
func (r *run) staysOff(a *execution.Action, s cloud.State) bool {
	return a.Action == cloud.Start && s.Status == cloud.Stopped && !s.Marked &&
		cloud.IsOff(r.memories[a.ResourceUID].Snapshot)
}

// owesRestore reports whether a start still has something to give back to a resource that somebody else has started:
// companions that a stop has suspended, or the marks of the stop.
func (r *run) owesRestore(a *execution.Action, s cloud.State) bool {
	if a.Action != cloud.Start || s.Status != cloud.Running || !a.Progress.ActedAt.IsZero() {
		return false
	}
	m, known := r.memories[a.ResourceUID]
	return s.Marked || known && m.UsedBy == "" && !cloud.IsOff(m.Snapshot)
}

// noteFound records that a stop has found its resource off, without a mark of an earlier stop by Lamplighter.
func (r *run) noteFound(a *execution.Action, s cloud.State) {
	if a.Action != cloud.Stop || s.Marked {
		return
	}
	if r.foundOff == nil {
		r.foundOff = map[string]bool{}
	}
	r.foundOff[a.ID] = true
}

// leaveOff ends a start as succeeded that leaves its resource off.
func (r *run) leaveOff(a *execution.Action, why string) {
	if a.Status == execution.Pending {
		r.markRunning(a)
	}
	s := r.states[a.ResourceUID]
	a.AppendLog(r.now, "verify", "ok", "the resource is left off: "+why)
	r.ended = append(r.ended,
		execution.Outcome{Action: *a, Status: execution.Succeeded, State: s.Status, Steps: s.Steps, At: r.now})
}

// keepMemories stores the snapshot changes of the ended actions.
func (r *run) keepMemories(ctx context.Context) error {
	if !r.kind.Remembers {
		return nil
	}
	var g errgroup.Group
	g.SetLimit(markConcurrency)
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
		return fmt.Errorf("store the snapshots of %d resources: %w", len(r.ended), err)
	}
	return nil
}

// memoryWrite returns the change that an ended action makes to the snapshot of its resource, or nil if there is none.
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
