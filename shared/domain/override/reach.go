package override

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/people/membership"
)

// Policy is the policy that the maker of an override needs on each resource that it holds on or off.
const Policy = "overrides:write"

// Reach returns, by override ID, the resources that overrides hold now: the resource, or the members of the group, as
// far as the maker of the override may currently act on them. A member that joins the group later is held only if it
// is in the maker's scope. An override whose maker has left, or has lost Policy, holds nothing. It takes no round trip
// if there are no groups and no makers, else one to four.
func Reach(ctx context.Context, s *inventory.Store, org string, held []Held) (map[string][]string, error) {
	members, err := expandGroups(ctx, s, org, held)
	if err != nil {
		return nil, err
	}
	users := make([]string, len(held))
	for i, h := range held {
		users[i] = h.Maker
	}
	slices.Sort(users)
	may, err := s.ResourceSetsOf(ctx, org, Policy, slices.Compact(users)...)
	if err != nil {
		return nil, fmt.Errorf("read what the makers of %d overrides may act on: %w", len(held), err)
	}
	out := make(map[string][]string, len(held))
	for _, h := range held {
		ids := []string{h.ResourceID}
		if h.GroupID != "" {
			ids = members[h.GroupID]
		}
		for _, id := range ids {
			if id != "" && may[h.Maker].Has(id) {
				out[h.ID] = append(out[h.ID], id)
			}
		}
	}
	return out, nil
}

// expandGroups returns, by group, the IDs of the members of the groups that have overrides.
func expandGroups(ctx context.Context, s *inventory.Store, org string, held []Held) (map[string][]string, error) {
	var groups []string
	for _, h := range held {
		if h.GroupID != "" && !slices.Contains(groups, h.GroupID) {
			groups = append(groups, h.GroupID)
		}
	}
	if len(groups) == 0 {
		return nil, nil
	}
	expanded, err := s.ExpandGroups(ctx, org, groups...)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]string, len(expanded))
	for id, members := range expanded {
		for _, m := range members {
			out[id] = append(out[id], m.ResourceID)
		}
	}
	return out, nil
}

// Restorable returns the resources that the end of o may restore: those that its maker could act on when o began, or
// can act on now. The maker may have left since; the resources that o has held are restored all the same, and no
// others. It takes no round trip for an override that was made with a right on the whole organization.
func (o Override) Restorable(ctx context.Context, s *inventory.Store, org string) (inventory.ResourceSet, error) {
	scopes := grant.Scopes{All: true}
	if o.Scopes != nil {
		now, err := s.MakerScopes(ctx, org, Policy, o.Maker)
		if err != nil {
			return inventory.ResourceSet{}, err
		}
		scopes = grant.Scopes{
			All: now.All, Teams: slices.Concat(o.Scopes.Teams, now.Teams),
			Resources: slices.Concat(o.Scopes.Resources, now.Resources),
		}
	}
	sets, err := s.ResourceSets(ctx, org, scopes)
	if err != nil {
		return inventory.ResourceSet{}, fmt.Errorf("read what the end of %s restores: %w", o.ID, err)
	}
	return sets[0], nil
}

// Access is the table access of Reach, besides the inventory and the list of live overrides.
var Access = membership.CallerAccess
