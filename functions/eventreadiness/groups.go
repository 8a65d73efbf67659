package eventreadiness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// group is the target of a policy: its current size and its average CPU.
type group struct {
	policy  readiness.Policy
	account inventory.Account
	now     cloud.Autoscaling
	average int64 // CPU in hundredths of a percent; 0 if it is not measured
}

func (g *group) size() readiness.Size {
	return readiness.Size{Min: g.now.Min, Max: g.now.Max, Desired: g.now.Desired}
}

// target returns the group as a target of a plan.
func (g *group) target() readiness.Target {
	t := readiness.Target{
		PolicyID: g.policy.ID, OriginalMin: g.now.Min, OriginalMax: g.now.Max,
		OriginalDesired: g.now.Desired,
	}
	if g.average > 0 && g.policy.TargetCPUPercent > 0 {
		t.AverageCPU, t.TargetCPU = g.average, 100*g.policy.TargetCPUPercent
	}
	return t
}

// scaled returns the size that a plan gives the group.
func (g *group) scaled(p *readiness.Plan) (readiness.Size, error) {
	size, err := p.Scaled(g.target(), g.size())
	return size, fault.Wrap("targets: policy "+g.policy.ID, err)
}

// estimationReason returns why the scaled size of a target is an estimate, or nil if its CPU is measured.
func estimationReason(t readiness.Target) *string {
	if _, measured := t.CPU(); measured {
		return nil
	}
	reason := "no CPU metrics are known of this policy's target: an average of 50 percent is assumed, and a target " +
		"of 70 percent"
	return &reason
}

// cloudConcurrency is how many clouds are asked at the same time.
const cloudConcurrency = 8

// scalableGroups returns the groups of the named policies. The caller must hold the permission on each of them; each
// must exist, be named once, and be scalable. The error names the target that violates this.
func (s *service) scalableGroups(ctx context.Context, permission string, names []EventTargetName) ([]group, error) {
	sees, err := s.policiesInSight(ctx, permission)
	if err != nil {
		return nil, err
	}
	out, err := s.policiesOf(ctx, sees, names)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if err = out[i].checkScalable(fmt.Sprintf("targets[%d].policyId", i)); err != nil {
			return nil, err
		}
	}
	return out, s.readGroups(ctx, out)
}

// policiesOf reads the named policies that the caller may see, and their accounts, in two round trips.
func (s *service) policiesOf(ctx context.Context, sees policySight, names []EventTargetName) ([]group, error) {
	ids := make([]string, len(names))
	for i, n := range names {
		if slices.Contains(ids[:i], n.PolicyID) {
			return nil, fault.New(fault.Invalid, "targets[%d].policyId: policy %.64q is named twice", i, n.PolicyID)
		}
		ids[i] = n.PolicyID
	}
	org := identity.CallerOrg(ctx)
	policies, err := s.policies.GetMany(ctx, org, ids...)
	if err != nil {
		return nil, err
	}
	out := make([]group, len(names))
	members := make([]inventory.Member, len(names))
	for i, id := range ids {
		p, there := policies[id]
		if !there || !sees.has(id) {
			return nil, fault.New(fault.Invalid, "targets[%d].policyId: autoscaler policy %.64q does not exist; GET "+
				"/autoscaler-policies lists those that do", i, id)
		}
		out[i].policy, members[i].CloudAccountID = p, p.CloudAccountID
	}
	accounts, err := execution.ReadAccounts(ctx, s.p.Table, org, members)
	for i := range out {
		out[i].account = accounts[out[i].policy.CloudAccountID]
	}
	return out, err
}

// checkScalable refuses a group that no plan may scale. The error begins with field.
func (g *group) checkScalable(field string) error {
	switch reason := execution.Refusal(g.policy.CloudAccountID, g.account); {
	case g.policy.Mode == readiness.Monitor:
		return fault.New(fault.Invalid, "%s: policy %s only monitors: set its mode to recommend or autopilot first",
			field, g.policy.ID)
	case reason != "" && g.account.ReadOnly():
		return fault.New(fault.Denied, "%s: policy %s: %s", field, g.policy.ID, reason)
	case reason != "":
		return fault.New(fault.Invalid, "%s: policy %s: %s", field, g.policy.ID, reason)
	}
	return nil
}

// readGroups asks the clouds for the current size of groups, and reads their average CPU.
func (s *service) readGroups(ctx context.Context, groups []group) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(cloudConcurrency)
	for i := range groups {
		g.Go(func() error { return s.readGroup(ctx, &groups[i]) })
	}
	return g.Wait()
}

