package eventreadiness

import (
	"context"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
)

// startWork starts stored work. If that fails, the caller gets the error and the sweeper starts the work.
func (s *service) startWork(ctx context.Context, w readiness.Work) error {
	if w.Name == "" {
		return nil
	}
	return fault.Wrap("start "+w.Name, s.p.Workflow.Start(ctx, readiness.Machine, w.Name, w.Input))
}

// planToChange reads the plan of a request that changes it.
func (s *service) planToChange(ctx context.Context, in *EventPlanPath) (readiness.Plan, readiness.Change, error) {
	p, err := s.plans.Get(ctx, identity.CallerOrg(ctx), in.EventID)
	if err == nil {
		audit.NoteChange(ctx, audit.Change{Target: p.ID, Before: showPlan(p)})
	}
	return p, readiness.Change{By: identity.CallerFrom(ctx).Email}, err
}

// checkActs refuses a caller who may not act on each target of a plan that is to be dispatched.
func (s *service) checkActs(ctx context.Context, p *readiness.Plan) error {
	if identity.CallerFrom(ctx).Scopes(execution.Acting).All {
		return nil
	}
	if err := execution.CheckActor(ctx); err != nil {
		return err
	}
	policies, err := s.policies.GetMany(ctx, p.Org, p.PolicyIDs()...)
	if err != nil {
		return err
	}
	uids := make([]string, 0, len(policies))
	for _, one := range policies {
		uids = append(uids, one.Target.UID)
	}
	return execution.CheckMayAct(ctx, s.inventory, "plan "+p.ID, uids...)
}

// dispatch sends a plan to the executor.
func (s *service) dispatch(ctx context.Context, p readiness.Plan, c readiness.Change) (readiness.Plan, error) {
	c.To = readiness.Scheduling
	if err := p.Status.Check(c.To); err != nil {
		return p, err
	}
	if err := s.checkActs(ctx, &p); err != nil {
		return p, err
	}
	p, w, err := s.plans.Dispatch(ctx, p, c)
	if err != nil {
		return p, err
	}
	audit.NoteChange(ctx, audit.Change{After: showPlan(p)})
	return p, s.startWork(ctx, w)
}

func (s *service) schedulePlan(ctx context.Context, in *EventPlanPath) (EventDispatch, error) {
	p, c, err := s.planToChange(ctx, in)
	if err != nil {
		return EventDispatch{}, err
	}
	if p.Status != readiness.Draft {
		if err = p.Status.Check(readiness.Scheduling); err == nil {
			err = fault.New(fault.Conflict, "status: the plan is %s: POST …/retry dispatches it again", p.Status)
		}
		return EventDispatch{}, err
	}
	problems, err := s.problems(ctx, &p)
	if err != nil {
		return EventDispatch{}, err
	}
	p, err = s.dispatch(ctx, p, c)
	return EventDispatch{"the plan is sent to the executor, which scales up at " + readiness.InZone(p.ScaleUpAt(),
		p.Timezone) + problems, p.ID}, err
}

func (s *service) cancelPlan(ctx context.Context, in *EventPlanPath) (EventDispatch, error) {
	p, w, err := s.cancelCurrent(ctx, in)
	if err != nil {
		return EventDispatch{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: showPlan(p)})
	message := "the plan is cancelled; nothing had been sent to the executor"
	if w.Name != "" {
		message = "the plan is cancelled; the executor gives the targets back their original capacity"
	}
	return EventDispatch{message, p.ID}, s.startWork(ctx, w)
}

// cancelTries is how often a plan is read and cancelled: the executor changes it while it begins its work.
const cancelTries = 3

// cancelCurrent cancels the plan as it is now. If the executor changes it meanwhile, cancelCurrent reads it again.
func (s *service) cancelCurrent(ctx context.Context, in *EventPlanPath) (readiness.Plan, readiness.Work, error) {
	for try := 1; ; try++ {
		p, c, err := s.planToChange(ctx, in)
		if err != nil {
			return p, readiness.Work{}, err
		}
		p, w, err := s.plans.Cancel(ctx, p, c)
		if try == cancelTries || !readiness.IsMoved(err) {
			return p, w, err
		}
	}
}

func (s *service) retryPlan(ctx context.Context, in *EventPlanPath) (EventPlan, error) {
	p, c, err := s.planToChange(ctx, in)
	if err != nil {
		return EventPlan{}, err
	}
	if p.Status != readiness.Failed {
		return EventPlan{},
			fault.New(fault.Conflict, "status: the plan is %s; only one that failed is retried", p.Status)
	}
	if p.EventEnd.After(s.p.Clock.Now()) {
		p, err = s.dispatch(ctx, p, c)
		return showPlan(p), err
	}
	return s.makeDraft(ctx, p, c)
}

func (s *service) resetPlan(ctx context.Context, in *EventPlanPath) (EventPlan, error) {
	p, c, err := s.planToChange(ctx, in)
	if err != nil {
		return EventPlan{}, err
	}
	if p.Status != readiness.Completed {
		return EventPlan{},
			fault.New(fault.Conflict, "status: the plan is %s; only one that is completed is reset", p.Status)
	}
	return s.makeDraft(ctx, p, c)
}

// makeDraft turns a plan back into a draft.
func (s *service) makeDraft(ctx context.Context, p readiness.Plan, c readiness.Change) (EventPlan, error) {
	c.To = readiness.Draft
	p, err := s.plans.Move(ctx, p, c)
	if err != nil {
		return EventPlan{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: showPlan(p)})
	return showPlan(p), nil
}

func (s *service) deletePlan(ctx context.Context, in *EventPlanPath) (rest.Deleted, error) {
	p, c, err := s.planToChange(ctx, in)
	if err != nil {
		return rest.Deleted{}, err
	}
	c.Delete = true
	var w readiness.Work
	switch {
	case p.Status.Editable():
		_, w, err = s.plans.Cancel(ctx, p, c)
	case p.Status.HoldsWindow():
		err = fault.New(fault.Conflict, "status: a plan that is %s cannot be deleted: cancel it first", p.Status)
	default:
		c.To, c.Message = p.Status, "deleted"
		_, err = s.plans.Move(ctx, p, c)
	}
	if err != nil {
		return rest.Deleted{}, err
	}
	return rest.Deleted{ID: p.ID}, s.startWork(ctx, w)
}
