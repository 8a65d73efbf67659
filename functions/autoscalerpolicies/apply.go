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

// maxNote is how many bytes of an error text a policy and its log keep.
const maxNote = 500

// readAccount reads the account of a policy. A deleted account cannot be reached.
func (s *service) readAccount(ctx context.Context, p readiness.Policy) (inventory.Account, error) {
	a, err := s.inventory.ReadAccount(ctx, identity.CallerOrg(ctx), p.CloudAccountID)
	if fault.Is(err, fault.NotFound) {
		return a, fault.NewWithCause(fault.Conflict, err, "cloud account %s of autoscaler policy %s is not connected "+
			"any more: delete the policy with force=true", p.CloudAccountID, p.ID)
	}
	return a, err
}

// askScaling asks the cloud for the current scaling of a target.
func (s *service) askScaling(ctx context.Context, t readiness.PolicyTarget, a inventory.Account) (cloud.Autoscaling,
	error,
) {
	return s.callConnector(ctx, inventory.AskAutoscaling, a,
		inventory.AutoscalingQuestion{Type: t.Type, Region: t.Region, UID: t.UID})
}

// setScaling asks the cloud to set the scaling of a target, and returns the scaling afterwards.
func (s *service) setScaling(ctx context.Context, t readiness.PolicyTarget, a inventory.Account,
	want cloud.Autoscaling,
) (cloud.Autoscaling, error) {
	return s.callConnector(ctx, inventory.AskSetAutoscaling, a,
		inventory.AutoscalingQuestion{Type: t.Type, Region: t.Region, UID: t.UID, Want: want})
}

func (s *service) callConnector(ctx context.Context, ask string, a inventory.Account,
	of inventory.AutoscalingQuestion,
) (cloud.Autoscaling, error) {
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

func (s *service) applyNow(ctx context.Context, in *PolicyInput) (AutoscalerPolicy, error) {
	p, err := s.readPolicy(ctx, writing, in.PolicyID)
	if err != nil {
		return AutoscalerPolicy{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: p.ID, Before: newPolicy(p)})
	account, err := s.readAccount(ctx, p)
	if err != nil {
		return AutoscalerPolicy{}, err
	}
	p, err = s.applyPolicy(ctx, p, account)
	audit.NoteChange(ctx, audit.Change{After: newPolicy(p)})
	return newPolicy(p), err
}

// autopilot applies a policy that is applied after each write. A failure is shown by its status only.
func (s *service) autopilot(ctx context.Context, p readiness.Policy, a inventory.Account) (readiness.Policy,
	error,
) {
	if p.Mode != readiness.Autopilot || p.Status == readiness.PolicyPaused {
		return p, nil
	}
	done, err := s.applyPolicy(ctx, p, a)
	if err != nil && done.Status == readiness.PolicyFailed {
		return done, nil
	}
	return done, err
}

// checkActs refuses a caller who may not act on the target of a policy.
func (s *service) checkActs(ctx context.Context, p readiness.Policy) error {
	return execution.CheckMayAct(ctx, s.inventory, "the policy", p.Target.UID)
}

// checkApplicable returns why a policy may not be applied, or nil.
func checkApplicable(p readiness.Policy, a inventory.Account) error {
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

// checkConnected refuses an account that is disconnected or excluded by the organization.
func checkConnected(a inventory.Account) error {
	if why := a.Disconnection(); why != "" {
		return fault.New(fault.Conflict,
			"cloud account %s cannot be acted on: %s; connect it again, or discover it when its credentials work again",
			a.ID, why)
	}
	return nil
}

// applyPolicy scales the target as the policy says, under an exclusive claim. It returns the policy after that.
func (s *service) applyPolicy(ctx context.Context, p readiness.Policy, a inventory.Account) (readiness.Policy,
	error,
) {
	if err := s.checkActs(ctx, p); err != nil {
		return p, err
	}
	if err := checkApplicable(p, a); err != nil {
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
		return s.recordRefusal(ctx, claimed, nil, err)
	}
	got, err := s.setScaling(ctx, p.Target, a, want)
	if err != nil {
		return s.recordRefusal(ctx, claimed, &live, err)
	}
	next, by := claimed, identity.CallerFrom(ctx).Email
	next.Status, next.Note, next.AppliedAt, next.Applied, next.Asked = readiness.PolicyActive, "", s.p.Clock.Now(),
		withoutNative(got), nil
	log := append(driftOf(p, live),
		readiness.PolicyEntry{Kind: readiness.LogApplied, By: by, Before: &live, After: &got})
	return s.store.Save(context.WithoutCancel(ctx), identity.CallerOrg(ctx), claimed, next, log...)
}

// askRunning asks the cloud for the scaling of a policy's target. It refuses a target with 0 instances and a
// disconnected account.
func (s *service) askRunning(ctx context.Context, p readiness.Policy, a inventory.Account) (cloud.Autoscaling,
	error,
) {
	if err := checkConnected(a); err != nil {
		return cloud.Autoscaling{}, err
	}
	live, err := s.askScaling(ctx, p.Target, a)
	if err == nil {
		err = readiness.CheckRunning(p.Target.UID, live)
	}
	return live, err
}

// recordRefusal records that a policy could not be applied, and returns the reason as an error.
func (s *service) recordRefusal(ctx context.Context, claimed readiness.Policy, live *cloud.Autoscaling,
	why error,
) (readiness.Policy, error) {
	next := claimed
	next.Status, next.Note = readiness.PolicyFailed, fault.Message(why)
	next.Note = next.Note[:min(len(next.Note), maxNote)]
	e := readiness.PolicyEntry{
		Kind: readiness.LogRefused, By: identity.CallerFrom(ctx).Email, Message: next.Note,
		Before: live,
	}
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

// driftOf returns the changes made by others since the policy was last applied, or nothing if it never was. The
// current size does not count, because the scaling rule changes it.
func driftOf(p readiness.Policy, live cloud.Autoscaling) []readiness.PolicyEntry {
	if p.Applied == nil {
		return nil
	}
	was := *p.Applied
	was.Desired = live.Desired
	if was.IsMetBy(live) && live.IsMetBy(was) {
		return nil
	}
	return []readiness.PolicyEntry{{
		Kind:    readiness.LogDrifted,
		Message: "somebody else has changed it since it was applied", Before: p.Applied, After: &live,
	}}
}

func (s *service) pausePolicy(ctx context.Context, in *PolicyInput) (AutoscalerPolicy, error) {
	p, err := s.readPolicy(ctx, writing, in.PolicyID)
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

func (s *service) resumePolicy(ctx context.Context, in *PolicyInput) (AutoscalerPolicy, error) {
	p, err := s.readPolicy(ctx, writing, in.PolicyID)
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
		account, err := s.readAccount(ctx, p)
		if err != nil {
			return AutoscalerPolicy{}, err
		}
		if p, err = s.applyPolicy(ctx, p, account); err != nil {
			return AutoscalerPolicy{}, err
		}
	}
	audit.NoteChange(ctx, audit.Change{After: newPolicy(p)})
	return newPolicy(p), nil
}
