package rescaling

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// raise scales up the targets of a plan. The plan is active when each target has its planned capacity in service.
func (r *Runner) raise(ctx context.Context, in readiness.Input, p *readiness.Plan) (Result, error) {
	kept, err := r.captures(ctx, in)
	if err != nil {
		return Result{}, err
	}
	obstacles, err := r.obstacles(ctx, in, p, kept)
	if err != nil {
		return Result{}, err
	}
	var out outcome
	if err = each(ctx, p.PolicyIDs(), func(ctx context.Context, policyID string) error {
		t, _ := p.Target(policyID)
		c := kept[policyID]
		return (&raiser{r, in, p, obstacles, &out}).target(ctx, t, c)
	}); err != nil {
		return Result{}, err
	}
	return r.decideRaise(ctx, in, p, &out)
}

// decideRaise decides the next step of a plan from the results of its targets. A missing target is retried until the
// event is over, and the others stay raised, unless the organization wants all targets or none.
func (r *Runner) decideRaise(ctx context.Context, in readiness.Input, p *readiness.Plan, out *outcome) (Result, error) {
	now := r.Clock.Now()
	late := now.After(clock.Latest(p.Since.Add(raiseTime), p.EventStart))
	switch {
	case !out.left():
		return r.raisedAll(ctx, in, p)
	case len(out.failed) == len(p.Targets):
		return r.enter(ctx, in, readiness.Report{Status: readiness.Failed, Message: text(out.failed)})
	case !now.Before(p.ScaleDownAt()):
		return r.enter(ctx, in,
			readiness.Report{
				Status: readiness.Failed,
				Message: "these targets did not have their planned capacity until the event was over: " +
					text(out.notes),
			})
	case !late && len(out.failed) == 0 && out.obstructed == 0:
		return Result{At: clock.Earliest(out.at, p.ScaleDownAt())}, nil
	}
	if fails, err := r.failsWhole(ctx, in, out, late); err != nil || fails != "" {
		if err != nil {
			return Result{}, err
		}
		return r.enter(ctx, in, readiness.Report{Status: readiness.Failed, Message: fails})
	}
	return Result{At: clock.Earliest(out.at, p.ScaleDownAt())}, r.reportMissing(ctx, in, p, out)
}

// failsWhole returns why the plan fails with the missing targets if the organization wants all targets or none, else
// "".
func (r *Runner) failsWhole(ctx context.Context, in readiness.Input, out *outcome, late bool) (string, error) {
	if len(out.failed) == 0 && !late {
		return "", nil
	}
	whole, err := r.allOrNothing(ctx, in.Org)
	switch {
	case err != nil || !whole:
		return "", err
	case len(out.failed) > 0:
		return text(out.failed), nil
	}
	return "not scaled up in time: " + text(out.notes), nil
}

// raisedAll reports that all targets have their planned capacity, and their original capacity.
func (r *Runner) raisedAll(ctx context.Context, in readiness.Input, p *readiness.Plan) (Result, error) {
	kept, err := r.captures(ctx, in)
	if err != nil {
		return Result{}, err
	}
	report := readiness.Report{Status: readiness.Active}
	for _, t := range p.Targets {
		o := kept[t.PolicyID].original()
		report.Targets = append(report.Targets,
			readiness.Target{PolicyID: t.PolicyID, OriginalMin: o.Min, OriginalMax: o.Max, OriginalDesired: o.Desired})
	}
	return r.enter(ctx, in, report)
}

// raiser scales up targets of one plan.
type raiser struct {
	*Runner
	in        readiness.Input
	p         *readiness.Plan
	obstacles map[string]string // by policy
	out       *outcome
}

func (r *raiser) owner() string { return fmt.Sprintf("up-%d", r.in.Run) }

// retryAt returns when a missing target is retried: after an eighth of the time that the plan has tried, 5 seconds to
// 10 minutes, and each hour after a day.
func (r *raiser) retryAt() time.Time {
	now := r.Clock.Now()
	tried := now.Sub(r.p.Since)
	if tried > 24*time.Hour {
		return now.Add(hourly)
	}
	return now.Add(min(max(tried/8, soon), longest))
}

// target scales up one target. c is its capture.
func (r *raiser) target(ctx context.Context, t readiness.Target, c capture) error {
	why := r.obstacles[t.PolicyID]
	switch {
	case r.forced(&c), c.State == raised && c.Run == r.in.Run:
		return nil
	case c.lockedFor(r.owner(), r.Clock.Now()):
		r.out.wait(c.Until, t.PolicyID+": waiting for an earlier call to end")
		return nil
	case why != "":
		r.out.obstruct(r.retryAt(), t.PolicyID+": "+why)
		return nil
	case !c.isOf(r.in.Run) && !r.Clock.Now().Before(r.p.ScaleDownAt()):
		r.out.wait(r.retryAt(), r.missedBecause(t.PolicyID))
		return nil
	}
	return r.judge(ctx, &c, r.advanceTarget(ctx, t, &c))
}

