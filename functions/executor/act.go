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

// markConcurrency is how many actions are marked at the same time.
const markConcurrency = 8

// storeProgress stores the status and progress of actions before anything is done on their behalf. Each action is
// written by itself: they need not be marked together, and a transaction would double the cost of each write. Actions
// that have ended meanwhile, for example because they were cancelled, are removed from the run.
func (r *run) storeProgress(ctx context.Context, actions []*execution.Action) error {
	var g errgroup.Group
	g.SetLimit(markConcurrency)
	ended := make([]bool, len(actions))
	for i, a := range actions {
		g.Go(func() error {
			// one alone is no transaction, and patient
			err := r.e.patientStore().Transact(ctx, progressWrite(r.in.Org, a))
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
	r.act, r.waiting = withoutGone(r.act, gone), withoutGone(r.waiting, gone)
	return err
}

// withoutGone returns the actions that are not in gone.
func withoutGone(actions []*execution.Action, gone map[*execution.Action]bool) []*execution.Action {
	out := make([]*execution.Action, 0, len(actions))
	for _, a := range actions {
		if !gone[a] {
			out = append(out, a)
		}
	}
	return out
}

// progressWrite returns the write that stores the progress of a. The write fails when a has ended.
func progressWrite(org string, a *execution.Action) table.Write {
	return table.Update(execution.ActionKey(org, a.ID), []table.Change{
		table.Set("status", string(a.Status)), table.Set("startedAt", a.StartedAt), table.Set("attempts", a.Attempts),
		table.Set("logs", a.Logs), table.Set("progress", a.Progress), table.Set("idle", a.Idle),
	}, table.Any(table.Equal("status", string(execution.Pending)), table.Equal("status", string(execution.Running))))
}

// actOn asks the provider to act on the ready actions and records its answers.
func (r *run) actOn(ctx context.Context) error {
	if len(r.act) == 0 {
		return nil
	}
	targets, err := r.buildTargets(ctx)
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
		if r.takeAnswer(ctx, a, failed[a.ResourceUID]) {
			again = append(again, a)
		}
	}
	return r.storeProgress(ctx, again)
}

// takeAnswer records the provider's answer for one action. It reports whether the action's progress must be stored
// again.
func (r *run) takeAnswer(ctx context.Context, a *execution.Action, err error) bool {
	switch class := cloud.ClassOf(err); {
	case err == nil:
		r.lookLater(a)
		return false
	case r.isThrottled(a, err):
		r.requeueAction(a, err)
		return true
	case class == cloud.Moving:
		a.Progress.ActedAt, a.Progress.NextAt = noTime, r.now.Add(firstBackoff)
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

// readSteps reads the steps of a resource again after an act that changes it in several steps has failed, because
// some of them were done. If the read fails, the steps stay as they were read before.
func (r *run) readSteps(ctx context.Context, a *execution.Action) {
	if len(r.states[a.ResourceUID].Steps) == 0 {
		return
	}
	if got, err := r.conn.Read(ctx, r.kind.Type, a.Region, []string{a.ResourceUID}); err == nil && len(got) == 1 {
		r.states[a.ResourceUID] = got[0]
	}
}

// buildTargets returns the resources to act on. Before a stop it stores the snapshots of resources that the provider
// would forget. For a start it attaches the stored snapshots.
func (r *run) buildTargets(ctx context.Context) ([]cloud.Target, error) {
	out := make([]cloud.Target, len(r.act))
	for i, a := range r.act {
		out[i].UID = a.ResourceUID
	}
	if !r.kind.Remembers {
		return out, nil
	}
	if r.act[0].Action == cloud.Stop {
		return out, r.rememberSnapshots(ctx)
	}
	for i := range out {
		out[i].Snapshot = r.memories[out[i].UID].Snapshot
	}
	return out, nil
}

type snapshot = execution.Snapshot

func snapshotKey(org, uid string) table.Key { return execution.SnapshotKey(org, uid) }

// rememberSnapshots stores the snapshots of the resources that are about to be stopped. An action writes its snapshot
// once: a second run of the same action may find the resource half stopped, and must not overwrite the first
// snapshot.
func (r *run) rememberSnapshots(ctx context.Context) error {
	for _, a := range r.act {
		if s := r.states[a.ResourceUID].Snapshot; s != nil {
			if err := r.rememberOne(ctx, a, snapshot{ActionID: a.ID, Snapshot: s}); err != nil {
				return fmt.Errorf("remember capacity of %s: %w", a.ResourceUID, err)
			}
		}
	}
	return nil
}

// rememberOne stores the snapshot of one resource. It keeps an existing snapshot of the same action, and one of an
// event that must be kept.
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

// adoptMemory assigns the snapshot that an event has left to the stop action. It does not touch a snapshot that an
// earlier run of the same stop stored.
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
