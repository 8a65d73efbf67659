package autoscalerpolicies

import (
	"context"
	"strings"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
)

// maxNote is how many bytes of a failure a policy and its log keep.
const maxNote = 500

// account reads the account of a policy; one that is gone cannot be reached.
func (s *service) account(ctx context.Context, p readiness.Policy) (inventory.Account, error) {
	a, err := s.inventory.ReadAccount(ctx, identity.CallerOrg(ctx), p.CloudAccountID)
	if fault.Is(err, fault.NotFound) {
		return a, fault.NewWithCause(fault.Conflict, err, "cloud account %s of autoscaler policy %s is not connected "+
			"any more: delete the policy with force=true", p.CloudAccountID, p.ID)
	}
	return a, err
}

// ask asks the cloud how a target is scaled.
func (s *service) ask(ctx context.Context, t readiness.PolicyTarget, a inventory.Account) (cloud.Autoscaling, error) {
	return s.call(ctx, inventory.AskAutoscaling, a,
		inventory.AutoscalingQuestion{Type: t.Type, Region: t.Region, UID: t.UID})
}

// set has the cloud scale a target so, and tells how it is then.
func (s *service) set(ctx context.Context, t readiness.PolicyTarget, a inventory.Account,
	want cloud.Autoscaling) (cloud.Autoscaling, error) {
	return s.call(ctx, inventory.AskSetAutoscaling, a,
		inventory.AutoscalingQuestion{Type: t.Type, Region: t.Region, UID: t.UID, Want: want})
}

func (s *service) call(ctx context.Context, ask string, a inventory.Account,
	of inventory.AutoscalingQuestion) (cloud.Autoscaling, error) {
	q := inventory.Question{Ask: ask, Org: identity.CallerOrg(ctx), Account: a, Autoscaling: of}
	var got cloud.Autoscaling
	if strings.HasPrefix(of.Type, inventory.ClusterProvider+"-") && a.Provider != inventory.ClusterProvider {
		var err error
		if q.Registrations, err = inventory.ReadRegistrations(ctx, s.p.Table, q.Org, a.ID); err != nil {
			return got, err
		}
	}
	err := inventory.AskConnector(ctx, s.p.Workers, q, &got)
	return got, fault.Wrap("ask how "+of.UID+" is scaled", err)
}

func (s *service) apply(ctx context.Context, in *PolicyInput) (AutoscalerPolicy, error) {
	p, err := s.read(ctx, writing, in.PolicyID)
	if err != nil {
		return AutoscalerPolicy{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: p.ID, Before: newPolicy(p)})
	account, err := s.account(ctx, p)
	if err != nil {
		return AutoscalerPolicy{}, err
	}
	p, err = s.bring(ctx, p, account)
	audit.NoteChange(ctx, audit.Change{After: newPolicy(p)})
	return newPolicy(p), err
}

// autopilot applies a policy that is applied whenever it is written. That it could not be is told by its status.
func (s *service) autopilot(ctx context.Context, p readiness.Policy, a inventory.Account) (readiness.Policy,
	error) {
	if p.Mode != readiness.Autopilot || p.Status == readiness.PolicyPaused {
		return p, nil
	}
	done, err := s.bring(ctx, p, a)
	if err != nil && done.Status == readiness.PolicyFailed {
		return done, nil
	}
	return done, err
}

// checkActs refuses a caller who may not act on the target of a policy.
func (s *service) checkActs(ctx context.Context, p readiness.Policy) error {
	return execution.CheckMayAct(ctx, s.inventory, "the policy", p.Target.UID)
}

// allowed returns why a policy may not be applied.
func allowed(p readiness.Policy, a inventory.Account) error {
	switch {
	case p.PlanID != "":
		return readiness.PolicyHeldBy(p)
	case p.Mode == readiness.Monitor:
		return fault.New(fault.Conflict,
			"mode: autoscaler policy %s is in mode monitor, which only watches: change it to recommend or autopilot",
			p.ID)
	case p.Status == readiness.PolicyPaused:
		return fault.New(fault.Conflict, "autoscaler policy %s is paused: resume it first", p.ID)
	case a.ReadOnly():
		return fault.New(fault.Denied,
			"cloud account %s is read_only: nothing in it is ever changed; make it read_write to apply autoscaler "+
				"policy %s", a.ID, p.ID)
	}
	return nil
}

// connected refuses an account that is disconnected, or that its organization excludes.
func connected(a inventory.Account) error {
	if why := a.Disconnection(); why != "" {
		return fault.New(fault.Conflict,
			"cloud account %s cannot be acted on: %s; connect it again, or discover it when its credentials work again",
			a.ID, why)
	}
	return nil
}

