package remediating

import (
	"cmp"
	"context"
	"time"

	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/foundation/fault"
)

// cancelLatency is how long a cancellation waits at most until a target that is watched is given back.
const cancelLatency = time.Minute

// watch validates a target: it still has the wanted state when its time is over.
func (r *Runner) watch(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	t := &w.Targets[i]
	if left := t.ReachedAt.Add(t.Plan.Watch).Sub(r.Clock.Now()); left > 0 {
		return r.Clock.Now().Add(min(left, cancelLatency)), nil
	}
	ch, err := r.of(ctx, w, i)
	if err != nil {
		return time.Time{}, err
	}
	p, err := ch.look(ctx)
	switch {
	case err != nil && !isRefused(err):
		return time.Time{}, err
	case err != nil:
		p = progress{broken: "validation: " + reasonOf(err)}
	}
	if p.broken != "" {
		return time.Time{}, r.save(ctx, w, i, editBroken(p))
	}
	if err = r.settle(ctx, w, t, recommendation.Applied, "remediation workflow "+w.ID+" carried it out"); err != nil {
		return time.Time{}, err
	}
	return time.Time{}, r.set(ctx, w, i, remediation.Done, "")
}

// settle changes the status of a target's recommendation. One that has ended meanwhile stays as it is.
func (r *Runner) settle(ctx context.Context, w *remediation.Workflow, t *remediation.Target, to recommendation.Status,
	why string,
) error {
	row, err := r.Recommendations.Read(ctx, w.Org, t.RecID)
	if fault.Is(err, fault.NotFound) ||
		err == nil && to == recommendation.Open && row.Status != recommendation.Applied {
		return nil
	}
	if err != nil {
		return err
	}
	_, _, err = r.Recommendations.Decide(ctx, w.Org, t.RecID, recommendation.Decision{
		Status: to, By: cmp.Or(w.Approver.Email, w.Requester.Email), Why: why, At: r.Clock.Now(),
	})
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return fault.Wrap("settle recommendation "+t.RecID, err)
}
