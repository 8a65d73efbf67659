package executor

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// markers is how many actions are marked side by side.
const markers = 8

// storeProgress stores the status and the progress of actions before anything is done on their behalf, each by itself: nothing
// wants them to be marked together, and in a transaction each would cost twice as much. Those that were ended meanwhile, cancelled
// for one, are taken out of the run.
func (r *run) storeProgress(ctx context.Context, actions []*execution.Action) error {
	var g errgroup.Group
	g.SetLimit(markers)
	ended := make([]bool, len(actions))
	for i, a := range actions {
		g.Go(func() error {
			err := r.e.store().Transact(ctx, progress(r.in.Org, a)) // one alone is no transaction, and patient
			if _, ended[i] = errors.AsType[*table.ConditionError](err); ended[i] {
				return nil
			}
			return fault.Wrap("mark action "+a.ID, err)
		})
	}
	err := g.Wait()
	gone := map[*execution.Action]bool{}
	for i, a := range actions {
		if ended[i] {
			gone[a] = true
		}
	}
	r.act, r.waiting = keep(r.act, gone), keep(r.waiting, gone)
	return err
}

func keep(actions []*execution.Action, gone map[*execution.Action]bool) []*execution.Action {
	out := make([]*execution.Action, 0, len(actions))
	for _, a := range actions {
		if !gone[a] {
			out = append(out, a)
		}
	}
	return out
}

// progress returns the write that stores how far a is; it fails when a has ended.
func progress(org string, a *execution.Action) table.Write {
	return table.Update(execution.ActionKey(org, a.ID), []table.Change{
		table.Set("status", string(a.Status)), table.Set("startedAt", a.StartedAt), table.Set("attempts", a.Attempts),
		table.Set("logs", a.Logs), table.Set("progress", a.Progress), table.Set("idle", a.Idle),
	}, table.Any(table.Equal("status", string(execution.Pending)), table.Equal("status", string(execution.Running))))
}

// actOn asks the provider for what was decided, and takes in what it answers.
func (r *run) actOn(ctx context.Context) error {
	if len(r.act) == 0 {
		return nil
	}
	targets, err := r.targets(ctx)
	if err != nil {
		return err
	}
	results := r.conn.Act(ctx, r.act[0].Action, r.kind.Type, r.act[0].Region, targets)
	failed, left := make(map[string]error, len(results)), map[string]string{}
	for _, res := range results {
		failed[res.UID], left[res.UID] = res.Err, res.LeftOff
	}
	var again []*execution.Action
	for _, a := range r.act {
		if why := left[a.ResourceUID]; why != "" && failed[a.ResourceUID] == nil {
			r.leaveOff(a, why)
			continue
		}
		if r.take(ctx, a, failed[a.ResourceUID]) {
			again = append(again, a)
		}
	}
	return r.storeProgress(ctx, again)
}

// take takes in the provider's answer for one action; it reports whether the action's progress must be stored again.
func (r *run) take(ctx context.Context, a *execution.Action, err error) bool {
	switch class := cloud.ClassOf(err); {
	case err == nil:
		r.lookLater(a)
		return false
	case r.throttled(a, err):
		r.queue(a, err)
		return true
	case class == cloud.Moving:
		a.Progress.ActedAt, a.Progress.NextAt = noTime, r.now.Add(backoff)
		a.AppendLog(r.now, "execute", "waiting", err.Error())
		r.lookLater(a)
		return true
	case class == cloud.NoCapacity:
		before := len(r.ended)
		r.awaitCapacity(a, "", err.Error())
		return len(r.ended) == before
	case class.Retryable():
		before := len(r.ended)
		r.countAttempt(a, "", err.Error())
		return len(r.ended) == before
	default:
		if isWithheld(err) {
			r.degradeAccount(ctx, err)
		}
		r.readSteps(ctx, a)
		r.failAction(a, r.states[a.ResourceUID].Status, err.Error())
		return false
	}
}

// readSteps reads again what is changed in steps: the act has done some before it failed. What cannot be read stays as it was seen.
func (r *run) readSteps(ctx context.Context, a *execution.Action) {
	if len(r.states[a.ResourceUID].Steps) == 0 {
		return
	}
	if got, err := r.conn.Read(ctx, r.kind.Type, a.Region, []string{a.ResourceUID}); err == nil && len(got) == 1 {
		r.states[a.ResourceUID] = got[0]
	}
}

// targets names the resources to act on. What a stop would make the provider forget is remembered before it; what a
// start needs is taken from there.
func (r *run) targets(ctx context.Context) ([]cloud.Target, error) {
	out := make([]cloud.Target, len(r.act))
	for i, a := range r.act {
		out[i].UID = a.ResourceUID
	}
	if !r.kind.Remembers {
		return out, nil
	}
	if r.act[0].Action == cloud.Stop {
		return out, r.remember(ctx)
	}
	for i := range out {
		out[i].Snapshot = r.memories[out[i].UID].Snapshot
	}
	return out, nil
}

type snapshot = execution.Snapshot

func snapshotKey(org, uid string) table.Key { return execution.SnapshotKey(org, uid) }

// remember keeps the snapshots of what is about to be stopped. An action writes its snapshot once: a second run of the
// same action, which may find the resource half stopped, must not overwrite what the first one saw.
func (r *run) remember(ctx context.Context) error {
	for _, a := range r.act {
		if s := r.states[a.ResourceUID].Snapshot; s != nil {
			if err := r.rememberOne(ctx, a, snapshot{ActionID: a.ID, Snapshot: s}); err != nil {
				return fmt.Errorf("remember capacity of %s: %w", a.ResourceUID, err)
			}
		}
	}
	return nil
}

// rememberOne keeps the snapshot of one resource, unless the action has kept one, or an event has left one that is to be kept.
func (r *run) rememberOne(ctx context.Context, a *execution.Action, s snapshot) error {
	row, err := table.NewItem(snapshotKey(r.in.Org, a.ResourceUID), s)
	if err != nil {
		return err
	}
	_, err = r.e.p.Table.Write(ctx, table.Put(row,
		table.Any(table.Absent(), table.NotEqual("actionID", a.ID)),
		table.Any(table.Lacks("keepUntil"), table.Less("keepUntil", r.now.Unix()))))
	lost, written := errors.AsType[*table.ConditionError](err)
	if !written {
		return err
	}
	return r.adoptMemory(ctx, a, lost)
}

// adoptMemory makes the snapshot that an event has left that of the stop. It does nothing to the snapshot of an earlier run of the stop.
func (r *run) adoptMemory(ctx context.Context, a *execution.Action, lost *table.ConditionError) error {
	old, there := lost.Old(0)
	if !there || old.Data == nil {
		return nil
	}
	kept, err := table.Decode[snapshot](old)
	if err != nil || kept.KeepUntil == 0 {
		return err
	}
	row, err := table.NewItem(snapshotKey(r.in.Org, a.ResourceUID), snapshot{ActionID: a.ID, Snapshot: kept.Snapshot})
	if err != nil {
		return err
	}
	_, err = r.e.p.Table.Write(ctx, table.Put(row, table.Equal("keepUntil", kept.KeepUntil)))
	if _, changed := errors.AsType[*table.ConditionError](err); changed {
		return nil // another run of the stop has adopted it
	}
	return err
}
