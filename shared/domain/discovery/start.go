package discovery

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// StartDiscovery begins a pass over the account, or returns the one under way. An account that does not exist is
// fault.NotFound. An account that its cloud organisation has disconnected is fault.Conflict.
func StartDiscovery(ctx context.Context, p *platform.Platform, org, accountID string) (Job, error) {
	for range 3 { // retry if another process was faster
		a, err := inventory.New(p).ReadAccount(ctx, org, accountID)
		if err != nil {
			return Job{}, err
		}
		if err = a.RefuseEnded(); err != nil {
			return Job{}, err
		}
		if j, ok, err := underway(ctx, p, org, a); ok || err != nil {
			return j, err
		}
		j, ws, err := NewJob(org, a.ID, p.Clock.Now())
		if err != nil {
			return Job{}, err
		}
		if err = begin(ctx, p, beginning{org, a, j, ws}); err == nil {
			StartMachine(ctx, p, org, j)
			return j, nil
		}
		if !fault.Is(err, fault.Conflict) {
			return Job{}, err
		}
	}
	return Job{}, fault.New(
		fault.Conflict, "the discovery of account %s is being started by others: try again", accountID)
}

// underway returns the pass that the account names, if it still runs.
func underway(ctx context.Context, p *platform.Platform, org string, a inventory.Account) (Job, bool, error) {
	if a.JobID == "" {
		return Job{}, false, nil
	}
	j, err := table.Read[Job](ctx, p.Table, JobKey(org, a.JobID))
	if fault.Is(err, fault.NotFound) {
		return Job{}, false, nil
	}
	return j, err == nil && j.mayBeRunning(p.Clock.Now()), err
}

// beginning is a new pass on an account, as it was read, with the writes that record it.
type beginning struct {
	org     string
	account inventory.Account
	job     Job
	writes  []table.Write
}

// begin records the pass. It returns fault.Conflict if another pass on the account began meanwhile, or if this one was
// begun before.
func begin(ctx context.Context, p *platform.Platform, b beginning) error {
	a, same := b.account, table.Lacks("jobID")
	if a.JobID != "" {
		same = table.Equal("jobID", a.JobID)
	}
	ws := slices.Clone(b.writes)
	job := []table.Change{table.Set("jobID", b.job.ID)}
	ws = append(ws,
		table.Update(inventory.AccountKey(b.org, a.ID), job, table.Exists(), same, table.Lacks("ended")))
	if a.JobID != "" { // a lost pass: the sweeper need not revive it
		ws = append(ws, workqueue.RemoveWork(a.JobID))
	}
	if err := p.Table.Transact(table.Within(ctx, workqueue.Prefix), ws...); err != nil {
		return fmt.Errorf("begin discovery of %s: %w", a.ID, err)
	}
	return nil
}

// StartMachine starts the machine of a recorded pass. If that fails, the sweeper starts it a little later, so no error
// is returned.
func StartMachine(ctx context.Context, p *platform.Platform, org string, j Job) {
	if err := p.Workflow.Start(ctx, Machine, j.ID, j.machineInput(org)); err != nil {
		p.Log.WarnContext(ctx, "discovery will be started by the sweeper", "job", j.ID, "org", org, "error", err)
	}
}

// ReadJob returns the progress of a pass, with the partitions that were begun, ordered by region and kind.
func ReadJob(ctx context.Context, s table.Store, org, jobID string) (Job, []Part, error) {
	j, err := table.Read[Job](ctx, s, JobKey(org, jobID))
	if fault.Is(err, fault.NotFound) {
		return Job{}, nil, fault.New(fault.NotFound, "there is no discovery %q", jobID)
	}
	if err != nil {
		return Job{}, nil, err
	}
	parts, err := ListParts(ctx, s, org, jobID)
	return j, parts, err
}
