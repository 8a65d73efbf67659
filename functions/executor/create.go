package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

const (
	// createBatchSize is how many actions one transaction creates: two writes each, and the count.
	createBatchSize = 49
	// createConcurrency is how many chunks are created at the same time.
	createConcurrency = 8
)

// createAll creates the actions of every chunk of the bulk action.
func (e *Executor) createAll(ctx context.Context, org string, b *execution.Bulk) error {
	g, each := errgroup.WithContext(ctx)
	g.SetLimit(createConcurrency)
	err := e.eachChunk(ctx, execution.BulkInput{Org: org, BulkID: b.ID}, allChunks,
		func(key string, c execution.Chunk) error {
			g.Go(func() error { return e.createChunk(each, org, b, keyedChunk{key, c}) })
			return nil
		})
	if err = errors.Join(err, g.Wait()); err != nil {
		return fmt.Errorf("create actions of %s: %w", b.ID, err)
	}
	return e.advanceStage(ctx, org, b, execution.Expanded)
}

// keyedChunk is a chunk and its sort key.
type keyedChunk struct {
	key string
	execution.Chunk
}

// createChunk creates the actions of one chunk, each with its claim on the resource, unless the bulk action was
// cancelled meanwhile.
func (e *Executor) createChunk(ctx context.Context, org string, b *execution.Bulk, c keyedChunk) error {
	now, err := table.Read[execution.Bulk](ctx, e.p.Table, execution.BulkKey(org, b.ID))
	switch {
	case err != nil:
		return fmt.Errorf("read bulk action %s: %w", b.ID, err)
	case now.Status == execution.BulkCancelled:
		return errCancelled
	}
	for rest := c.Members; len(rest) > 0; {
		n := min(createBatchSize, len(rest))
		batch := make([]*creation, n)
		for i, m := range rest[:n] {
			batch[i] = &creation{action: e.newAction(b, c, m), claim: true, patient: b.Ordered()}
		}
		if err := e.createActions(ctx, org, batch); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func (e *Executor) newAction(b *execution.Bulk, c keyedChunk, m execution.Member) execution.Action {
	now := e.p.Clock.Now()
	a := execution.Action{
		ID: m.ActionID, ResourceUID: m.ResourceUID, ResourceType: c.ResourceType, Provider: c.Provider,
		CloudAccountID: c.CloudAccountID, Region: c.Region, Action: b.Type, Reason: cmp.Or(b.Plan.Reason, "bulk"),
		Status:       execution.Pending,
		BulkActionID: b.ID, ChangedBy: b.Plan.ChangedBy, ScheduleID: b.Plan.ScheduleID, Force: b.Force,
		CreatedAt: now, Progress: &execution.Progress{Chunk: c.key, Keep: b.Plan.Keep},
	}
	a.AppendLog(now, "intent", "ok", fmt.Sprintf("%s as part of %s, tier %d", b.Type, b.ID, c.Tier))
	return a
}

// creation is an action about to be created. It claims its resource unless another action of the same verb holds it.
// If refused is not empty, the action cannot run, and refused is the reason. A patient action was ordered by a
// schedule or an override, and waits behind the opposite action.
type creation struct {
	action  execution.Action
	claim   bool
	patient bool
	refusal string
}

// createActions creates a batch of actions and immediately ends those that cannot run.
func (e *Executor) createActions(ctx context.Context, org string, batch []*creation) error {
	for left := batch; len(left) > 0; {
		ws, owner, err := creationWrites(org, left)
		if err != nil {
			return err
		}
		err = e.patientStore().Transact(ctx, ws...)
		lost, ok := errors.AsType[*table.ConditionError](err)
		if err != nil && !ok {
			return err
		}
		if err == nil {
			break
		}
		if _, over := lost.Old(len(ws) - 1); over {
			return errCancelled
		}
		ended, err := e.supersedeHolders(ctx, org, lost, owner)
		if err != nil {
			return err
		}
		if ended {
			continue // their resources are free now
		}
		if left, err = amendBatch(lost, ws, owner, left); err != nil {
			return err
		}
	}
	return e.endRefused(ctx, org, batch)
}

// supersedeHolders ends the opposite actions that hold resources of the batch and only wait for capacity. It reports
// whether it ended any.
func (e *Executor) supersedeHolders(ctx context.Context, org string, lost *table.ConditionError,
	owner []*creation,
) (ended bool, err error) {
	for _, f := range lost.Failed {
		if f.Old.Data == nil || f.Index >= len(owner) {
			continue
		}
		b := owner[f.Index]
		res, err := table.Decode[inventory.Resource](f.Old)
		if err != nil || res.UID != b.action.ResourceUID || execution.InFlight(b.action.Action, res) == "" {
			continue // it is the action itself that is there, or nothing is in flight
		}
		holder, err := table.Read[execution.Action](ctx, e.p.Table, execution.ActionKey(org, res.ActionID))
		if err != nil {
			return ended, fmt.Errorf("read action %s in flight: %w", res.ActionID, err)
		}
		if !holder.Idle {
			continue
		}
		left, err := e.supersedeIdle(ctx, org, &holder, &b.action)
		if err != nil {
			return ended, err
		}
		ended = ended || left == nil
	}
	return ended, nil
}

// creationWrites returns the writes of a batch, and the creation of each write. The last write counts the actions; it
// refuses the whole transaction when the bulk action has ended.
func creationWrites(org string, batch []*creation) (ws []table.Write, owner []*creation, err error) {
	var row table.Item
	for _, b := range batch {
		b.action.Progress.Claimed = b.claim
		if row, err = execution.NewActionItem(org, b.action); err != nil {
			return nil, nil, err
		}
		ws, owner = append(ws, table.Put(row, table.Absent())), append(owner, b)
		if b.claim {
			ws, owner = append(ws, inventory.ClaimResource(org, b.action.ResourceUID, b.action.ID, b.action.Action)),
				append(owner, b)
		}
	}
	a := batch[0].action
	count := execution.CountCreated(org, execution.ActionCount{
		BulkID: a.BulkActionID, Chunk: a.Progress.Chunk, Number: len(batch), Expires: row.Expires,
	})
	return append(ws, count), owner, nil
}

// amendBatch changes the creations whose writes were refused, and drops those that an earlier call has already
// created.
func amendBatch(lost *table.ConditionError, ws []table.Write, owner, batch []*creation) ([]*creation, error) {
	made := map[*creation]bool{}
	for _, f := range lost.Failed {
		b := owner[f.Index]
		if ws[f.Index].Verb == table.PutVerb {
			made[b] = true
			continue
		}
		if err := b.yieldClaim(f.Old); err != nil {
			return nil, err
		}
	}
	out := make([]*creation, 0, len(batch))
	for _, b := range batch {
		if !made[b] {
			out = append(out, b)
		}
	}
	return out, nil
}

// yieldClaim gives up the claim on a resource that another action holds, or that is gone.
func (b *creation) yieldClaim(old table.Item) error {
	b.claim = false
	var res inventory.Resource
	if old.Data != nil {
		var err error
		if res, err = table.Decode[inventory.Resource](old); err != nil {
			return err
		}
	}
	b.action.Progress.Behind = ""
	if b.patient && execution.InFlight(b.action.Action, res) != "" {
		b.action.Progress.Behind = res.ActionID
		return nil
	}
	b.refusal = execution.Blocked(b.action.Action, res)
	return nil
}

// endRefused ends the actions of the batch that cannot run, including those that an earlier call created and did not
// end.
func (e *Executor) endRefused(ctx context.Context, org string, batch []*creation) error {
	var out []execution.Outcome
	for _, b := range batch {
		if b.refusal != "" {
			out = append(out, execution.Outcome{
				Action: b.action, Status: execution.Failed, State: cloud.Status(""), Message: b.refusal,
				At: e.p.Clock.Now(),
			})
		}
	}
	return execution.SettleActions(ctx, e.patientStore(), org, out)
}
