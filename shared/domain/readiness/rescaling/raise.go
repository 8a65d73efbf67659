package rescaling

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/autoscaling"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// raise scales the targets of a plan up. The plan is active when all are; when one never will be, it fails.
func (r *Runner) raise(ctx context.Context, in readiness.Input, p *readiness.Plan) (Result, error) {
	kept, err := r.captures(ctx, in)
	if err != nil {
		return Result{}, err
	}
	var out outcome
	if err = each(ctx, p.PolicyIDs(), func(ctx context.Context, policyID string) error {
		t, _ := p.Target(policyID)
		c := kept[policyID]
		return (&raiser{r, in, p, &out}).target(ctx, t, c)
	}); err != nil {
		return Result{}, err
	}
	deadline := clock.Latest(p.Since.Add(raiseTime), p.EventStart)
	switch {
	case len(out.failed) > 0:
		return r.enter(ctx, in, readiness.Report{Status: readiness.Failed, Message: text(out.failed)})
	case out.left() && r.Clock.Now().After(deadline):
		return r.enter(ctx, in, readiness.Report{Status: readiness.Failed, Message: "not scaled up in time: " + text(out.notes)})
	case out.left():
		return Result{At: out.at}, nil
	}
	return r.raisedAll(ctx, in, p)
}

// raisedAll reports that all targets are scaled up, and what they were before.
func (r *Runner) raisedAll(ctx context.Context, in readiness.Input, p *readiness.Plan) (Result, error) {
	kept, err := r.captures(ctx, in)
	if err != nil {
		return Result{}, err
	}
	report := readiness.Report{Status: readiness.Active}
	for _, t := range p.Targets {
		o := kept[t.PolicyID].original()
		report.Targets = append(report.Targets, readiness.Target{PolicyID: t.PolicyID, OriginalMin: o.Min, OriginalMax: o.Max, OriginalDesired: o.Desired})
	}
	return r.enter(ctx, in, report)
}

// raiser is the scaling up of targets of one plan.
type raiser struct {
	*Runner
	in  readiness.Input
	p   *readiness.Plan
	out *outcome
}

func (r *raiser) owner() string { return fmt.Sprintf("up-%d", r.in.Run) }

// target scales one target up, of which c is what is known so far.
func (r *raiser) target(ctx context.Context, t readiness.Target, c capture) error {
	now := r.Clock.Now()
	switch {
	case r.forced(&c), c.State == raised && c.Run == r.in.Run:
		return nil
	case c.lockedFor(r.owner(), now):
		r.out.wait(c.Until, t.PolicyID+": what was begun before is waited for")
		return nil
	}
	conn, err := r.prepare(ctx, t, &c)
	if err == nil {
		var mine bool
		if mine, err = r.begin(ctx, &c); err != nil || !mine {
			return err
		}
		err = r.set(ctx, conn, &c)
	}
	return r.judge(ctx, &c, err)
}

// errGone is a policy that is not there any more.
var errGone = &cloud.Error{Class: cloud.NotFound, Message: "the policy does not exist any more"}

// prepare connects to the target's account and captures how it is scaled now, unless an earlier call did and may have changed it since.
func (r *raiser) prepare(ctx context.Context, t readiness.Target, c *capture) (cloud.Autoscaler, error) {
	fresh := c.Version == 0 || c.State == restored
	c.PlanID, c.PolicyID, c.Run = r.p.ID, t.PolicyID, r.in.Run
	if fresh {
		policy, err := r.policies().Get(ctx, r.in.Org, t.PolicyID)
		if fault.Is(err, fault.NotFound) {
			return nil, errGone
		}
		if err != nil {
			return nil, err
		}
		c.AccountID, c.Target = policy.CloudAccountID, policy.Target
	}
	conn, err := r.Open(ctx, r.in.Org, c.AccountID, c.Target)
	if err != nil {
		return nil, err
	}
	if fresh {
		if c.Original, err = read(ctx, conn, c.Target); err != nil {
			return nil, err
		}
		c.Note, c.Failures, c.LookAt = "", 0, time.Time{}
	}
	c.Wanted, err = r.p.Scaled(t, c.original())
	return conn, err
}

