package resourcegroups

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// seen are the groups that the caller may see: all of them, or those with members in the caller's scopes, as if they had no
// others.
func (s *service) seen(ctx context.Context) ([]inventory.Group, error) {
	c := identity.From(ctx)
	scopes := c.Scopes(reading)
	if scopes.All {
		return s.inventory.Groups(ctx, c.Org)
	}
	parts, err := s.inventory.Parts(ctx, c.Org, scopes, "")
	out := make([]inventory.Group, len(parts))
	for i, p := range parts {
		out[i] = p.Group
		out[i].Size = len(p.Places)
	}
	return out, err
}

func (s *service) get(ctx context.Context, in *GroupInput) (Group, error) {
	if scopes := identity.From(ctx).Scopes(reading); !scopes.All {
		return s.part(ctx, in.GroupID, scopes)
	}
	g, err := s.read(ctx, in.GroupID)
	if err != nil {
		return Group{}, err
	}
	return s.whole(ctx, g)
}

// part is a group with the members that lie in scopes.
func (s *service) part(ctx context.Context, groupID string, scopes grant.Scopes) (Group, error) {
	missing := fault.New(fault.NotFound, "resource group %.64q does not exist", groupID)
	if !id.Valid("grp", groupID) {
		return Group{}, missing
	}
	parts, err := s.inventory.Parts(ctx, org(ctx), scopes, groupID)
	if err != nil {
		return Group{}, err
	}
	if len(parts) == 0 {
		return Group{}, missing
	}
	out := brief(parts[0].Group)
	for _, p := range parts[0].Places {
		out.Members = append(out.Members, Member(p))
	}
	n := len(out.Members)
	out.MemberCount = &n
	return out, nil
}
