package recommender

import (
	"context"
	"errors"

	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
)

// Progress says whether a refresh has ended; else its task must be run again after WaitSeconds.
type Progress struct {
	Done        bool `json:"done"`
	WaitSeconds int  `json:"waitSeconds"`
}

// refresh evaluates everything for a refresh, as far as the time of a run allows, or a plan of the rules.
func (w *worker) refresh(ctx context.Context, in recommendation.RefreshInput) (Progress, error) {
	if in.Plan {
		return w.planRules(ctx, in)
	}
	ctx = table.WithOrg(ctx, in.Org)
	r, err := w.open(ctx, in.Org, in.JobID, w.Clock.Now().Add(stretch))
	if err != nil {
		return Progress{}, err
	}
	if r.state.ID == "" {
		err = r.begin(ctx, in.JobID, dayOf(w.Clock.Now()))
	}
	ended := r.state.Ended
	if err == nil && !ended {
		ended, err = r.runWhole(ctx)
	}
	switch {
	case errors.Is(err, errOvertaken):
		return Progress{WaitSeconds: 10}, nil
	case err != nil || !ended:
		return Progress{WaitSeconds: 1}, err
	}
	return Progress{Done: true}, recommendation.FinishRefresh(ctx, w.Platform, in, r.state.Settled, "")
}
