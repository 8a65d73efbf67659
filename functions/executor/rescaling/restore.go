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

// lower gives back the capacity that a plan has raised, after its event.
func (r *Runner) lower(ctx context.Context, in readiness.Input, p *readiness.Plan) (Result, error) {
	out, err := r.restoreAll(ctx, in, func(*capture) bool { return true })
	switch {
	case err != nil:
		return Result{}, err
	case out.left() && r.Clock.Now().After(p.Since.Add(restoreTime)):
		return r.enter(ctx, in,
			readiness.Report{Status: readiness.Failed, Message: "not restored in time: " + text(out.notes)})
	case out.left():
		return Result{At: out.at}, nil
	}
	return r.enter(ctx, in, readiness.Report{Status: readiness.Completed, Message: text(out.notes)})
}

// rollBack gives back everything applied by a dispatch of a plan that was ended early. p is nil if the plan is gone,
// or was dispatched again.
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
		err = r.Report(ctx, in.Org, in.PlanID,
			readiness.Report{
				ID: fmt.Sprintf("rolled-back-%d", in.Run), Run: in.Run, Status: p.Status,
				Message: out.rolledBack(),
			})
		if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
			return Result{}, fmt.Errorf("report the rollback of %s: %w", in.PlanID, err)
		}
		if fault.Is(err, fault.Conflict) {
			return r.in(time.Second), nil // its status has changed: the next step sees to that
		}
	}
	return done, r.forget(ctx, in)
}

// rolledBack describes the targets that were given back, and the findings at them.
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

// restoreAll gives back the chosen targets of a plan.
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
		return (&restorer{Runner: r, in: in, out: out}).target(ctx, kept[id])
	})
}

// restorer gives back targets of one plan.
type restorer struct {
	*Runner
	in     readiness.Input
	out    *outcome
	stopID string // the forced stop that the target is given back for; else empty
}

func (r *restorer) owner() string { return fmt.Sprintf("down-%d", r.in.Run) }

// target gives one target its original capacity back.
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

// passesOver reports whether there is nothing to do to a target now: it is restored, another process is calling its
// cloud, or its time has not come.
func (r *restorer) passesOver(c *capture, now time.Time) bool {
	switch {
	case c.State == restored:
		r.out.found(c.Note)
	case c.lockedFor(r.owner(), now):
		r.out.wait(c.Until, c.PolicyID+": waiting for an earlier call to end")
	case c.State == restoring && c.Until.IsZero() && c.LookAt.After(now):
		r.out.wait(c.LookAt, "")
	default:
		return false
	}
	return true
}

// begin stores the begin of a call.
func (r *restorer) begin(ctx context.Context, c *capture) (bool, error) {
	mine, err := r.store(ctx, r.in.Org, c)
	if err == nil && !mine {
		r.out.wait(r.Clock.Now().Add(time.Second), "")
	}
	return mine, err
}

// restore gives the target its captured scaling back, and reports whether it changed something. A target with exactly
// that scaling needs nothing. Changes by others are overwritten, too, and recorded. A target that has 0 instances was
// stopped meanwhile and stays stopped.
func (r *restorer) restore(ctx context.Context, c *capture) (changed bool, err error) {
	if c.State == restoring && c.Original.RunsNothing() {
		c.Note = startedNote(c)
		return false, nil
	}
	g, err := r.Open(ctx, r.in.Org, c.AccountID, c.Target)
	if err != nil {
		return false, err
	}
	live, err := read(ctx, g, c.Target)
	switch {
	case err != nil:
		return false, err
	case live.RunsNothing():
		return false, r.leaveStopped(ctx, g, c)
	case c.Returned && isReturned(live, c), !c.Returned && readiness.IsUntouched(live, c.Original):
		return false, r.settleReturned(ctx, c, live)
	}
	c.noteChange(live)
	return true, r.giveBack(ctx, g, c)
}

// isReturned reports whether a restored target has its captured scaling. After some tries, a size that a rule has
// moved between the bounds is accepted.
func isReturned(live cloud.Autoscaling, c *capture) bool {
	return readiness.IsRestored(live, c.Original) || c.Failures >= sizeTries && readiness.IsWithin(live, c.Original)
}

// sizeTries is how often the size of a target with the right bounds is set again.
const sizeTries = 3

