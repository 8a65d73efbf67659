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

// group is what a policy scales: how it is now, and how busy it was.
type group struct {
	policy  readiness.Policy
	account inventory.Account
	now     cloud.Autoscaling
	average int64 // of the CPU, in hundredths of a percent; 0: it is not measured
}

func (g *group) size() readiness.Size {
	return readiness.Size{Min: g.now.Min, Max: g.now.Max, Desired: g.now.Desired}
}

// target returns the group as a plan keeps it.
func (g *group) target() readiness.Target {
	t := readiness.Target{PolicyID: g.policy.ID, OriginalMin: g.now.Min, OriginalMax: g.now.Max,
		OriginalDesired: g.now.Desired}
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

// why tells why sizes are an estimate; nil when the CPU is measured.
func why(t readiness.Target) *string {
	if _, measured := t.CPU(); measured {
		return nil
	}
	reason := "no CPU metrics are known of this policy's target: an average of 50 percent is assumed, and a target " +
		"of 70 percent"
	return &reason
}

// atOnce is how many clouds are asked beside each other.
const atOnce = 8

// groups finds what the policies of targets scale, as far as the caller holds the permission on them: each is there, once, and may be scaled; the
// error names the target that is not.
func (s *service) groups(ctx context.Context, permission string, names []EventTargetName) ([]group, error) {
	sees, err := s.sight(ctx, permission)
	if err != nil {
		return nil, err
	}
	out, err := s.policiesOf(ctx, sees, names)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if err = out[i].scalable(fmt.Sprintf("targets[%d].policyId", i)); err != nil {
			return nil, err
		}
	}
	return out, s.readGroups(ctx, out)
}

// policiesOf reads the policies in sight that targets name, and their accounts: two round trips.
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

// scalable refuses a group that no plan may scale; the field names it.
func (g *group) scalable(field string) error {
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

// readGroups asks the clouds how groups are now, and reads how busy they were.
func (s *service) readGroups(ctx context.Context, groups []group) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
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

// assumeRunning gives a group that has 0 instances the last size of its policy's target that is known: 0 is never captured.
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

// askNow asks the cloud how a group is scaled now.
func (s *service) askNow(ctx context.Context, g *group) (now cloud.Autoscaling, err error) {
	err = s.ask(ctx, g, inventory.AskAutoscaling, &now)
	return now, err
}

// ask asks the cloud something of a group.
func (s *service) ask(ctx context.Context, g *group, about string, answer any) (err error) {
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

// lookBack is how many days the average of the CPU is of.
const lookBack = 14

// averageCPU returns the average of what was measured of the CPU, in hundredths of a percent; 0 when too little is known.
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

// cpuOf returns the metric of the average CPU of a type: of the hourly averages that are collected for another one.
func cpuOf(kind string) (cloud.Metric, bool) {
	all := cloud.MetricsOf(kind)
	at := slices.IndexFunc(all, func(m cloud.Metric) bool { return m.Name == "cpu_p95_14d" || m.Name == "cpu_p95_7d" })
	if at < 0 {
		return cloud.Metric{}, false
	}
	m := all[at]
	m.RollUp, m.Days = "avg", lookBack
	return m, true
}

// stored returns the groups of a plan that is stored, with what was captured in place of what the clouds say: one or two round trips.
func (s *service) stored(ctx context.Context, p *readiness.Plan) ([]group, error) {
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
