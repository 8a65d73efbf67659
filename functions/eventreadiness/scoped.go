package eventreadiness

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
)

// policySight is the set of autoscaler policies that a caller may see. It also decides which plans the caller may
// see.
type policySight struct {
	all bool
	ids map[string]bool
}

// has reports whether the policy may be seen.
func (v policySight) has(policyID string) bool { return v.all || v.ids[policyID] }

// covers reports whether the caller may see the plan, that is, every target of it. A target whose policy was deleted
// is in no scope.
func (v policySight) covers(p *readiness.Plan) bool {
	hidden := func(t readiness.Target) bool { return !v.has(t.PolicyID) }
	return v.all || len(p.Targets) > 0 && !slices.ContainsFunc(p.Targets, hidden)
}

// policiesInSight returns the policies with a target on which the caller holds the permission. It takes no round trip
// for a caller who holds it on the whole organization, else one for the list of policies and the resources of the
// scopes.
func (s *service) policiesInSight(ctx context.Context, permission string) (policySight, error) {
	c := identity.CallerFrom(ctx)
	scopes := c.Scopes(permission)
	if scopes.All {
		return policySight{all: true}, nil
	}
	policies, set, err := s.readSight(ctx, c.Org, scopes)
	if err != nil {
		return policySight{}, err
	}
	out := policySight{ids: make(map[string]bool, len(policies))}
	for i := range policies {
		out.ids[policies[i].ID] = set.HasUID(policies[i].Target.UID)
	}
	return out, nil
}

func (s *service) readSight(ctx context.Context, org string, in grant.Scopes) ([]readiness.Policy,
	inventory.ResourceSet, error,
) {
	var policies []readiness.Policy
	var sets []inventory.ResourceSet
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		policies, err = s.policies.List(ctx, org)
		return err
	})
	g.Go(func() (err error) {
		sets, err = s.inventory.ResourceSets(ctx, org, in)
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, inventory.ResourceSet{}, err
	}
	return policies, sets[0], nil
}

// visiblePlan reads a plan that the caller may see. A plan outside the caller's scopes is reported as missing.
func (s *service) visiblePlan(ctx context.Context, planID string) (readiness.Plan, error) {
	p, err := s.plans.Get(ctx, identity.CallerOrg(ctx), planID)
	if err != nil {
		return p, err
	}
	sees, err := s.policiesInSight(ctx, reading)
	if err == nil && !sees.covers(&p) {
		err = readiness.Missing(planID)
	}
	if err != nil {
		return readiness.Plan{}, err
	}
	return p, nil
}
