package overrides

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// narrowScopes returns the scopes of the caller's right to create overrides, or nil if it is the whole organization.
func narrowScopes(c identity.Caller) *grant.Scopes {
	if may := c.Scopes(writing); !may.All {
		return &may
	}
	return nil
}

// groupOf returns a group that the caller may see. If policy is writing, the caller must be allowed to act on all of
// its resources.
func (s *service) groupOf(ctx context.Context, groupID, policy string) (evaluation.Target, error) {
	c, missing := identity.CallerFrom(ctx), fault.New(fault.NotFound, "resource group %.64q does not exist", groupID)
	if !id.IsValid("grp", groupID) {
		return evaluation.Target{}, missing
	}
	if sees := c.Scopes(grouping); !sees.All {
		parts, err := s.inventory.GroupsInScope(ctx, c.Org, sees, groupID)
		if err != nil {
			return evaluation.Target{}, err
		}
		if len(parts) == 0 {
			return evaluation.Target{}, missing
		}
	}
	t, err := s.evaluation.GroupTarget(ctx, c.Org, groupID)
	if fault.Is(err, fault.NotFound) {
		return t, missing
	}
	if err != nil {
		return t, err
	}
	all, err := s.coversAll(ctx, t, policy)
	if err == nil && !all {
		err = fault.New(fault.Denied, "permission denied: %s is needed on every resource of the group", policy)
	}
	return t, err
}

// coversAll reports whether the caller holds the policy on all resources of the target.
func (s *service) coversAll(ctx context.Context, t evaluation.Target, policy string) (bool, error) {
	c := identity.CallerFrom(ctx)
	sets, err := s.inventory.ResourceSets(ctx, c.Org, c.Scopes(policy))
	if err != nil {
		return false, err
	}
	for _, m := range t.Members {
		if !sets[0].HasUID(m.UID) {
			return false, nil
		}
	}
	for _, l := range t.LeftOut {
		if !sets[0].HasUID(l.UID) {
			return false, nil
		}
	}
	return sets[0].All() || len(t.Members)+len(t.LeftOut) > 0, nil
}

// resourceOf returns the resource with a native ID on which the caller may act.
func (s *service) resourceOf(ctx context.Context, uid string) (evaluation.Target, string, error) {
	c := identity.CallerFrom(ctx)
	sets, err := s.inventory.ResourceSets(ctx, c.Org, c.Scopes(writing), c.Scopes(viewing))
	switch {
	case err != nil:
		return evaluation.Target{}, "", err
	case !sets[0].HasUID(uid) && sets[1].HasUID(uid):
		return evaluation.Target{}, "",
			fault.New(fault.Denied, "permission denied: %s is needed on resource %.256q", writing, uid)
	case !sets[0].HasUID(uid):
		return evaluation.Target{}, "", execution.ErrUnknownResource(uid)
	}
	found, err := s.inventory.ByUIDs(ctx, c.Org, []string{uid}, inventory.SeeEverything())
	if err != nil {
		return evaluation.Target{}, "", err
	}
	if len(found) == 0 {
		return evaluation.Target{}, "", execution.ErrUnknownResource(uid)
	}
	t, err := s.evaluation.ResourceTarget(ctx, c.Org, found[0].ID)
	return t, found[0].ID, err
}

// mayForce refuses a forced override or wake link of a caller who may not act on all resources of the target.
func (s *service) mayForce(ctx context.Context, t evaluation.Target, force bool) error {
	if !force {
		return nil
	}
	all, err := s.coversAll(ctx, t, executing)
	if err == nil && !all {
		err = fault.New(fault.Denied, "force: permission denied: %s is needed on every resource", executing)
	}
	return err
}

// checkActionable refuses a target without a resource to act on. The error is fault.Forbidden for a read_only
// account, fault.Conflict for a disconnected one, else fault.Invalid.
func (s *service) checkActionable(ctx context.Context, t evaluation.Target, field, value string) error {
	if len(t.Members) > 0 {
		return nil
	}
	if len(t.LeftOut) == 0 {
		return fault.New(fault.Invalid, "%s: %.256q has no resources that can be acted on: add some first", field,
			value)
	}
	members := make([]inventory.Member, len(t.LeftOut))
	for i, l := range t.LeftOut {
		members[i] = l.Member
	}
	accounts, err := execution.ReadAccounts(ctx, s.p.Table, identity.CallerOrg(ctx), members)
	if err != nil {
		return err
	}
	for _, l := range t.LeftOut {
		if accounts[l.CloudAccountID].ReadOnly() {
			return fault.New(fault.Denied, "%s: %.256q: %s; set permissionLevel to read_write to allow it", field,
				value, l.Reason)
		}
		if why := accounts[l.CloudAccountID].Disconnection(); why != "" {
			return fault.New(fault.Conflict,
				"%s: %.256q: %s; connect it again, or discover it when its credentials work again", field, value, why)
		}
	}
	return fault.New(fault.Invalid, "%s: %.256q: %s", field, value, t.LeftOut[0].Reason)
}
