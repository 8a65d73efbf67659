package recommendation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Machine is the state machine that evaluates an organization on demand, named like its file in statemachines/. Its
// input is a RefreshInput. The worker recommender runs its tasks, and ends it with FinishRefresh.
const Machine = "recommendations"

// RefreshInput is the input of Machine.
type RefreshInput struct {
	Org   string `json:"org"`
	JobID string `json:"jobID"`
	Plan  bool   `json:"plan,omitempty"` // it evaluates the plan JobID of the rules, and changes no recommendation
	// it evaluates the daily pass of an organization that is too large for one process
	Daily bool `json:"daily,omitempty"`
}

// Organisation returns the organization that the input belongs to.
func (in RefreshInput) Organisation() string { return in.Org }

// LostRefresh is the age from which a refresh without an end counts as lost. It is longer than its machine runs.
const LostRefresh = 6 * time.Hour

// keepRefresh is how long a refresh can be looked at.
const keepRefresh = 30 * 24 * time.Hour

// Refresh is an evaluation on demand of all resources of an organization.
type Refresh struct {
	JobID     string    `json:"jobID"`
	StartedAt time.Time `json:"startedAt"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	Error     string    `json:"error,omitempty"` // why it failed
	Settled   Settled   `json:"settled,omitzero"`
}

// The states of a refresh.
const (
	RefreshRunning   = "running"
	RefreshCompleted = "completed"
	RefreshFailed    = "failed"
)

// StatusAt returns the state of the refresh at a time.
func (r Refresh) StatusAt(now time.Time) string {
	switch {
	case r.Error != "":
		return RefreshFailed
	case !r.EndedAt.IsZero():
		return RefreshCompleted
	case now.Sub(r.StartedAt) >= LostRefresh:
		return RefreshFailed
	}
	return RefreshRunning
}

// The sort keys of refreshes beside the counts: the newest one, and each by its id.
const newestRefresh = "REFRESH"

func refreshKey(org, jobID string) table.Key { return ruleKey(org, "R#"+jobID) }

// newest names the newest refresh of an organization.
type newest struct {
	JobID string `json:"jobID"`
}

// startTries bounds how often StartRefresh starts over because another request was faster.
const startTries = 5

// StartRefresh starts an evaluation of all resources, or returns the one under way.
func StartRefresh(ctx context.Context, p *platform.Platform, org string) (Refresh, error) {
	for range startTries {
		before, running, err := readNewest(ctx, p, org)
		if err != nil || running.JobID != "" {
			return running, err
		}
		r := Refresh{JobID: id.New("job", p.Clock.Now()), StartedAt: p.Clock.Now()}
		err = beginRefresh(ctx, p, org, r, before)
		if err == nil {
			startMachine(ctx, p, RefreshInput{Org: org, JobID: r.JobID})
			return r, nil
		}
		if _, faster := errors.AsType[*table.ConditionError](err); !faster {
			return r, fmt.Errorf("begin to refresh the recommendations of %s: %w", org, err)
		}
	}
	return Refresh{}, fault.New(fault.Conflict, "the refresh of recommendations is being started by others: try again")
}

// readNewest returns the id of the newest refresh, and that refresh if it still runs.
func readNewest(ctx context.Context, p *platform.Platform, org string) (before string, running Refresh, err error) {
	n, err := table.Read[newest](ctx, p.Table, ruleKey(org, newestRefresh))
	if fault.Is(err, fault.NotFound) {
		return "", running, nil
	}
	if err != nil {
		return "", running, fault.Wrap("read the newest refresh of "+org, err)
	}
	r, err := ReadRefresh(ctx, p.Table, org, n.JobID)
	if fault.Is(err, fault.NotFound) {
		return n.JobID, running, nil
	}
	if err == nil && r.StatusAt(p.Clock.Now()) == RefreshRunning {
		running = r
	}
	return n.JobID, running, err
}

// beginRefresh records a refresh, unless another one has begun since before was read.
func beginRefresh(ctx context.Context, p *platform.Platform, org string, r Refresh, before string) error {
	record, err := table.NewItem(refreshKey(org, r.JobID), r)
	if err != nil {
		return err
	}
	record.Expires = r.StartedAt.Add(keepRefresh)
	pointer, err := table.NewItem(ruleKey(org, newestRefresh), newest{r.JobID})
	if err != nil {
		return err
	}
	in := RefreshInput{Org: org, JobID: r.JobID}
	work, err := workqueue.AddWork(workqueue.Work{ID: r.JobID, Org: org, Machine: Machine, At: r.StartedAt}, in)
	if err != nil {
		return err
	}
	same := table.Equal("jobID", before)
	if before == "" {
		same = table.Absent()
	}
	return p.Table.Transact(table.Within(ctx, workqueue.Prefix), table.Put(pointer, same), table.Put(record), work)
}

// startMachine starts the machine of a recorded refresh. If that fails, the sweeper starts it a little later.
func startMachine(ctx context.Context, p *platform.Platform, in RefreshInput) {
	if err := p.Workflow.Start(ctx, Machine, in.JobID, in); err != nil {
		p.Log.WarnContext(ctx, "recommendations will be refreshed by the sweeper's start", "job", in.JobID, "org",
			in.Org, "error", err)
	}
}

// ReadRefresh reads a refresh, or fault.NotFound.
func ReadRefresh(ctx context.Context, t table.Store, org, jobID string) (Refresh, error) {
	missing := fault.New(fault.NotFound, "refresh %.64q does not exist", jobID)
	if !id.IsValid("job", jobID) {
		return Refresh{}, missing
	}
	r, err := table.Read[Refresh](ctx, t, refreshKey(org, jobID))
	if fault.Is(err, fault.NotFound) {
		return r, missing
	}
	return r, fault.Wrap("read refresh "+jobID, err)
}

// StartDaily returns the write that puts the evaluation of a daily pass on the list of work, and a function that starts
// its machine once the write is stored. If that fails, the sweeper starts it a little later.
func StartDaily(p *platform.Platform, in RefreshInput, at time.Time) (table.Write, func(context.Context), error) {
	w, err := workqueue.AddWork(workqueue.Work{ID: in.JobID, Org: in.Org, Machine: Machine, At: at}, in)
	return w, func(ctx context.Context) { startMachine(ctx, p, in) }, err
}

// FinishRefresh records the end of a refresh and removes it from the list of work; failure is "" if it succeeded. It is
// idempotent: the first end counts.
func FinishRefresh(ctx context.Context, p *platform.Platform, in RefreshInput, did Settled, failure string) error {
	ctx = table.Within(ctx, workqueue.Prefix)
	changes := []table.Change{table.Set("endedAt", p.Clock.Now()), table.Set("settled", did)}
	if failure != "" {
		changes = append(changes, table.Set("error", fault.CleanText(failure, 400)))
	}
	done := workqueue.RemoveWork(in.JobID)
	ended := table.Update(refreshKey(in.Org, in.JobID), changes, table.Exists(), table.Lacks("endedAt"))
	err := p.Table.Transact(ctx, ended, done)
	if _, before := errors.AsType[*table.ConditionError](err); before { // ended before, or expired
		_, err = p.Table.Write(ctx, done)
	}
	return fault.Wrap("finish refresh "+in.JobID, err)
}
