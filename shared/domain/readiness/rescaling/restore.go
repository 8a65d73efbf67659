package rescaling

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// lower gives back what a plan raised, whose event is over.
func (r *Runner) lower(ctx context.Context, in readiness.Input, p *readiness.Plan) (Result, error) {
	out, err := r.restoreAll(ctx, in, func(*capture) bool { return true })
	switch {
	case err != nil:
		return Result{}, err
	case out.left() && r.Clock.Now().After(p.Since.Add(restoreTime)):
		return r.enter(ctx, in, readiness.Report{Status: readiness.Failed, Message: "not restored in time: " + text(out.notes)})
	case out.left():
		return Result{At: out.at}, nil
	}
	return r.enter(ctx, in, readiness.Report{Status: readiness.Completed, Message: text(out.notes)})
}

// rollBack gives back what a dispatch applied of a plan that goes no further; p is nil when the plan is gone, or was dispatched again.
func (r *Runner) rollBack(ctx context.Context, in readiness.Input, p *readiness.Plan) (Result, error) {
	out, err := r.restoreAll(ctx, in, func(c *capture) bool { return c.Run <= in.Run })
	if err != nil {
		return Result{}, err
	}
	if out.left() {
		if p != nil && r.Clock.Now().After(p.Since.Add(restoreTime)) {
			return Result{}, fault.New(fault.Unavailable, "not rolled back in time: %s", text(out.notes))
		}
		return Result{At: out.at}, nil
	}
	if p != nil {
		err = r.Report(ctx, in.Org, in.PlanID, readiness.Report{ID: fmt.Sprintf("rolled-back-%d", in.Run), Run: in.Run, Status: p.Status, Message: out.rolledBack()})
		if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
			return Result{}, fmt.Errorf("report the rollback of %s: %w", in.PlanID, err)
		}
		if fault.Is(err, fault.Conflict) {
			return r.in(time.Second), nil // its status has changed: the next step sees to that
		}
	}
	return done, r.forget(ctx, in)
}

// rolledBack says what was rolled back, and what was found then.
func (o *outcome) rolledBack() string {
	if o.touched == 0 {
		return "nothing had been applied"
	}
	s := fmt.Sprintf("rolled back: %d", o.touched)
	if len(o.notes) > 0 {
		s += "; " + text(o.notes)
	}
	return s
}

// restoreAll gives back those of the plan's captured targets that are chosen.
func (r *Runner) restoreAll(ctx context.Context, in readiness.Input, chosen func(*capture) bool) (*outcome, error) {
	kept, err := r.captures(ctx, in)
	if err != nil {
		return nil, err
	}
	var ids []string
	for id, c := range kept {
		if chosen(&c) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	out := &outcome{touched: len(ids)}
	return out, each(ctx, ids, func(ctx context.Context, id string) error {
		return (&restorer{r, in, out}).target(ctx, kept[id])
	})
}

// restorer gives targets of one plan back.
type restorer struct {
	*Runner
	in  readiness.Input
	out *outcome
}

func (r *restorer) owner() string { return fmt.Sprintf("down-%d", r.in.Run) }

// target gives back what one target was.
func (r *restorer) target(ctx context.Context, c capture) error {
	now := r.Clock.Now()
	if r.passesOver(&c, now) {
		return nil
	}
	looked := c.State == restoring && c.Until.IsZero() && !c.LookAt.IsZero() // the second look is due
	c.State = restoring
	c.lock(r.owner(), now)
	if mine, err := r.begin(ctx, &c); err != nil || !mine {
		return err
	}
	changed, err := r.restore(ctx, &c)
	if err == nil && looked && !changed {
		c.LookAt = time.Time{}
	}
	return r.judge(ctx, &c, err)
}

// passesOver reports whether there is nothing to do to a target now: it is restored, somebody is calling, or its time has not come.
func (r *restorer) passesOver(c *capture, now time.Time) bool {
	switch {
	case c.State == restored:
		r.out.found(c.Note)
	case c.lockedFor(r.owner(), now):
		r.out.wait(c.Until, c.PolicyID+": what was begun before is waited for")
	case c.State == restoring && c.Until.IsZero() && c.LookAt.After(now):
		r.out.wait(c.LookAt, "")
	default:
		return false
	}
	return true
}

// begin writes down that a call begins.
func (r *restorer) begin(ctx context.Context, c *capture) (bool, error) {
	mine, err := r.store(ctx, r.in.Org, c)
	if err == nil && !mine {
		r.out.wait(r.Clock.Now().Add(time.Second), "")
	}
	return mine, err
}

// restore decides by how the target is now. What is as it was needs nothing; what is as it was set is given back; and so is what somebody
// else has changed meanwhile, which is noted.
func (r *restorer) restore(ctx context.Context, c *capture) (changed bool, err error) {
	conn, err := r.Open(ctx, r.in.Org, c.AccountID, c.Target)
	if err != nil {
		return false, err
	}
	got, err := read(ctx, conn, c.Target)
	if err != nil {
		return false, err
	}
	now := sizeOf(got)
	if sameBounds(now, c.original()) {
		return false, nil
	}
	if !sameBounds(now, c.Wanted) {
		c.Note = fmt.Sprintf("%s: somebody changed it: it had %s where %s was set; given back %s", c.PolicyID, now, c.Wanted, c.original())
	}
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if err = conn.SetAutoscaling(call, c.Target.Type, c.Target.Region, c.Target.UID, c.Original); err != nil {
		return true, err
	}
	if got, err = read(ctx, conn, c.Target); err != nil {
		return true, err
	}
	if now = sizeOf(got); !sameBounds(now, c.original()) {
		return true, &cloud.Error{Class: cloud.Moving, Message: fmt.Sprintf("it has %s where %s was given back", now, c.original())}
	}
	return true, nil
}

// judge notes how the restoring of a target went.
func (r *restorer) judge(ctx context.Context, c *capture, err error) error {
	now := r.Clock.Now()
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("restore %s: %w", c.PolicyID, err)
	case cloud.ClassOf(err) == cloud.NotFound:
		c.Note = c.PolicyID + ": it does not exist any more"
	case err != nil:
		c.Failures++
		c.LookAt = clock.Latest(c.LookAt, now.Add(pause(c.Failures)))
		r.out.wait(c.LookAt, c.PolicyID+": "+err.Error())
		_, err = r.keep(ctx, r.in.Org, c)
		return err
	case c.LookAt.After(now):
		r.out.wait(c.LookAt, "")
		_, err = r.keep(ctx, r.in.Org, c)
		return err
	}
	c.State, c.LookAt, c.Failures, c.ends = restored, time.Time{}, 0, now.Add(keepRestored)
	return r.free(ctx, c)
}

// pause returns how long to wait after so many calls that failed.
func pause(failures int) time.Duration {
	return min(shortest<<min(failures-1, 10), longest)
}

// free notes that a target is restored, and that its policy is held no more. A policy that was deleted holds nothing.
func (r *restorer) free(ctx context.Context, c *capture) error {
	r.out.found(c.Note)
	version := c.Version
	ctx, held, err := r.releaseWrites(ctx, c)
	if err != nil {
		return err
	}
	kept, err := r.keep(ctx, r.in.Org, c, append([]table.Write{r.policies().Release(r.in.Org, c.PolicyID, c.PlanID)}, held...)...)
	if err == nil && !kept {
		c.Version = version
		kept, err = r.keep(ctx, r.in.Org, c, held...)
	}
	if err == nil && !kept {
		r.out.wait(r.Clock.Now().Add(time.Second), "")
	}
	return err
}
