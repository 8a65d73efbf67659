package resourcegroups

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// visibleGroups returns the groups that the caller may see: all of them, or those with members in the caller's
// scopes, reduced to these members.
func (s *service) visibleGroups(ctx context.Context) ([]inventory.Group, error) {
	c := identity.CallerFrom(ctx)
	scopes := c.Scopes(reading)
	if scopes.All {
		return s.inventory.ListGroups(ctx, c.Org)
	}
	parts, err := s.inventory.GroupsInScope(ctx, c.Org, scopes, "")
	out := make([]inventory.Group, len(parts))
	for i, p := range parts {
		out[i] = p.Group
		out[i].Size = len(p.Places)
	}
	return out, err
}

func (s *service) getGroup(ctx context.Context, in *GroupInput) (Group, error) {
	if scopes := identity.CallerFrom(ctx).Scopes(reading); !scopes.All {
		return s.partOfGroup(ctx, in.GroupID, scopes)
	}
	g, err := s.readGroup(ctx, in.GroupID)
	if err != nil {
		return Group{}, err
	}
	out, err := s.groupWithMembers(ctx, g)
	if err != nil {
		return Group{}, err
	}
	err = s.addStates(ctx, []*Group{&out})
	return out, err
}

// partOfGroup returns a group with only its members in scopes.
func (s *service) partOfGroup(ctx context.Context, groupID string, scopes grant.Scopes) (Group, error) {
	missing := fault.New(fault.NotFound, "resource group %.64q does not exist", groupID)
	if !id.IsValid("grp", groupID) {
		return Group{}, missing
	}
	parts, err := s.inventory.GroupsInScope(ctx, identity.CallerOrg(ctx), scopes, groupID)
	if err != nil {
		return Group{}, err
	}
	if len(parts) == 0 {
		return Group{}, missing
	}
	out := newBriefGroup(parts[0].Group)
	for _, p := range parts[0].Places {
		out.Members = append(out.Members, Member(p))
	}
	n := len(out.Members)
	out.MemberCount = &n
	err = s.addStates(ctx, []*Group{&out})
	return out, err
}