// missedBecause returns why a target was not raised before the event was over: the plan's last report, if that names
// the target.
func (r *raiser) missedBecause(policyID string) string {
	why, reported := strings.CutPrefix(r.p.Message, missingPrefix)
	if reported && strings.Contains(why, policyID+": ") {
		return why
	}
	return policyID + ": it could be raised only when the event was over"
}

// advanceTarget takes a target one step closer to its planned capacity: it starts a stopped target, sets the sizes,
// and checks whether all instances are in service. It returns nil when they are.
func (r *raiser) advanceTarget(ctx context.Context, t readiness.Target, c *capture) error {
	g, err := r.prepare(ctx, t, c)
	if err != nil {
		return err
	}
	live, err := read(ctx, g, c.Target)
	if err != nil {
		return err
	}
	if live.RunsNothing() || c.StartID != "" {
		return r.start(ctx, c)
	}
	if err = r.record(ctx, g, c, live); err != nil {
		return err
	}
	if c.Wanted, err = r.p.Scaled(t, c.original()); err != nil {
		return err
	}
	if !c.hasSizes(live) || c.State != raising || c.Run != r.in.Run {
		if live, err = r.set(ctx, g, c); err != nil {
			return err
		}
	}
	return inService(ctx, g, c, live)
}

// These are errors of targets: the policy no longer exists, and another process has taken over the target.
var (
	errGone  = &cloud.Error{Class: cloud.NotFound, Message: "the policy does not exist any more"}
	errTaken = errors.New("somebody else has taken the target over")
)

// prepare connects to the target's account.
func (r *raiser) prepare(ctx context.Context, t readiness.Target, c *capture) (Group, error) {
	c.PlanID, c.PolicyID = r.p.ID, t.PolicyID
	if c.Version == 0 || c.State == restored {
		policy, err := r.policies().Get(ctx, r.in.Org, t.PolicyID)
		if fault.Is(err, fault.NotFound) {
			return nil, errGone
		}
		if err != nil {
			return nil, err
		}
		c.AccountID, c.Target = policy.CloudAccountID, policy.Target
	}
	return r.Open(ctx, r.in.Org, c.AccountID, c.Target)
}

// record captures the scaling of the target, unless an earlier call did that and may have changed the target since. A
// size of 0 is never captured.
func (r *raiser) record(ctx context.Context, g Group, c *capture, live cloud.Autoscaling) error {
	if c.isRecorded() {
		return nil
	}
	states, err := readStates(ctx, g, c.Target)
	if err != nil {
		return err
	}
	if c.State != starting {
		c.Started = false
	}
	c.Original, c.Snapshot, c.Returned, c.Note, c.Failures, c.LookAt = live, nil, false, "", 0, time.Time{}
	if len(states) == 1 {
		c.Snapshot = states[0].Snapshot
	}
	return nil
}

func read(ctx context.Context, g Group, t readiness.PolicyTarget) (cloud.Autoscaling, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return g.ReadAutoscaling(ctx, t.Type, t.Region, t.UID)
}

func readStates(ctx context.Context, g Group, t readiness.PolicyTarget) ([]cloud.State, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return g.Read(ctx, t.Type, t.Region, []string{t.UID})
}

// begin stores the capture and the begin of a call. Its condition is that the plan is still being scaled up and no
// other plan has the policy: after a cancellation no call begins, and an earlier call can be seen.
func (r *raiser) begin(ctx context.Context, c *capture) (mine bool, err error) {
	c.Run = r.in.Run
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
		table.Check(readiness.Key(r.in.Org, r.p.ID), table.Equal("status", string(readiness.ScalingUp)),
			table.Equal("run", r.in.Run)),
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
	r.out.wait(r.retryAt(), note)
	return false, nil
}

// start asks the executor to start a target that has 0 instances. The start restores the size from before the target
// was stopped. It returns an error that describes the progress of the start.
func (r *raiser) start(ctx context.Context, c *capture) error {
	if c.StartID == "" {
		if !c.isRecorded() {
			c.State = starting
		}
		c.Started = true // from before the start on: a process may die before it learns of the action
		if mine, err := r.begin(ctx, c); err != nil || !mine {
			return orTaken(err)
		}
	}
	got, err := r.Starter.Start(ctx, StartRequest{Org: r.in.Org, PlanID: r.p.ID, Target: c.Target, ActionID: c.StartID})
	if err != nil {
		return r.cannotStart(ctx, c, err)
	}
	c.StartID = got.ActionID
	moving := &cloud.Error{
		Class:   cloud.Moving,
		Message: "it had 0 instances and is being started by action " + got.ActionID,
	}
	if got.Ended {
		c.StartID = ""
	}
	if err = r.note(ctx, c); err == nil && got.Error != "" {
		return &startError{"it has 0 instances, and action " + got.ActionID + " could not start it: " + got.Error}
	}
	if err != nil {
		return err
	}
	return moving
}

// startError is the reason a target with 0 instances was not started.
type startError struct{ message string }

