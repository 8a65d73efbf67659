package rescaling

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	checkBefore = 30 * time.Minute // before the event its targets are checked
	checkTime   = 10 * time.Second // that a cloud has to answer a check
	maxReports  = 60               // of one dispatch: after them missing targets are not reported again
)

// obstacles returns why targets of a plan cannot be raised now, by policy. A target that this dispatch has begun to
// raise has no obstacle, because the plan holds it. It takes one round trip, or none if all targets have been begun.
func (r *Runner) obstacles(ctx context.Context, in readiness.Input, p *readiness.Plan,
	kept map[string]capture,
) (map[string]string, error) {
	var ids []string
	for _, id := range p.PolicyIDs() {
		if c := kept[id]; !c.isOf(in.Run) {
			ids = append(ids, id)
		}
	}
	return r.obstaclesOf(ctx, readiness.PrecheckQuery{Org: in.Org, At: r.Clock.Now(), Acting: true}, ids)
}

func (r *Runner) obstaclesOf(
	ctx context.Context, q readiness.PrecheckQuery, policyIDs []string,
) (map[string]string, error) {
	if len(policyIDs) == 0 {
		return map[string]string{}, nil
	}
	policies, err := r.policies().GetMany(ctx, q.Org, policyIDs...)
	if err != nil {
		return nil, err
	}
	for _, p := range policies {
		q.Targets = append(q.Targets, p.Target)
	}
	found, err := r.Starter.Obstacles(ctx, q)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for id, p := range policies {
		if why := found[p.Target.UID]; why != "" {
			out[id] = why
		}
	}
	return out, nil
}

// allOrNothing reports whether the organization wants all targets of a plan raised, or none. It takes one round trip.
func (r *Runner) allOrNothing(ctx context.Context, org string) (bool, error) {
	o, err := table.Read[identity.OrganisationRecord](ctx, r.Table, identity.OrganisationKey(org))
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return o.Preferences().EventAllOrNothing, fault.Wrap("read organization "+org, err)
}

// reportMissing reports the targets without their planned capacity, unless the plan already says so.
func (r *Runner) reportMissing(ctx context.Context, in readiness.Input, p *readiness.Plan, out *outcome) error {
	return r.tell(ctx, in, p, missingPrefix+text(out.notes))
}

// missingPrefix is the prefix of a report about targets without their planned capacity.
const missingPrefix = "missing, and tried again: "

// tell reports a message of a plan that stays in its status, unless the plan already has that message.
func (r *Runner) tell(ctx context.Context, in readiness.Input, p *readiness.Plan, message string) error {
	message = clip(message)
	if message == p.Message || len(p.Reports) >= maxReports {
		return nil
	}
	report := readiness.Report{
		ID: fmt.Sprintf("%s-%d-%d", p.Status, in.Run, len(p.Reports)), Run: in.Run,
		Status: p.Status, Message: message,
	}
	err := r.Report(ctx, in.Org, in.PlanID, report)
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		return nil // the plan has changed: the next step sees to that
	}
	return fault.Wrap("report of "+in.PlanID, err)
}

// accept reports that the plan is scheduled, and which of its targets cannot be ready.
func (r *Runner) accept(ctx context.Context, in readiness.Input, p *readiness.Plan) (Result, error) {
	message, err := r.problems(ctx, in, p)
	if err != nil {
		return Result{}, err
	}
	return r.enter(ctx, in, readiness.Report{Status: readiness.Scheduled, Message: message})
}

// reportCheck checks the targets of a waiting plan, and reports those that cannot be ready.
func (r *Runner) reportCheck(ctx context.Context, in readiness.Input, p *readiness.Plan) error {
	if p.Since.After(p.EventStart.Add(-checkBefore)) {
		return nil // it was checked when it was scheduled
	}
	message, err := r.problems(ctx, in, p)
	if err != nil || message == "" && p.Message == "" {
		return err
	}
	return r.tell(ctx, in, p, cmp.Or(message, "every target can be ready as things are"))
}

// problems lists the targets of a plan that cannot be ready, and why. It returns "" if none is known. A cloud that
// does not answer in time is not a problem yet.
func (r *Runner) problems(ctx context.Context, in readiness.Input, p *readiness.Plan) (string, error) {
	q := readiness.PrecheckQuery{Org: in.Org, At: p.CheckedAt(r.Clock.Now())}
	obstacles, err := r.obstaclesOf(ctx, q, p.PolicyIDs())
	if err != nil {
		return "", err
	}
	var out outcome
	err = each(ctx, p.PolicyIDs(), func(ctx context.Context, policyID string) error {
		why := obstacles[policyID]
		if why == "" {
			why = r.problem(ctx, in.Org, policyID)
		}
		if why != "" {
			out.found(policyID + ": " + why)
		}
		return ctx.Err()
	})
	if err != nil || len(out.notes) == 0 {
		return "", err
	}
	return clip("these targets cannot be ready as things are: " + text(out.notes)), nil
}

// problem returns why one target cannot be ready, or "" if it can or if that is not known.
func (r *Runner) problem(ctx context.Context, org, policyID string) string {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	policy, err := r.policies().Get(ctx, org, policyID)
	if fault.Is(err, fault.NotFound) {
		return errGone.Message
	}
	if err != nil {
		return ""
	}
	live, err := r.lookAt(ctx, org, policy)
	switch {
	case err != nil && isRefusal(err, cloud.ClassOf(err)):
		return reasonOf(err)
	case err != nil || !live.RunsNothing():
		return ""
	}
	why, err := r.Starter.StartProblem(ctx, org, policy.Target)
	if err != nil || why == "" {
		return ""
	}
	return "it has 0 instances, and cannot be started: " + why
}

// lookAt asks the cloud for the scaling of a policy's target.
func (r *Runner) lookAt(ctx context.Context, org string, policy readiness.Policy) (cloud.Autoscaling, error) {
	g, err := r.Open(ctx, org, policy.CloudAccountID, policy.Target)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	return g.ReadAutoscaling(ctx, policy.Target.Type, policy.Target.Region, policy.Target.UID)
}