func (s *service) readGroup(ctx context.Context, g *group) error {
	var err error
	if g.now, err = s.askNow(ctx, g); err != nil {
		return fault.Wrap("targets: policy "+g.policy.ID, err)
	}
	if err = g.assumeRunning(); err != nil {
		return err
	}
	g.average, err = s.averageCPU(ctx,
		measurement.Of{Org: identity.CallerOrg(ctx), AccountID: g.account.ID, UID: g.policy.Target.UID},
		g.policy.Target.Type)
	return err
}

// assumeRunning gives a group that has 0 instances the last known running size of its policy's target: a size of 0 is
// never captured.
func (g *group) assumeRunning() error {
	if !g.now.RunsNothing() {
		return nil
	}
	known, ok := g.policy.RunningSize()
	if !ok {
		return fault.New(fault.Invalid,
			"targets: policy %s: target %.300s has 0 instances, so its size is not known: start it first", g.policy.ID,
			g.policy.Target.UID)
	}
	g.now = known
	return nil
}

// askNow asks the cloud for the current size of a group.
func (s *service) askNow(ctx context.Context, g *group) (now cloud.Autoscaling, err error) {
	err = s.askCloud(ctx, g, inventory.AskAutoscaling, &now)
	return now, err
}

// askCloud sends a question about a group to its cloud and decodes the answer.
func (s *service) askCloud(ctx context.Context, g *group, about string, answer any) (err error) {
	t := g.policy.Target
	q := inventory.Question{
		Ask: about, Org: identity.CallerOrg(ctx), Account: g.account,
		Autoscaling: inventory.AutoscalingQuestion{Type: t.Type, Region: t.Region, UID: t.UID},
	}
	if t.Type == cloud.KubernetesDeployment && g.account.Provider != inventory.ClusterProvider {
		if q.Registrations, err = inventory.ReadRegistrations(ctx, s.p.Table, q.Org, g.account.ID); err != nil {
			return err
		}
	}
	return inventory.AskConnector(ctx, s.p.Workers, q, answer)
}

// lookBack is the number of days that the average CPU covers.
const lookBack = 14

// averageCPU returns the measured average CPU in hundredths of a percent, or 0 if too little is measured.
func (s *service) averageCPU(ctx context.Context, of measurement.Of, kind string) (int64, error) {
	m, ok := cpuOf(kind)
	if !ok {
		return 0, nil
	}
	end := s.p.Clock.Now().Truncate(24 * time.Hour)
	h, err := s.measured.Read(ctx, of, end.AddDate(0, 0, -lookBack), end)
	if err != nil {
		return 0, err
	}
	v, known := h.Answer(m, measurement.Window{End: end})
	a, err := money.FromFloat(v)
	if !known || err != nil {
		return 0, err
	}
	if m.Unit == "0..1" {
		a = a.MulInt(100)
	}
	hundredths, _ := a.Round(2).Scaled(2)
	return max(hundredths, 0), nil
}

// cpuOf returns the metric of the average CPU of a type: the hourly averages that are collected for another feature.
func cpuOf(kind string) (cloud.Metric, bool) {
	all := cloud.MetricsOf(kind)
	at := slices.IndexFunc(all, func(m cloud.Metric) bool {
		return (m.Name == "cpu_p95_14d" || m.Name == "cpu_p95_7d") && m.IsShare()
	})
	if at < 0 {
		return cloud.Metric{}, false
	}
	m := all[at]
	m.RollUp, m.Days = "avg", lookBack
	return m, true
}

// storedGroups returns the groups of a stored plan with their captured sizes instead of the clouds' current ones. It
// takes one or two round trips.
func (s *service) storedGroups(ctx context.Context, p *readiness.Plan) ([]group, error) {
	policies, err := s.policies.GetMany(ctx, p.Org, p.PolicyIDs()...)
	if err != nil {
		return nil, err
	}
	members := make([]inventory.Member, 0, len(policies))
	for _, one := range policies {
		members = append(members, inventory.Member{CloudAccountID: one.CloudAccountID})
	}
	accounts, err := execution.ReadAccounts(ctx, s.p.Table, p.Org, members)
	if err != nil {
		return nil, err
	}
	out := make([]group, len(p.Targets))
	for i, t := range p.Targets {
		policy := policies[t.PolicyID] // the zero one, when it was deleted
		policy.ID = t.PolicyID
		out[i] = group{
			policy: policy, account: accounts[policy.CloudAccountID], average: t.AverageCPU,
			now: cloud.Autoscaling{Min: t.OriginalMin, Max: t.OriginalMax, Desired: t.OriginalDesired},
		}
	}
	return out, nil
}