// Error returns the reason.
func (e *startError) Error() string { return e.message }

// cannotStart records that no start was begun. Only an answer of the executor proves that.
func (r *raiser) cannotStart(ctx context.Context, c *capture, err error) error {
	if kind := fault.KindOf(err); kind == fault.Internal || kind == fault.Unavailable {
		return err
	}
	c.Started = false
	if noted := r.note(ctx, c); noted != nil {
		return noted
	}
	return &startError{"it has 0 instances, and cannot be started: " + fault.Message(err)}
}

// orTaken returns err, or errTaken if err is nil.
func orTaken(err error) error {
	if err != nil {
		return err
	}
	return errTaken
}

// set scales the target up, records the provider's acceptance, and reads the scaling afterwards.
func (r *raiser) set(ctx context.Context, g Group, c *capture) (cloud.Autoscaling, error) {
	c.State, c.Returned = raising, false
	if mine, err := r.begin(ctx, c); err != nil || !mine {
		return cloud.Autoscaling{}, orTaken(err)
	}
	t, want := c.Target, cloud.Autoscaling{Min: c.Wanted.Min, Max: c.Wanted.Max, Desired: c.Wanted.Desired}
	if err := setSizes(ctx, g, t, want); err != nil {
		return cloud.Autoscaling{}, err
	}
	if err := r.note(ctx, c); err != nil {
		return cloud.Autoscaling{}, err
	}
	return read(ctx, g, t)
}

func setSizes(ctx context.Context, g Group, t readiness.PolicyTarget, want cloud.Autoscaling) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return g.SetAutoscaling(ctx, t.Type, t.Region, t.UID, want)
}

// inService returns nil if a target has its planned sizes and all of its instances are in service. Otherwise it returns
// an error with the sizes and the state of the target.
func inService(ctx context.Context, g Group, c *capture, live cloud.Autoscaling) error {
	now := sizeOf(live)
	if !sameBounds(now, c.Wanted) || now.Desired < c.Wanted.Desired {
		return &cloud.Error{Class: cloud.Moving, Message: fmt.Sprintf("it has %s where %s was set", now, c.Wanted)}
	}
	states, err := readStates(ctx, g, c.Target)
	switch {
	case err != nil:
		return err
	case len(states) != 1:
		return &cloud.Error{Class: cloud.NotFound, Message: "it does not exist any more"}
	case states[0].Status != cloud.Running:
		return &cloud.Error{
			Class:   cloud.Moving,
			Message: "it has " + now.String() + ", and not all instances are in service: " + stateText(states[0]),
		}
	}
	return nil
}

// stateText returns a state in the provider's terms.
func stateText(s cloud.State) string {
	if s.Reason != "" {
		return s.Reason
	}
	return "it is " + string(s.Status)
}

// judge records the result of scaling up a target.
func (r *raiser) judge(ctx context.Context, c *capture, err error) error {
	if err == nil {
		c.State = raised
		err = r.note(ctx, c)
	}
	_, unstarted := errors.AsType[*startError](err)
	switch class := cloud.ClassOf(err); {
	case err == nil, errors.Is(err, errTaken): // when it is looked at again is noted
	case ctx.Err() != nil:
		return fmt.Errorf("scale %s up: %w", c.PolicyID, err)
	case unstarted:
		r.out.obstruct(r.retryAt(), c.PolicyID+": "+reasonOf(err))
	case isRefusal(err, class):
		r.out.fail(r.retryAt(), c.PolicyID+": "+reasonOf(err))
		return r.unlock(ctx, c) // nothing is under way: it was refused
	default: // a call may be under way: its lock ends by itself, or the next try has it again
		r.out.wait(r.retryAt(), c.PolicyID+": "+reasonOf(err))
	}
	return nil
}

// unlock records that no call is under way at a target.
func (r *raiser) unlock(ctx context.Context, c *capture) error {
	if c.Until.IsZero() {
		return nil
	}
	if err := r.note(ctx, c); !errors.Is(err, errTaken) {
		return err
	}
	return nil
}

// reasonOf returns the text of an error for the plan: the cloud's own text, or that of an error that clients see.
func reasonOf(err error) string {
	if _, known := errors.AsType[*cloud.Error](err); known {
		return err.Error()
	}
	if e, ok := errors.AsType[*startError](err); ok {
		return e.message
	}
	return fault.Message(err)
}

// isRefusal reports whether a retry cannot help with an error.
func isRefusal(err error, class cloud.Class) bool {
	if _, known := errors.AsType[*cloud.Error](err); known {
		return !class.Retryable()
	}
	return fault.Is(err, fault.Invalid)
}

// note records the end of a call. A capture that another process has taken over meanwhile is left to that process.
func (r *raiser) note(ctx context.Context, c *capture) error {
	kept, err := r.keep(ctx, r.in.Org, c)
	if err == nil && !kept {
		r.out.wait(r.Clock.Now().Add(time.Second), "")
		return errTaken
	}
	return err
}
