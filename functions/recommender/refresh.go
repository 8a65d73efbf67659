package recommender

import (
	"context"
	"errors"

	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
)

// Progress says whether an evaluation has ended. If not, its Shares must be evaluated if it is Split, and its task must
// be run again, else after WaitSeconds.
type Progress struct {
	Done        bool         `json:"done"`
	WaitSeconds int          `json:"waitSeconds"`
	Split       bool         `json:"split"`
	Shares      []ShareInput `json:"shares"`
}

// overtakenSeconds is how long a task waits that another process works on.
const overtakenSeconds = 10

// overtaken reports whether another process works on the same pass.
func overtaken(err error) bool { return errors.Is(err, errOvertaken) }

// refresh evaluates everything for a refresh or a daily pass, as far as the time of a run allows, or a plan of the
// rules. A large organization is evaluated in shares.
func (w *worker) refresh(ctx context.Context, in recommendation.RefreshInput) (Progress, error) {
	if in.Plan {
		return w.planRules(ctx, in)
	}
	ctx = table.WithOrg(ctx, in.Org)
	r, current, err := w.openJob(ctx, in)
	if err != nil {
		return Progress{}, err
	}
	if current {
		got, err := r.advance(ctx, in)
		if overtaken(err) {
			return Progress{WaitSeconds: overtakenSeconds}, nil
		}
		if err != nil || !got.Done {
			return got, err
		}
	}
	return Progress{Done: true}, recommendation.FinishRefresh(ctx, w.Platform, in, r.state.Settled, "")
}

// advance begins or continues the pass of a job.
func (r *runner) advance(ctx context.Context, in recommendation.RefreshInput) (Progress, error) {
	if r.state.ID == "" {
		accounts, err := r.inventory.ListAccounts(ctx, r.org)
		if err != nil {
			return Progress{}, err
		}
		r.prepare(in.JobID, dayOf(r.Clock.Now()))
		r.state.Shares = r.countShares(accounts)
		if err = r.save(ctx); err != nil {
			return Progress{}, err
		}
	}
	switch {
	case r.state.Ended:
		return Progress{Done: true}, nil
	case r.state.Shares > 0:
		return r.advanceShares(ctx, in)
	}
	ended, err := r.runWhole(ctx)
	return Progress{Done: ended, WaitSeconds: 1}, err
}
