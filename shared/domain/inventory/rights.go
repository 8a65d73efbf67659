package inventory

import (
	"context"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/people/membership"
)

// ResourceSetsOf returns, by user, the resources that users may currently access under the policy. The set is empty
// for a user who is no longer a member, and complete for the empty user (membership.Callers). It takes one round trip
// per hundred users, plus those of ResourceSets.
func (s *Store) ResourceSetsOf(ctx context.Context, org, policy string, users ...string) (map[string]ResourceSet,
	error,
) {
	callers, err := membership.ReadCallers(ctx, s.table, org, users...)
	if err != nil {
		return nil, err
	}
	scopes := make([]grant.Scopes, len(users))
	for i, user := range users {
		scopes[i] = callers.Scopes(user, policy)
	}
	sets, err := s.ResourceSets(ctx, org, scopes...)
	if err != nil {
		return nil, err
	}
	out := make(map[string]ResourceSet, len(users))
	for i, user := range users {
		out[user] = sets[i]
	}
	return out, nil
}

// MakerScopes returns the scopes that a user currently has for the policy. It takes one round trip.
func (s *Store) MakerScopes(ctx context.Context, org, policy, user string) (grant.Scopes, error) {
	callers, err := membership.ReadCallers(ctx, s.table, org, user)
	return callers.Scopes(user, policy), err
}

// SelectMembers returns the resources that a dynamic group with the selector would have now, in no order. It takes one
// round trip.
func (s *Store) SelectMembers(ctx context.Context, org string, selector Selector) ([]Member, error) {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, err
	}
	return v.expand(&Group{Selector: &selector}), nil
}
