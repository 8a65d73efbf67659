package recommender

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// resourcesPerShare is how many resources one process evaluates. A pass over more is divided into shares, which the
// machine recommendation.Machine evaluates side by side.
const resourcesPerShare = 20_000

// maxShares is the maximum number of shares of a pass. The machine evaluates at most 8 beside each other: of a pass
// with more, the others follow as these end.
const maxShares = inventory.ResourceShards

// accountsShare is the share that evaluates the rules about accounts. It is evaluated alone, before the others: it
// deducts open recommendations as waste, and others would change them meanwhile. Shares of records count from 1.
const accountsShare = 0

// countShares returns the number of shares of a pass over accounts, or 0 if one process evaluates everything.
func (w *worker) countShares(accounts []inventory.Account) int {
	resources := 0
	for i := range accounts {
		resources += accounts[i].ResourceCount
	}
	if resources <= w.perShare {
		return 0
	}
	return min((resources+w.perShare-1)/w.perShare, maxShares)
}

// partsOfShare returns the parts of one of a number of shares.
func partsOfShare(share, shares int) (out partSet) {
	if share == accountsShare {
		return 1 << accountsPart
	}
	for shard := share - 1; shard < inventory.ResourceShards; shard += shares {
		out |= 1 << shard
	}
	return out
}

// ShareInput is the input of the task share: one share of a divided pass. Its result says whether the share has ended;
// else the task must be run again after WaitSeconds.
type ShareInput struct {
	recommendation.RefreshInput
	Share       int  `json:"share"`
	Done        bool `json:"done"`
	WaitSeconds int  `json:"waitSeconds"`
}

// openJob reads the state of the pass that an execution of the machine evaluates: of a refresh, or of a daily pass. It
// returns false for a daily pass that another one has replaced.
func (w *worker) openJob(ctx context.Context, in recommendation.RefreshInput) (*runner, bool, error) {
	until := w.Clock.Now().Add(stretch)
	if in.Daily {
		r, err := w.open(ctx, in.Org, "", until)
		return r, err != nil || r.state.Job == in.JobID, err
	}
	r, err := w.open(ctx, in.Org, in.JobID, until)
	return r, true, err
}

// underWay reports whether a whole pass is being evaluated, and may be continued.
func (r *runner) underWay() bool {
	s := &r.state
	lost := s.Job != "" && (s.Failed != "" || r.Clock.Now().Sub(s.At) >= recommendation.LostRefresh)
	return s.ID != "" && s.Whole && !s.Ended && !lost
}

// startDivided begins a daily pass that the machine evaluates in shares.
func (r *runner) startDivided(ctx context.Context, marks string, shares int) error {
	in := recommendation.RefreshInput{Org: r.org, JobID: id.New("job", r.Clock.Now()), Daily: true}
	listed, start, err := recommendation.StartDaily(r.Platform, in, r.Clock.Now())
	if err != nil {
		return err
	}
	r.prepare("day-"+r.Clock.Now().UTC().Format(time.RFC3339), marks)
	r.state.Job, r.state.Shares = in.JobID, shares
	if err = r.save(ctx, listed); err == nil {
		start(ctx)
	}
	return err
}

// advanceShares returns the shares that are left of a divided pass, or ends it if there are none.
func (r *runner) advanceShares(ctx context.Context, in recommendation.RefreshInput) (Progress, error) {
	states, err := r.readShares(ctx, in.JobID)
	if err != nil {
		return Progress{}, err
	}
	if s := states[accountsShare]; !s.Ended {
		return Progress{Split: true, Shares: []ShareInput{{RefreshInput: in, Share: accountsShare}}}, nil
	}
	var left []ShareInput
	for share := range states {
		if !states[share].Ended {
			left = append(left, ShareInput{RefreshInput: in, Share: share})
		}
	}
	if len(left) > 0 {
		return Progress{Split: true, Shares: left}, nil
	}
	for _, s := range states {
		r.state.Settled.Add(s.Settled)
	}
	if err = r.end(ctx); err != nil {
		return Progress{}, err
	}
	return Progress{Done: true}, r.save(ctx)
}

// readShares reads the states of all shares of the pass; those that have not begun are empty.
func (r *runner) readShares(ctx context.Context, jobID string) ([]pass, error) {
	out := make([]pass, r.state.Shares+1)
	keys := make([]table.Key, len(out))
	for share := range keys {
		keys[share] = recommendation.ShareKey(r.org, jobID, share)
	}
	got, err := r.Table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read the shares of the pass of %s: %w", r.org, err)
	}
	for share, k := range keys {
		it, begun := got[k]
		if !begun {
			continue
		}
		if out[share], err = table.Decode[pass](it); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// evaluateShare evaluates one share of a divided pass, as far as the time of a run allows.
func (w *worker) evaluateShare(ctx context.Context, in ShareInput) (ShareInput, error) {
	ctx = table.WithOrg(ctx, in.Org)
	in.Done, in.WaitSeconds = false, 1
	whole, current, err := w.openJob(ctx, in.RefreshInput)
	if err != nil {
		return in, err
	}
	if !current || whole.state.Ended {
		in.Done = true
		return in, nil
	}
	r, err := w.openAt(ctx, in.Org, recommendation.ShareKey(in.Org, in.JobID, in.Share), whole.until)
	if err != nil {
		return in, err
	}
	if r.parts = partsOfShare(in.Share, whole.state.Shares); r.state.ID == "" {
		r.state = pass{ID: whole.state.ID, At: whole.state.At, Whole: true}
	}
	if in.Done = r.state.Ended; !in.Done {
		in.Done, err = r.runWhole(ctx)
	}
	if overtaken(err) {
		in.WaitSeconds, err = overtakenSeconds, nil
	}
	return in, err
}

// giveUp records why the machine has given up a daily pass, so that the next hour begins another one.
func (w *worker) giveUp(ctx context.Context, in recommendation.RefreshInput, why string) error {
	ctx = table.WithOrg(ctx, in.Org)
	done := workqueue.RemoveWork(in.JobID)
	r, current, err := w.openJob(ctx, in)
	if err != nil {
		return err
	}
	if current && !r.state.Ended {
		r.state.Failed = fault.CleanText(why, 400)
		return r.save(ctx, done)
	}
	_, err = w.Table.Write(table.Within(ctx, workqueue.Prefix), done)
	return fault.Wrap("remove the work of the pass of "+in.Org, err)
}
