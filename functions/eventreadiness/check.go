package eventreadiness

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// ReadinessCheck is whether a plan can be carried out.
type ReadinessCheck struct {
	Ready  bool                 `json:"ready" doc:"Whether no check failed"`
	Checks []ReadinessCheckItem `json:"checks"`
}

// ReadinessCheckItem is one thing that was looked at.
type ReadinessCheckItem struct {
	Name     string  `json:"name" enum:"times,capacity,credentials,executor"`
	PolicyID *string `json:"policyId" doc:"null when it is about the plan as a whole"`
	Status   string  `json:"status" enum:"passed,warning,failed"`
	Message  string  `json:"message"`
}

const (
	passed  = "passed"
	warning = "warning"
	failed  = "failed"
)

func (s *service) check(ctx context.Context, in *EventPlanPath) (ReadinessCheck, error) {
	p, err := s.plans.Get(ctx, callerOrg(ctx), in.EventID)
	if err != nil {
		return ReadinessCheck{}, err
	}
	groups, err := s.stored(ctx, &p)
	if err != nil {
		return ReadinessCheck{}, err
	}
	queue, err := s.checkQueue(ctx, &p)
	if err != nil {
		return ReadinessCheck{}, err
	}
	checks := make([][]ReadinessCheckItem, len(groups))
	g, asking := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range groups {
		g.Go(func() error {
			checks[i] = s.checkTarget(asking, &p, &groups[i], p.Targets[i])
			return nil
		})
	}
	_ = g.Wait() // what failed is among the checks
	out := ReadinessCheck{Checks: slices.Concat([]ReadinessCheckItem{s.checkTimes(&p), queue}, slices.Concat(checks...))}
	out.Ready = !slices.ContainsFunc(out.Checks, func(c ReadinessCheckItem) bool { return c.Status == failed })
	return out, nil
}

// checkTimes looks whether the event is yet to come, and whether there is time enough before it.
func (s *service) checkTimes(p *readiness.Plan) ReadinessCheckItem {
	c := ReadinessCheckItem{Name: "times", Status: passed, Message: "scales up at " + readiness.InZone(p.ScaleUpAt(), p.Timezone)}
	if w := s.warnings(p); len(w) > 0 {
		c.Status, c.Message = warning, w[0]
	}
	if !p.EventEnd.After(s.p.Clock.Now()) {
		c.Status, c.Message = failed, "the event was over at "+readiness.InZone(p.EventEnd, p.Timezone)
	}
	return c
}

// checkQueue looks whether the executor has the plan, and how often it had to begin anew: one round trip.
func (s *service) checkQueue(ctx context.Context, p *readiness.Plan) (ReadinessCheckItem, error) {
	c := ReadinessCheckItem{Name: "executor", Status: passed, Message: "nothing is queued: the plan is " + string(p.Status)}
	if p.Run == 0 || p.Status == readiness.Draft || p.Status == readiness.Completed {
		return c, nil
	}
	id := p.WorkID()
	if p.Status == readiness.Cancelled {
		id = p.RollbackID()
	}
	w, err := table.Read[workqueue.Work](table.Within(ctx, workqueue.Prefix), s.p.Table, workqueue.WorkKey(id))
	under := p.Status != readiness.Cancelled && p.Status != readiness.Failed
	switch {
	case fault.Is(err, fault.NotFound) && under:
		c.Status, c.Message = failed, "the executor has no work for the plan: cancel it, or look for parked work"
	case fault.Is(err, fault.NotFound):
		c.Message = "what was applied is rolled back"
	case err != nil:
		return c, fmt.Errorf("read the work for %s: %w", p.ID, err)
	case w.Try > 0:
		c.Status, c.Message = warning, fmt.Sprintf("the executor has the plan, and had to begin anew %d times", w.Try)
	default:
		c.Message = "the executor has the plan"
	}
	return c, nil
}

// checkTarget asks the cloud of a target how it is now, and whether its credentials may scale it.
func (s *service) checkTarget(ctx context.Context, p *readiness.Plan, g *group, t readiness.Target) []ReadinessCheckItem {
	c := func(name, status, message string) ReadinessCheckItem {
		return ReadinessCheckItem{name, &t.PolicyID, status, message}
	}
	if g.policy.Target.UID == "" {
		return []ReadinessCheckItem{c("capacity", failed, "the policy does not exist any more: change the plan's targets")}
	}
	if err := g.scalable("policy"); err != nil {
		return []ReadinessCheckItem{c("credentials", failed, fault.Message(err))}
	}
	now, err := s.askNow(ctx, g)
	if err != nil {
		return []ReadinessCheckItem{c("capacity", failed, fault.Message(err))}
	}
	return []ReadinessCheckItem{s.checkCapacity(p, g, t, now), s.checkCredentials(ctx, g, t)}
}

// checkCapacity compares what a target has now with what was captured, and with what it is to have.
func (s *service) checkCapacity(p *readiness.Plan, g *group, t readiness.Target, now cloud.Autoscaling) ReadinessCheckItem {
	live := readiness.Size{Min: now.Min, Max: now.Max, Desired: now.Desired}
	out := ReadinessCheckItem{"capacity", &t.PolicyID, passed, "it has " + live.String()}
	scaled, err := p.Scaled(t, live)
	switch {
	case err != nil:
		out.Status, out.Message = failed, fault.Message(err)
	case g.policy.PlanID != "" && g.policy.PlanID != p.ID:
		out.Status, out.Message = warning, "plan "+g.policy.PlanID+" holds it at the moment; it has "+live.String()
	case g.policy.PlanID == p.ID:
		out.Message = "this plan holds it; it has " + live.String()
	case live != t.Original():
		out.Status, out.Message = warning, fmt.Sprintf("it has %s, and had %s when that was captured; it is captured again before it is scaled to %s", live, t.Original(), scaled)
	default:
		out.Message += "; it will have " + scaled.String()
	}
	return out
}

// checkCredentials asks what the credentials of a target's account may do.
func (s *service) checkCredentials(ctx context.Context, g *group, t readiness.Target) ReadinessCheckItem {
	out := ReadinessCheckItem{"credentials", &t.PolicyID, passed, "the credentials may scale"}
	var granted []cloud.Permission
	q := inventory.Question{Ask: inventory.AskPermissions, Org: callerOrg(ctx), Account: g.account}
	if err := s.p.Workers.Invoke(ctx, inventory.Connector, q, &granted); err != nil {
		out.Status, out.Message = failed, fault.Message(err)
		return out
	}
	for _, p := range granted {
		switch {
		case p.Capability != "scale":
		case p.Status == "denied":
			out.Status, out.Message = failed, "the credentials may not "+p.Action+": "+p.Message
			return out
		case p.Status == "unknown" && out.Status == passed:
			out.Status, out.Message = warning, "whether the credentials may "+p.Action+" is not known"
		}
	}
	return out
}
