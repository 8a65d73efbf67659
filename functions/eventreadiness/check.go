package eventreadiness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/readiness/precheck"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// ReadinessCheck is whether a plan can be carried out.
type ReadinessCheck struct {
	Ready  bool                 `json:"ready" doc:"Whether no check failed, and none is unknown"`
	Checks []ReadinessCheckItem `json:"checks"`
}

// ReadinessCheckItem is one thing that was looked at.
type ReadinessCheckItem struct {
	Name     string  `json:"name" enum:"times,capacity,credentials,executor"`
	PolicyID *string `json:"policyId" doc:"null when it is about the plan as a whole"`
	Status   string  `json:"status" enum:"passed,warning,failed,unknown" doc:"unknown: the cloud did not answer within 5 seconds"`
	Message  string  `json:"message"`
}

const (
	passed  = "passed"
	warning = "warning"
	failed  = "failed"
	unknown = "unknown"
)

// checkTime is how long the clouds of all targets together have to answer a check.
const checkTime = 5 * time.Second

func (s *service) check(ctx context.Context, in *EventPlanPath) (ReadinessCheck, error) {
	p, err := s.visiblePlan(ctx, in.EventID)
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
	checks, err := s.checkTargets(ctx, &p, groups)
	if err != nil {
		return ReadinessCheck{}, err
	}
	out := ReadinessCheck{Checks: slices.Concat([]ReadinessCheckItem{s.checkTimes(&p), queue}, checks)}
	out.Ready = !slices.ContainsFunc(out.Checks, func(c ReadinessCheckItem) bool { return c.Status == failed || c.Status == unknown })
	return out, nil
}

// checkTargets checks the targets of a plan beside each other: one or a few round trips, and at most checkTime for the clouds.
func (s *service) checkTargets(ctx context.Context, p *readiness.Plan, groups []group) ([]ReadinessCheckItem, error) {
	held, err := s.obstacles(ctx, groups)
	if err != nil {
		return nil, err
	}
	checks := make([][]ReadinessCheckItem, len(groups))
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var g errgroup.Group
	for i := range groups {
		g.Go(func() error {
			checks[i] = s.checkTarget(ctx, p, &groups[i], p.Targets[i])
			if why := held[groups[i].policy.Target.UID]; why != "" {
				checks[i] = append(checks[i], ReadinessCheckItem{"capacity", &p.Targets[i].PolicyID, failed, why})
			}
			return nil
		})
	}
	err = g.Wait()
	return slices.Concat(checks...), err
}

func (s *service) checker() precheck.Checker {
	return precheck.Checker{Table: s.p.Table, Inventory: s.inventory}
}

// obstacles returns which targets an override holds stopped now, by their native ids.
func (s *service) obstacles(ctx context.Context, groups []group) (map[string]string, error) {
	q := precheck.Query{Org: callerOrg(ctx), At: s.p.Clock.Now()}
	for i := range groups {
		if uid := groups[i].policy.Target.UID; uid != "" {
			q.Targets = append(q.Targets, groups[i].policy.Target)
		}
	}
	return s.checker().Obstacles(ctx, q)
}

// problems returns which targets of a plan cannot be ready as things are, for the answer that dispatches it; "" when none is known.
func (s *service) problems(ctx context.Context, p *readiness.Plan) (string, error) {
	groups, err := s.stored(ctx, p)
	if err != nil {
		return "", err
	}
	checks, err := s.checkTargets(ctx, p, groups)
	if err != nil {
		return "", err
	}
	out := ""
	for _, c := range checks {
		if c.Status == failed {
			out += "; " + *c.PolicyID + " cannot be ready: " + c.Message
		}
	}
	return out, nil
}

// statusOf returns the status of a check that ended with err: a cloud that did not answer leaves it unknown.
func statusOf(ctx context.Context, err error) string {
	if ctx.Err() != nil || fault.Is(err, fault.Unavailable) {
		return unknown
	}
	return failed
}

// reasonOf returns why a check did not pass.
func reasonOf(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "the cloud did not answer within 5 seconds"
	}
	return fault.Message(err)
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
	credentials := make(chan ReadinessCheckItem, 1)
	go func() { credentials <- s.checkCredentials(ctx, g, t) }()
	now, err := s.askNow(ctx, g)
	switch {
	case err != nil:
		return []ReadinessCheckItem{c("capacity", statusOf(ctx, err), reasonOf(ctx, err)), <-credentials}
	case now.RunsNothing():
		return []ReadinessCheckItem{s.checkStopped(ctx, g, t), <-credentials}
	}
	return []ReadinessCheckItem{s.checkCapacity(p, g, t, now), <-credentials}
}

// checkStopped looks whether a target that has 0 instances can be started.
func (s *service) checkStopped(ctx context.Context, g *group, t readiness.Target) ReadinessCheckItem {
	out := ReadinessCheckItem{"capacity", &t.PolicyID, warning, "it has 0 instances; the plan has it started before it scales it up, which takes the time of a start more"}
	why, err := s.checker().StartProblem(ctx, callerOrg(ctx), g.policy.Target)
	switch {
	case err != nil:
		out.Status, out.Message = unknown, reasonOf(ctx, err)
	case why != "":
		out.Status, out.Message = failed, "it has 0 instances, and cannot be started: "+why
	}
	return out
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
	if err := s.ask(ctx, g, inventory.AskPermissions, &granted); err != nil {
		out.Status, out.Message = statusOf(ctx, err), reasonOf(ctx, err)
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
