package executor

import (
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
	// createBatch is how many actions one transaction creates: two writes each, the count, and the look at the bulk action.
	createBatch = 49
	// creators is how many chunks are created side by side.
	creators = 8
)

// createAll creates the actions of every chunk of the bulk action.
func (e *Executor) createAll(ctx context.Context, org string, b *execution.Bulk) error {
	g, each := errgroup.WithContext(ctx)
	g.SetLimit(creators)
	err := e.eachChunk(ctx, execution.BulkInput{Org: org, BulkID: b.ID}, allChunks, func(_ string, c execution.Chunk) error {
		g.Go(func() error { return e.create(each, org, b, c) })
		return nil
	})
	if err = errors.Join(err, g.Wait()); err != nil {
		return fmt.Errorf("create actions of %s: %w", b.ID, err)
	}
	return e.advanceStage(ctx, org, b, execution.Expanded)
}

// create creates the actions of one chunk, each with its claim on the resource.
func (e *Executor) create(ctx context.Context, org string, b *execution.Bulk, c execution.Chunk) error {
	for rest := c.Members; len(rest) > 0; {
		n := min(createBatch, len(rest))
		batch := make([]*birth, n)
		for i, m := range rest[:n] {
			batch[i] = &birth{action: e.newAction(b, c, m), claim: true}
		}
		if err := e.bear(ctx, org, batch); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func (e *Executor) newAction(b *execution.Bulk, c execution.Chunk, m execution.Member) execution.Action {
	now := e.p.Clock.Now()
	a := execution.Action{
		ID: m.ActionID, ResourceUID: m.ResourceUID, ResourceType: c.ResourceType, Provider: c.Provider,
		CloudAccountID: c.CloudAccountID, Region: c.Region, Action: b.Type, Reason: "bulk", Status: execution.Pending,
		BulkActionID: b.ID, ChangedBy: b.Plan.ChangedBy, CreatedAt: now, Progress: &execution.Progress{},
	}
	a.AppendLog(now, "intent", "ok", fmt.Sprintf("%s as part of %s, tier %d", b.Type, b.ID, c.Tier))
	return a
}

// birth is an action about to be created: with a claim on its resource or, when another action of the same type holds
// that, without; refused is why it cannot run at all.
type birth struct {
	action  execution.Action
	claim   bool
	refused string
}

// bear creates a batch of actions, and ends at once those that cannot run.
func (e *Executor) bear(ctx context.Context, org string, batch []*birth) error {
	for len(batch) > 0 {
		ws, owner, err := births(org, batch)
		if err != nil {
			return err
		}
		err = e.p.Table.Transact(ctx, ws...)
		lost, ok := errors.AsType[*table.ConditionError](err)
		if err != nil && !ok {
			return err
		}
		if err == nil {
			return e.refuse(ctx, org, batch)
		}
		if cancelled(lost, len(ws)-1) {
			return errCancelled
		}
		if batch, err = amend(lost, ws, owner, batch); err != nil {
			return err
		}
	}
	return nil
}

// births returns the writes of a batch, and which birth each belongs to. The last one refuses them all when the bulk action was
// cancelled.
func births(org string, batch []*birth) (ws []table.Write, owner []*birth, err error) {
	for _, b := range batch {
		b.action.Progress = &execution.Progress{Claimed: b.claim}
		row, err := table.NewItem(execution.ActionKey(org, b.action.ID), b.action)
		if err != nil {
			return nil, nil, err
		}
		ws, owner = append(ws, table.Put(row, table.Absent())), append(owner, b)
		if b.claim {
			ws, owner = append(ws, inventory.ClaimResource(org, b.action.ResourceUID, b.action.ID, b.action.Action)), append(owner, b)
		}
	}
	count := table.Update(execution.CountKey(org, "ACT"), []table.Change{table.Add("all", int64(len(batch)))})
	return append(ws, count, table.Check(execution.BulkKey(org, batch[0].action.BulkActionID), alive...)), owner, nil
}

// amend changes the births whose writes were refused, and leaves out those that an earlier call has already made.
func amend(lost *table.ConditionError, ws []table.Write, owner, batch []*birth) ([]*birth, error) {
	made := map[*birth]bool{}
	for _, f := range lost.Failed {
		b := owner[f.Index]
		if ws[f.Index].Verb == table.PutVerb {
			made[b] = true
			continue
		}
		if err := b.yield(f.Old); err != nil {
			return nil, err
		}
	}
	out := make([]*birth, 0, len(batch))
	for _, b := range batch {
		if !made[b] {
			out = append(out, b)
		}
	}
	return out, nil
}

// yield gives up the claim on a resource that another action holds, or that is gone.
func (b *birth) yield(old table.Item) error {
	b.claim = false
	var res inventory.Resource
	if old.Data != nil {
		var err error
		if res, err = table.Decode[inventory.Resource](old); err != nil {
			return err
		}
	}
	b.refused = execution.Blocked(b.action.Action, res)
	return nil
}

// refuse ends the actions of the batch that cannot run.
func (e *Executor) refuse(ctx context.Context, org string, batch []*birth) error {
	var out []execution.Outcome
	for _, b := range batch {
		if b.refused != "" {
			out = append(out, execution.Outcome{
				Action: b.action, Status: execution.Failed, State: cloud.Status(""), Message: b.refused, At: e.p.Clock.Now(),
			})
		}
	}
	return execution.SettleActions(ctx, e.p.Table, org, out)
}