// giveBack sets the captured scaling, records that the provider accepted all of it, and reads the result.
func (r *restorer) giveBack(ctx context.Context, g Group, c *capture) error {
	c.Returned = false
	if err := setSizes(ctx, g, c.Target, c.Original); err != nil {
		return err
	}
	c.Returned = true
	live, err := read(ctx, g, c.Target)
	if err != nil {
		return err
	}
	if !isReturned(live, c) {
		return &cloud.Error{
			Class:   cloud.Moving,
			Message: fmt.Sprintf("it has %s where %s was given back", sizeOf(live), c.original()),
		}
	}
	return r.settleReturned(ctx, c, live)
}

// settleReturned records the remaining effects of the plan on a restored target.
func (r *restorer) settleReturned(ctx context.Context, c *capture, live cloud.Autoscaling) error {
	if c.Note == "" {
		c.Note = startedNote(c)
	}
	return r.rememberSize(ctx, c, live)
}

// noteChange records sizes that are neither the planned nor the captured ones.
func (c *capture) noteChange(live cloud.Autoscaling) {
	now := sizeOf(live)
	if !sameBounds(now, c.Wanted) && !sameBounds(now, c.original()) {
		c.Note = fmt.Sprintf("%s: somebody changed it: it had %s where %s was set; given back %s", c.PolicyID, now,
			c.Wanted, c.original())
	}
}

// startedNote says that a target started by the plan continues to run, or returns "" for another target.
func startedNote(c *capture) string {
	switch {
	case !c.Started:
		return ""
	case c.Original.RunsNothing():
		return c.PolicyID + ": it had 0 instances; the plan had it started, and leaves it running"
	}
	return fmt.Sprintf("%s: it had 0 instances; the plan had it started, and leaves it running with %s", c.PolicyID,
		c.original())
}

// leaveStopped keeps a target stopped that somebody stopped while the plan held it. Its next start restores its
// capacity from before the plan.
func (r *restorer) leaveStopped(ctx context.Context, g Group, c *capture) error {
	c.Note = fmt.Sprintf("%s: somebody stopped it: it is left at 0 instances; before the plan it had %s", c.PolicyID,
		c.original())
	bounds := c.Original
	bounds.KeepStopped = true
	if err := setSizes(ctx, g, c.Target, bounds); err != nil || len(c.Snapshot) == 0 {
		return err
	}
	return r.Starter.Remember(ctx, Memory{Org: r.in.Org, Target: c.Target, Snapshot: c.Snapshot})
}

// settleTime is how long a provider that sizes a target itself may take to move the size back after its bounds were
// restored.
const settleTime = time.Hour

// rememberSize stores the size from before the plan for a stop while the target still has another size: a forced
// stop, or any stop of a target whose provider moves the size back by itself. Otherwise it writes nothing.
func (r *restorer) rememberSize(ctx context.Context, c *capture, live cloud.Autoscaling) error {
	m := Memory{Org: r.in.Org, Target: c.Target, Snapshot: c.Snapshot, ActionID: r.stopID}
	switch {
	case len(c.Snapshot) == 0:
		return nil
	case r.stopID != "":
	case live.SizedByProvider && live.Desired > c.Original.Desired:
		m.KeepUntil = r.Clock.Now().Add(settleTime)
	default:
		return nil
	}
	return r.Starter.Remember(ctx, m)
}

// judge records the result of restoring a target.
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

// pause returns the pause after the given number of failed calls.
func pause(failures int) time.Duration {
	return min(shortest<<min(failures-1, 10), longest)
}

// free records that a target is restored and its policy is no longer held. A deleted policy holds nothing.
func (r *restorer) free(ctx context.Context, c *capture) error {
	r.out.found(c.Note)
	version := c.Version
	ctx, held, err := r.releaseWrites(ctx, c)
	if err != nil {
		return err
	}
	kept, err := r.keep(ctx, r.in.Org, c,
		append([]table.Write{r.policies().Release(r.in.Org, c.PolicyID, c.PlanID)}, held...)...)
	if err == nil && !kept {
		c.Version = version
		kept, err = r.keep(ctx, r.in.Org, c, held...)
	}
	if err == nil && !kept {
		r.out.wait(r.Clock.Now().Add(time.Second), "")
	}
	return err
}
