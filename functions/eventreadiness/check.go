package eventreadiness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
	Ready  bool                 `json:"ready" doc:"Whether no check failed, and none is unknown"`
	Checks []ReadinessCheckItem `json:"checks"`
}

// ReadinessCheckItem is one thing that was looked at.
type ReadinessCheckItem struct {
	Name     string  `json:"name" enum:"times,capacity,credentials,executor"`
	PolicyID *string `json:"policyId" doc:"null when it is about the plan as a whole"`
	Status   string  `json:"status" enum:"passed,warning,failed,unknown" doc:"unknown: the cloud gave no answer within 5 seconds"`
	Message  string  `json:"message"`
}

const (
	passed  = "passed"
	warning = "warning"
	failed  = "failed"
	unknown = "unknown"
)

// checkTime is how long the clouds of all targets together may take to answer a check.
const checkTime = 5 * time.Second

func (s *service) checkReadiness(ctx context.Context, in *EventPlanPath) (ReadinessCheck, error) {
	p, err := s.visiblePlan(ctx, in.EventID)
	if err != nil {
		return ReadinessCheck{}, err
	}
	queue, err := s.checkQueue(ctx, &p)
	if err != nil {
		return ReadinessCheck{}, err
	}
	found, err := s.findTargets(ctx, &p)
	if err != nil {
		return ReadinessCheck{}, err
	}
	out := ReadinessCheck{Checks: []ReadinessCheckItem{s.checkTimes(&p), queue}}
	for i := range found {
		out.Checks = append(out.Checks, found[i].checks...)
	}
	out.Ready = !slices.ContainsFunc(out.Checks, func(c ReadinessCheckItem) bool {
		return c.Status == failed || c.Status == unknown
	})
	return out, nil
}

// finding is the result of checking one target of a plan.
type finding struct {
	checks  []ReadinessCheckItem
	stopped bool // it has 0 instances
}

// problem returns the reason the target cannot be ready, or "" if none is known.
func (f *finding) problem() string { return f.message(failed) }

// message returns the message of the first check with the given status, or "" if there is none.
func (f *finding) message(status string) string {
	i := slices.IndexFunc(f.checks, func(c ReadinessCheckItem) bool { return c.Status == status })
	if i < 0 {
		return ""
	}
	return f.checks[i].Message
}

// checkTargets checks the targets of a plan at the same time. It takes one or a few round trips, and at most
// checkTime for the clouds.
func (s *service) checkTargets(ctx context.Context, p *readiness.Plan, groups []group) ([]finding, error) {
	held, err := s.obstacles(ctx, p, groups)
	if err != nil {
		return nil, err
	}
	out := make([]finding, len(groups))
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var g errgroup.Group
	for i := range groups {
		g.Go(func() error {
			out[i] = s.checkTarget(ctx, p, &groups[i], p.Targets[i])
			if why := held[groups[i].policy.Target.UID]; why != "" {
				out[i].checks = append(out[i].checks,
					ReadinessCheckItem{"capacity", &p.Targets[i].PolicyID, failed, why})
			}
			return nil
		})
	}
	return out, g.Wait()
}

func (s *service) checker() readiness.PrecheckReader {
	return readiness.PrecheckReader{Table: s.p.Table, Inventory: s.inventory}
}

// obstacles returns the targets that an override holds stopped when the plan scales up, by native ID.
func (s *service) obstacles(ctx context.Context, p *readiness.Plan, groups []group) (map[string]string, error) {
	q := readiness.PrecheckQuery{Org: p.Org, At: p.CheckedAt(s.p.Clock.Now())}
	for i := range groups {
		if uid := groups[i].policy.Target.UID; uid != "" {
			q.Targets = append(q.Targets, groups[i].policy.Target)
		}
	}
	return s.checker().Obstacles(ctx, q)
}