// bring scales the target as the policy says, which nobody else does meanwhile. It returns the policy as it is then.
func (s *service) bring(ctx context.Context, p readiness.Policy, a inventory.Account) (readiness.Policy, error) {
	if err := s.checkActs(ctx, p); err != nil {
		return p, err
	}
	if err := allowed(p, a); err != nil {
		return p, err
	}
	want, asking := p.Wanted(), p
	asking.Asked = &want
	claimed, err := s.store.Claim(ctx, identity.CallerOrg(ctx), asking)
	if err != nil {
		return p, err
	}
	live, err := s.askRunning(ctx, p, a)
	if err != nil {
		claimed.Asked = p.Asked // nothing was asked for
		return s.refused(ctx, claimed, nil, err)
	}
	got, err := s.set(ctx, p.Target, a, want)
	if err != nil {
		return s.refused(ctx, claimed, &live, err)
	}
	next, by := claimed, identity.CallerFrom(ctx).Email
	next.Status, next.Note, next.AppliedAt, next.Applied, next.Asked = readiness.PolicyActive, "", s.p.Clock.Now(),
		withoutNative(got), nil
	log := append(drift(p, live), readiness.PolicyEntry{Kind: readiness.LogApplied, By: by, Before: &live, After: &got})
	return s.store.Save(context.WithoutCancel(ctx), identity.CallerOrg(ctx), claimed, next, log...)
}

// askRunning asks the cloud how the target of a policy is scaled, and refuses one that has 0 instances or whose account is disconnected.
func (s *service) askRunning(ctx context.Context, p readiness.Policy, a inventory.Account) (cloud.Autoscaling,
	error) {
	if err := connected(a); err != nil {
		return cloud.Autoscaling{}, err
	}
	live, err := s.ask(ctx, p.Target, a)
	if err == nil {
		err = readiness.CheckRunning(p.Target.UID, live)
	}
	return live, err
}

// refused notes that a policy could not be applied, and returns why.
func (s *service) refused(ctx context.Context, claimed readiness.Policy, live *cloud.Autoscaling,
	why error) (readiness.Policy, error) {
	next := claimed
	next.Status, next.Note = readiness.PolicyFailed, fault.Message(why)
	next.Note = next.Note[:min(len(next.Note), maxNote)]
	e := readiness.PolicyEntry{Kind: readiness.LogRefused, By: identity.CallerFrom(ctx).Email, Message: next.Note,
		Before: live}
	saved, err := s.store.Save(context.WithoutCancel(ctx), identity.CallerOrg(ctx), claimed, next, e)
	if err != nil {
		return claimed, err
	}
	return saved, why
}

func withoutNative(a cloud.Autoscaling) *cloud.Autoscaling {
	a.Native = nil
	return &a
}

// drift returns what somebody else has changed since the policy was applied; nothing when it never was. The present size is the rule's to change.
func drift(p readiness.Policy, live cloud.Autoscaling) []readiness.PolicyEntry {
	if p.Applied == nil {
		return nil
	}
	was := *p.Applied
	was.Desired = live.Desired
	if was.IsMetBy(live) && live.IsMetBy(was) {
		return nil
	}
	return []readiness.PolicyEntry{{Kind: readiness.LogDrifted,
		Message: "somebody else has changed it since it was applied", Before: p.Applied, After: &live}}
}

func (s *service) pause(ctx context.Context, in *PolicyInput) (AutoscalerPolicy, error) {
	p, err := s.read(ctx, writing, in.PolicyID)
	if err != nil || p.Status == readiness.PolicyPaused {
		return newPolicy(p), err
	}
	audit.NoteChange(ctx, audit.Change{Target: p.ID, Before: newPolicy(p)})
	next := p
	next.Status, next.Note, next.UpdatedAt = readiness.PolicyPaused, "", s.p.Clock.Now()
	next, err = s.store.Save(ctx, identity.CallerOrg(ctx), p, next,
		readiness.PolicyEntry{Kind: readiness.LogPaused, By: identity.CallerFrom(ctx).Email})
	if err != nil {
		return AutoscalerPolicy{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: newPolicy(next)})
	return newPolicy(next), nil
}

func (s *service) resume(ctx context.Context, in *PolicyInput) (AutoscalerPolicy, error) {
	p, err := s.read(ctx, writing, in.PolicyID)
	if err != nil {
		return AutoscalerPolicy{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: p.ID, Before: newPolicy(p)})
	if p.PlanID != "" {
		return AutoscalerPolicy{}, readiness.PolicyHeldBy(p)
	}
	if p.Mode != readiness.Monitor {
		err = s.checkActs(ctx, p)
	}
	if err != nil {
		return AutoscalerPolicy{}, err
	}
	if p.Status == readiness.PolicyPaused {
		next := p
		next.Status, next.UpdatedAt = readiness.PolicyActive, s.p.Clock.Now()
		if p, err = s.store.Save(ctx, identity.CallerOrg(ctx), p, next,
			readiness.PolicyEntry{Kind: readiness.LogResumed, By: identity.CallerFrom(ctx).Email}); err != nil {
			return AutoscalerPolicy{}, err
		}
	}
	if p.Mode != readiness.Monitor {
		account, err := s.account(ctx, p)
		if err != nil {
			return AutoscalerPolicy{}, err
		}
		if p, err = s.bring(ctx, p, account); err != nil {
			return AutoscalerPolicy{}, err
		}
	}
	audit.NoteChange(ctx, audit.Change{After: newPolicy(p)})
	return newPolicy(p), nil
}
