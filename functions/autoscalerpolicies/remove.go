package autoscalerpolicies

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// DeletedAutoscalerPolicy tells what became of the target of a policy.
type DeletedAutoscalerPolicy struct {
	ID       string           `json:"id"`
	Restored bool             `json:"restored" doc:"The target was given back as it was found"`
	Drift    *AutoscalerDrift `json:"drift" doc:"What somebody else had changed since the policy was last applied; null for nothing"`
}

// AutoscalerDrift is how a target was applied, and how it was found instead.
type AutoscalerDrift struct {
	Applied AutoscalerScaling `json:"applied"`
	Live    AutoscalerScaling `json:"live"`
}

type removeInput struct {
	PolicyInput
	Force bool `query:"force" doc:"Forget the policy without giving the target back"`
}

func (s *service) remove(ctx context.Context, in *removeInput) (DeletedAutoscalerPolicy, error) {
	p, err := s.read(ctx, writing, in.PolicyID)
	if err != nil {
		return DeletedAutoscalerPolicy{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: p.ID, Before: newPolicy(p)})
	out := DeletedAutoscalerPolicy{ID: p.ID}
	if p.PlanID != "" {
		return out, readiness.PolicyHeldBy(p)
	}
	if p.MayHaveSet() && !in.Force {
		if err = s.checkActs(ctx, p); err != nil {
			return out, err
		}
	}
	unheld, err := s.unheld(ctx, p)
	if err != nil {
		return out, err
	}
	if p, err = s.store.Claim(ctx, identity.CallerOrg(ctx), p); err != nil {
		return out, err
	}
	var log []readiness.PolicyEntry
	if p.MayHaveSet() && !in.Force {
		if out, log, err = s.restore(ctx, p); err != nil {
			_, err = s.refused(ctx, p, nil, err)
			return out, err
		}
	}
	return out, s.store.Delete(context.WithoutCancel(ctx), identity.CallerOrg(ctx), p, log, unheld)
}

// unheld returns the write that goes with the deletion of a policy, or the error that lists the plans that name it.
func (s *service) unheld(ctx context.Context, p readiness.Policy) (table.Write, error) {
	holders, err := s.plans.HoldersOf(ctx, identity.CallerOrg(ctx), p.ID)
	if err != nil {
		return table.Write{}, err
	}
	h, named := holders[p.ID], fmt.Sprintf("autoscaler policy %s (%s)", p.ID, p.Name)
	return h.Unheld, identity.InUse(ctx, named, h.Plans, "take it out of their targets, cancel or delete them, "+
		"then delete")
}

// restore gives the target back as it was found. One that is gone needs nothing.
func (s *service) restore(ctx context.Context, p readiness.Policy) (DeletedAutoscalerPolicy, []readiness.PolicyEntry,
	error) {
	out := DeletedAutoscalerPolicy{ID: p.ID}
	account, err := s.settable(ctx, p)
	if err != nil {
		return out, nil, kept(p, err)
	}
	live, err := s.ask(ctx, p.Target, account)
	if fault.Is(err, fault.NotFound) {
		return out, nil, nil
	}
	if err == nil && !p.HasSet(live) {
		return out, nil, nil
	}
	if err == nil {
		err = readiness.CheckRunning(p.Target.UID, live)
	}
	if err != nil {
		return out, nil, kept(p, err)
	}
	log := drift(p, live)
	if len(log) > 0 {
		out.Drift = &AutoscalerDrift{newScaling(*p.Applied), newScaling(live)}
	}
	got, err := s.set(ctx, p.Target, account, p.Found)
	if err == nil && !readiness.IsRestored(got, p.Found) {
		err = fault.New(fault.Conflict,
			"it has min %d, max %d, desired %d, where min %d, max %d, desired %d was given back",
			got.Min, got.Max, got.Desired, p.Found.Min, p.Found.Max, p.Found.Desired)
	}
	if err != nil {
		return out, nil, kept(p, err)
	}
	out.Restored = true
	return out, append(log, readiness.PolicyEntry{Kind: readiness.LogRestored, By: identity.CallerFrom(ctx).Email, Before: &live, After: &got}), nil
}

// settable returns the account of a policy, in which its target may be set.
func (s *service) settable(ctx context.Context, p readiness.Policy) (inventory.Account, error) {
	account, err := s.account(ctx, p)
	switch {
	case err != nil:
		return account, err
	case account.ReadOnly():
		return account, fault.New(fault.Denied, "cloud account %s is read_only", account.ID)
	}
	return account, connected(account)
}

// kept tells why a policy is not deleted, and what to do.
func kept(p readiness.Policy, why error) error {
	return fault.NewWithCause(fault.Conflict, why,
		"autoscaler policy %s is kept, for %.300s could not be given back as it was found: %s; try again, or delete "+
			"with force=true to leave it as it is", p.ID, p.Target.UID, fault.Message(why))
}