// findTargets checks the targets of a stored plan.
func (s *service) findTargets(ctx context.Context, p *readiness.Plan) ([]finding, error) {
	groups, err := s.storedGroups(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.checkTargets(ctx, p, groups)
}

// problems lists the targets of a plan that cannot be ready, for the answer to its dispatch. It returns "" if none is
// known.
func (s *service) problems(ctx context.Context, p *readiness.Plan) (string, error) {
	found, err := s.findTargets(ctx, p)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for i := range found {
		if why := found[i].problem(); why != "" {
			out.WriteString("; " + p.Targets[i].PolicyID + " cannot be ready: " + why)
		}
	}
	return out.String(), nil
}

// statusOf returns the status of a check that ended with err: unknown if the cloud did not answer, else failed.
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

// checkTimes checks that the event is in the future and that the time before it is sufficient.
func (s *service) checkTimes(p *readiness.Plan) ReadinessCheckItem {
	c := ReadinessCheckItem{
		Name: "times", Status: passed,
		Message: "scales up at " + readiness.InZone(p.ScaleUpAt(), p.Timezone),
	}
	if w := s.warnings(p); len(w) > 0 {
		c.Status, c.Message = warning, w[0]
	}
	if !p.EventEnd.After(s.p.Clock.Now()) {
		c.Status, c.Message = failed, "the event was over at "+readiness.InZone(p.EventEnd, p.Timezone)
	}
	return c
}

// checkQueue checks that the executor has the plan, and how often it has started again. It takes one round trip.
func (s *service) checkQueue(ctx context.Context, p *readiness.Plan) (ReadinessCheckItem, error) {
	c := ReadinessCheckItem{
		Name: "executor", Status: passed,
		Message: "nothing is queued: the plan is " + string(p.Status),
	}
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
		c.Message = "the targets get their original capacity back"
	case err != nil:
		return c, fmt.Errorf("read the work for %s: %w", p.ID, err)
	case w.Try > 0:
		c.Status, c.Message = warning, fmt.Sprintf("the executor has the plan, and has started again %d times", w.Try)
	default:
		c.Message = "the executor has the plan"
	}
	return c, nil
}

// checkTarget asks the cloud for the current size of a target, and whether its credentials may scale it.
func (s *service) checkTarget(ctx context.Context, p *readiness.Plan, g *group, t readiness.Target) finding {
	only := func(name, message string) finding {
		return finding{checks: []ReadinessCheckItem{{name, &t.PolicyID, failed, message}}}
	}
	if g.policy.Target.UID == "" {
		return only("capacity", "the policy does not exist any more: change the plan's targets")
	}
	if err := g.checkScalable("policy"); err != nil {
		return only("credentials", fault.Message(err))
	}
	credentials := make(chan ReadinessCheckItem, 1)
	go func() { credentials <- s.checkCredentials(ctx, g, t) }()
	now, err := s.askNow(ctx, g)
	var capacity ReadinessCheckItem
	switch {
	case err != nil:
		capacity = ReadinessCheckItem{"capacity", &t.PolicyID, statusOf(ctx, err), reasonOf(ctx, err)}
	case now.RunsNothing():
		capacity = s.checkStopped(ctx, p, g)
	default:
		capacity = s.checkCapacity(p, g, t, now)
	}
	return finding{[]ReadinessCheckItem{capacity, <-credentials}, err == nil && now.RunsNothing()}
}

// checkStopped checks whether a target that has 0 instances can be started, and by whose action.
func (s *service) checkStopped(ctx context.Context, p *readiness.Plan, g *group) ReadinessCheckItem {
	at := readiness.InZone(p.CheckedAt(s.p.Clock.Now()), p.Timezone)
	out := ReadinessCheckItem{
		"capacity", &g.policy.ID, warning,
		"it has 0 instances; unless it is started before, the plan starts it at " + at +
			" and then scales it up, which takes the time of a start more",
	}
	why, err := s.checker().StartProblem(ctx, p.Org, g.policy.Target)
	switch {
	case err != nil:
		out.Status, out.Message = unknown, reasonOf(ctx, err)
	case why != "":
		out.Status, out.Message = failed, "it has 0 instances, and the plan cannot start it: "+why
	}
	return out
}

// checkCapacity compares the current capacity of a target with the captured and the scaled capacity.
func (s *service) checkCapacity(p *readiness.Plan, g *group, t readiness.Target,
	now cloud.Autoscaling,
) ReadinessCheckItem {
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
		out.Status, out.Message = warning,
			fmt.Sprintf("it has %s, and had %s when that was captured; it is captured again before it is scaled to %s",
				live, t.Original(), scaled)
	default:
		out.Message += "; it will have " + scaled.String()
	}
	return out
}

// checkCredentials asks for the permissions of the credentials of a target's account.
func (s *service) checkCredentials(ctx context.Context, g *group, t readiness.Target) ReadinessCheckItem {
	out := ReadinessCheckItem{"credentials", &t.PolicyID, passed, "the credentials may scale"}
	var granted []cloud.Permission
	if err := s.askCloud(ctx, g, inventory.AskPermissions, &granted); err != nil {
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
