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
		return r.enter(ctx, in,
			readiness.Report{Status: readiness.Failed, Message: "not restored in time: " + text(out.notes)})
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
		err = r.Report(ctx, in.Org, in.PlanID,
			readiness.Report{ID: fmt.Sprintf("rolled-back-%d", in.Run), Run: in.Run, Status: p.Status,
				Message: out.rolledBack()})
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
		return (&restorer{Runner: r, in: in, out: out}).target(ctx, kept[id])
	})
}

// restorer gives targets of one plan back.
type restorer struct {
	*Runner
	in     readiness.Input
	out    *outcome
	stopID string // the forced stop that the target is given back for; else empty
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

// restore gives the target back as it was captured, and reports whether it changed something. A target that is exactly so needs nothing; what
// somebody else has changed meanwhile is given back as well, and noted. A target that has 0 instances was stopped meanwhile: it stays so.
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

// isReturned reports whether a target that the provider has taken back is as it was captured. After some tries a size that a rule has moved
// between the bounds will do.
func isReturned(live cloud.Autoscaling, c *capture) bool {
	return readiness.IsRestored(live, c.Original) || c.Failures >= sizeTries && readiness.IsWithin(live, c.Original)
}

// sizeTries is how often the size of a target is set again that has its bounds and another size.
const sizeTries = 3

// giveBack sets what was captured, notes that the provider accepted all of it, and reads whether it is so.
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
		return &cloud.Error{Class: cloud.Moving,
			Message: fmt.Sprintf("it has %s where %s was given back", sizeOf(live), c.original())}
	}
	return r.settleReturned(ctx, c, live)
}

// settleReturned notes of a target that is given back what the plan leaves behind at it.
func (r *restorer) settleReturned(ctx context.Context, c *capture, live cloud.Autoscaling) error {
	if c.Note == "" {
		c.Note = startedNote(c)
	}
	return r.rememberSize(ctx, c, live)
}

// noteChange notes sizes that are neither those that were set nor those that were captured.
func (c *capture) noteChange(live cloud.Autoscaling) {
	now := sizeOf(live)
	if !sameBounds(now, c.Wanted) && !sameBounds(now, c.original()) {
		c.Note = fmt.Sprintf("%s: somebody changed it: it had %s where %s was set; given back %s", c.PolicyID, now,
			c.Wanted, c.original())
	}
}

// startedNote says of a target that the plan started that it goes on running; "" of another one.
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

// leaveStopped leaves a target stopped that somebody stopped while the plan held it. Its next start restores what it was before the plan.
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

// settleTime is how long a provider that sizes a target itself has, after its bounds are given back, to move the size back, too.
const settleTime = time.Hour

// rememberSize keeps the size from before the plan for a stop that comes while the target still has another one: a forced stop, or any stop of a
// target whose provider moves the size back by itself. It writes only then.
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
