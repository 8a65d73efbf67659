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

// DeletedAutoscalerPolicy is the answer to the deletion of a policy.
type DeletedAutoscalerPolicy struct {
	ID       string           `json:"id"`
	Restored bool             `json:"restored" doc:"The target got its original scaling back"`
	Drift    *AutoscalerDrift `json:"drift" doc:"Changes by others since the policy was last applied; null for none"`
}

// AutoscalerDrift is the applied scaling of a target and the scaling found instead.
type AutoscalerDrift struct {
	Applied AutoscalerScaling `json:"applied"`
	Live    AutoscalerScaling `json:"live"`
}

type removeInput struct {
	PolicyInput
	Force bool `query:"force" doc:"Forget the policy without giving the target back"`
}

func (s *service) deletePolicy(ctx context.Context, in *removeInput) (DeletedAutoscalerPolicy, error) {
	p, err := s.readPolicy(ctx, writing, in.PolicyID)
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
	unheld, err := s.unheldWrite(ctx, p)
	if err != nil {
		return out, err
	}
	if p, err = s.store.Claim(ctx, identity.CallerOrg(ctx), p); err != nil {
		return out, err
	}
	var log []readiness.PolicyEntry
	if p.MayHaveSet() && !in.Force {
		if out, log, err = s.restoreTarget(ctx, p); err != nil {
			_, err = s.recordRefusal(ctx, p, nil, err)
			return out, err
		}
	}
	return out, s.store.Delete(context.WithoutCancel(ctx), identity.CallerOrg(ctx), p, log, unheld)
}

// unheldWrite returns the write that completes the deletion of a policy, or an error that lists the plans that use
// it.
func (s *service) unheldWrite(ctx context.Context, p readiness.Policy) (table.Write, error) {
	holders, err := s.plans.HoldersOf(ctx, identity.CallerOrg(ctx), p.ID)
	if err != nil {
		return table.Write{}, err
	}
	h, named := holders[p.ID], fmt.Sprintf("autoscaler policy %s (%s)", p.ID, p.Name)
	return h.Unheld, identity.InUse(ctx, named, h.Plans, "take it out of their targets, cancel or delete them, "+
		"then delete")
}

// restoreTarget gives the target its original scaling back. A target that no longer exists needs nothing.
func (s *service) restoreTarget(ctx context.Context, p readiness.Policy) (DeletedAutoscalerPolicy,
	[]readiness.PolicyEntry,
	error,
) {
	out := DeletedAutoscalerPolicy{ID: p.ID}
	account, err := s.writableAccount(ctx, p)
	if err != nil {
		return out, nil, deletionBlocker(p, err)
	}
	live, err := s.askScaling(ctx, p.Target, account)
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
		return out, nil, deletionBlocker(p, err)
	}
	log := driftOf(p, live)
	if len(log) > 0 {
		out.Drift = &AutoscalerDrift{newScaling(*p.Applied), newScaling(live)}
	}
	got, err := s.setScaling(ctx, p.Target, account, p.Found)
	if err == nil && !readiness.IsRestored(got, p.Found) {
		err = fault.New(fault.Conflict,
			"it has min %d, max %d, desired %d, where min %d, max %d, desired %d was given back",
			got.Min, got.Max, got.Desired, p.Found.Min, p.Found.Max, p.Found.Desired)
	}
	if err != nil {
		return out, nil, deletionBlocker(p, err)
	}
	out.Restored = true
	return out, append(log, readiness.PolicyEntry{
		Kind: readiness.LogRestored, By: identity.CallerFrom(ctx).Email, Before: &live, After: &got,
	}), nil
}

// writableAccount returns the account of a policy, or an error if it is read-only or disconnected, so that the target
// cannot be scaled.
func (s *service) writableAccount(ctx context.Context, p readiness.Policy) (inventory.Account, error) {
	account, err := s.readAccount(ctx, p)
	switch {
	case err != nil:
		return account, err
	case account.ReadOnly():
		return account, fault.New(fault.Denied, "cloud account %s is read_only", account.ID)
	}
	return account, checkConnected(account)
}

// deletionBlocker returns the error that explains why p cannot be deleted: its target could not be restored because
// of why.
func deletionBlocker(p readiness.Policy, why error) error {
	return fault.NewWithCause(fault.Conflict, why,
		"autoscaler policy %s is kept, because %.300s could not get its original scaling back: %s; try again, or "+
			"delete with force=true to leave it as it is", p.ID, p.Target.UID, fault.Message(why))
}
