package discovery

import (
	"context"
	"errors"
	"fmt"

	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// finishPass ends the pass: it writes the outcome to the pass and the account, and compacts the index. It forgets the
// resources of an account that was deleted meanwhile, or whose deletion began this pass.
func (w *worker) finishPass(ctx context.Context, in discovery.Input, f *workflow.Caught) (discovery.Job, error) {
	j, parts, err := discovery.ReadJob(ctx, w.p.Table, in.Org, in.JobID)
	if err != nil || j.Status != discovery.Running {
		return j, err
	}
	a, err := w.inventory.ReadAccount(ctx, in.Org, in.AccountID)
	gone := fault.Is(err, fault.NotFound)
	if gone {
		err = w.forgetAccount(ctx, in)
	}
	if err != nil {
		return j, fmt.Errorf("finish %s: %w", in.JobID, err)
	}
	if err = w.inventory.CompactIndex(ctx, in.Org); err != nil {
		return j, fmt.Errorf("compact the index of %s: %w", in.Org, err)
	}
	// estimates are not essential: the nightly run updates them
	if err = w.estimateCosts(ctx, in.Org, &a); err != nil {
		w.p.Log.WarnContext(ctx, "resources were not estimated after their discovery", "org", in.Org, "error",
			err.Error())
	}
	j.CompletedAt = w.p.Clock.Now()
	j.Status, j.Error = outcome(j, parts, f, gone)
	return j, w.settlePass(ctx, in, j, gone)
}

// estimateCosts updates the known costs of resources. If price lists were never fetched, it lists their fetch as work.
// A connecting account needs none, because its first import fetches them.
func (w *worker) estimateCosts(ctx context.Context, org string, a *inventory.Account) error {
	did, err := w.estimates.Update(ctx, org)
	if errors.Is(err, pricing.ErrCostsMoved) { // as on a first connection: once more, after the others
		work, err := billimport.AddRenewal(org, w.p.Clock.Now())
		return w.listWork(ctx, work, err)
	}
	if err != nil || did.Unfetched == 0 || a.ID == "" || a.Status == inventory.AccountConnecting {
		return err
	}
	work, err := billimport.AddPrices(org, a.ID, w.p.Clock.Now())
	return w.listWork(ctx, work, err)
}

// listWork writes work into the queue, unless there is an error.
func (w *worker) listWork(ctx context.Context, work table.Write, err error) error {
	if err == nil {
		_, err = w.p.Table.Write(table.Within(ctx, workqueue.Prefix), work)
	}
	return err
}

// forgetAccount drops the resources of a deleted account after all references to them.
func (w *worker) forgetAccount(ctx context.Context, in discovery.Input) error {
	if err := w.inventory.Detach(ctx, in.Org, in.AccountID); err != nil {
		return err
	}
	if err := scheduling.New(w.p).DetachAccount(ctx, in.Org, in.AccountID); err != nil {
		return err
	}
	if err := w.opinions.Forget(ctx, in.Org, in.AccountID); err != nil {
		return err
	}
	_, err := w.inventory.ForgetAccount(ctx, in.Org, in.AccountID)
	return err
}

// outcome returns the status and error of the pass.
func outcome(j discovery.Job, parts []discovery.Part, f *workflow.Caught, gone bool) (discovery.Status, string) {
	bad := 0
	var first discovery.Part
	for _, part := range parts {
		if part.Status != discovery.PartDone {
			if bad++; bad == 1 {
				first = part
			}
		}
	}
	bad += max(j.Partitions-len(parts), 0) // never begun
	switch {
	case gone:
		return discovery.Succeeded, ""
	case j.Error != "":
		return discovery.Failed, j.Error
	case f != nil && bad == 0:
		return discovery.Failed, f.String()
	case bad == 0:
		return discovery.Succeeded, ""
	}
	why := fmt.Sprintf("%d of %d partitions could not be read", bad, j.Partitions)
	if first.Kind != "" {
		why += fmt.Sprintf("; %s in %s: %s", first.Kind, first.Region, first.Error)
	}
	if bad == j.Partitions {
		return discovery.Failed, why
	}
	return discovery.Partial, why
}

// settlePass writes the outcome in one transaction. It is idempotent.
func (w *worker) settlePass(ctx context.Context, in discovery.Input, j discovery.Job, gone bool) error {
	changes := []table.Change{
		table.Set("status", string(j.Status)), table.Set("error", j.Error), table.Set("completedAt", j.CompletedAt),
	}
	ws := []table.Write{
		table.Update(discovery.JobKey(in.Org, in.JobID), changes, table.Equal("status", string(discovery.Running))),
		workqueue.RemoveWork(in.JobID),
	}
	if !gone {
		account, err := w.accountWrite(ctx, in, j)
		if err != nil {
			return err
		}
		ws = append(ws, account)
	}
	err := w.p.Table.Transact(table.Within(ctx, workqueue.Prefix), ws...)
	lost, ok := errors.AsType[*table.ConditionError](err)
	if !ok {
		return fault.Wrap("settle "+in.JobID, err)
	}
	if _, ended := lost.Old(0); ended {
		return nil
	}
	// The account is gone, was disconnected by its cloud organisation, or belongs to another pass by now: this pass
	// ends without a change of the account.
	return fault.Wrap("settle "+in.JobID, w.p.Table.Transact(table.Within(ctx, workqueue.Prefix), ws[:2]...))
}

// accountWrite returns the write that shows the outcome on the account. Its condition is that the account still names
// this pass and was not disconnected by its cloud organisation meanwhile.
func (w *worker) accountWrite(ctx context.Context, in discovery.Input, j discovery.Job) (table.Write, error) {
	counts, err := w.inventory.CountByAccount(ctx, in.Org)
	if err != nil {
		return table.Write{}, fmt.Errorf("count resources of %s: %w", in.AccountID, err)
	}
	changes := []table.Change{
		table.Remove("jobID"), table.Set("resourceCount", counts[in.AccountID]), table.Set("status", healthOf(j)),
		table.Set("updatedAt", j.CompletedAt),
	}
	if j.Error == "" {
		changes = append(changes, table.Remove("error"))
	} else {
		changes = append(changes, table.Set("error", j.Error))
	}
	if j.Status != discovery.Failed {
		changes = append(changes, table.Set("lastDiscoveredAt", j.CompletedAt))
	}
	if j.Status == discovery.Succeeded {
		changes = append(changes, table.Set("seenFrom", j.StartedAt))
	}
	return table.Update(inventory.AccountKey(in.Org, in.AccountID), changes, table.Equal("jobID", in.JobID),
		table.Lacks("ended")), nil
}

// healthOf returns the status of an account after a pass.
func healthOf(j discovery.Job) string {
	switch {
	case j.Status == discovery.Succeeded:
		return inventory.AccountConnected
	case j.Refused:
		return inventory.AccountDisconnected
	}
	return inventory.AccountDegraded
}