func read(ctx context.Context, conn cloud.Autoscaler, t autoscaling.Target) (cloud.Autoscaling, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return conn.ReadAutoscaling(ctx, t.Type, t.Region, t.UID)
}

// begin writes down what was captured and that a call begins, on the condition that the plan is still being scaled up and nobody else has
// the policy: after a cancellation nothing begins any more, and what began before it can be seen.
func (r *raiser) begin(ctx context.Context, c *capture) (mine bool, err error) {
	c.State = raising
	c.lock(r.owner(), r.Clock.Now())
	own, err := c.write(r.in.Org)
	if err != nil {
		return false, err
	}
	held, err := r.holdWrites(ctx, c)
	if err != nil {
		return false, err
	}
	err = r.Table.Transact(ctx, append([]table.Write{
		table.Check(readiness.Key(r.in.Org, r.p.ID), table.Equal("status", string(readiness.ScalingUp)), table.Equal("run", r.in.Run)),
		own, r.policies().Hold(r.in.Org, c.PolicyID, r.p.ID),
	}, held...)...)
	lost, refused := errors.AsType[*table.ConditionError](err)
	if !refused {
		return err == nil, fault.Wrap("begin to scale "+c.PolicyID, err)
	}
	note := ""
	if _, stopping := lost.Old(4); stopping {
		note = c.PolicyID + ": a stop of it is in flight, which is waited for"
	}
	if _, held := lost.Old(2); held {
		note = c.PolicyID + ": another plan has raised it and not given it back, it is being applied, or it is gone"
	}
	r.out.wait(r.Clock.Now().Add(soon), note)
	return false, nil
}

// set scales the target up and looks whether it is.
func (r *raiser) set(ctx context.Context, conn cloud.Autoscaler, c *capture) error {
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	t, want := c.Target, cloud.Autoscaling{Min: c.Wanted.Min, Max: c.Wanted.Max, Desired: c.Wanted.Desired}
	if err := conn.SetAutoscaling(call, t.Type, t.Region, t.UID, want); err != nil {
		return err
	}
	got, err := read(ctx, conn, t)
	if err != nil {
		return err
	}
	if now := sizeOf(got); !sameBounds(now, c.Wanted) {
		return &cloud.Error{Class: cloud.Moving, Message: fmt.Sprintf("it has %s where %s was set", now, c.Wanted)}
	}
	return nil
}

// judge notes how the scaling up of a target went.
func (r *raiser) judge(ctx context.Context, c *capture, err error) error {
	if err == nil {
		c.State = raised
		return r.note(ctx, c, "")
	}
	if ctx.Err() != nil {
		return fmt.Errorf("scale %s up: %w", c.PolicyID, err)
	}
	why := c.PolicyID + ": " + err.Error()
	switch class := cloud.ClassOf(err); {
	case fault.Is(err, fault.Invalid) && class == cloud.Transient, !class.Retryable():
		r.out.fail(why)
		if c.Until.IsZero() {
			return nil
		}
		return r.note(ctx, c, "") // nothing is under way: it was refused
	case c.Until.IsZero(): // nothing was begun
		r.out.wait(r.Clock.Now().Add(soon), why)
		return nil
	}
	r.out.wait(r.Clock.Now().Add(shortest), why) // it may be under way: the lock ends by itself, or the next call has it again
	return nil
}

// note keeps how a call ended. What another has taken over meanwhile is left to it.
func (r *raiser) note(ctx context.Context, c *capture, note string) error {
	kept, err := r.keep(ctx, r.in.Org, c)
	if err == nil && !kept {
		r.out.wait(r.Clock.Now().Add(time.Second), note)
	}
	return err
}
