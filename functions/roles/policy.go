package roles

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/fault"
)

func listPolicies(context.Context, *struct{}) ([]grant.Policy, error) {
	return grant.Policies(), nil
}

// HeldPermission is a policy on a scope.
type HeldPermission struct {
	Policy    string `json:"policy" example:"actions:execute"`
	ScopeType string `json:"scopeType" enum:"org,team,resource"`
	ScopeID   string `json:"scopeID" doc:"The organization, the team or the resource" example:"team_01k8z3v5y0e6m9x2q4t7r1c8bd"`
}

type permissionsInput struct {
	Email string `query:"email" maxLength:"1024" doc:"The permissions of this member instead of the caller's; needs roles:read on the whole organization. Nobody but a member has any"`
}

func (s *service) listPermissions(ctx context.Context, in *permissionsInput) ([]HeldPermission, error) {
	c := identity.CallerFrom(ctx)
	if in.Email == "" {
		return permissionsOf(c), nil
	}
	if !identity.Allows(c, reading) {
		return nil, fault.New(fault.Denied, "permission denied: %s is needed on the whole organization to see the "+
			"permissions of others; leave email out to see your own", reading)
	}
	a, err := s.readAccess(ctx)
	if err != nil {
		return nil, err
	}
	_, m, err := s.people.FindMember(ctx, c.Org, in.Email)
	if fault.Is(err, fault.NotFound) {
		return []HeldPermission{}, nil
	}
	return permissionsOf(identity.Caller{Org: c.Org, User: m.User, Grants: a.ResolveGrants(m.Grants)}), err
}

// permissionsOf lists the policies of a caller.
func permissionsOf(c identity.Caller) []HeldPermission {
	out := []HeldPermission{}
	for _, p := range grant.Policies() {
		s := c.Scopes(p.ID)
		if s.All {
			out = append(out, HeldPermission{p.ID, "org", c.Org})
		}
		out = append(out, workingOn(p.ID, "team", s.Teams)...)
		out = append(out, workingOn(p.ID, "resource", s.Resources)...)
	}
	return out
}

// workingOn returns the policy on teams or resources, or nothing if no operation accepts a grant of it there.
func workingOn(policy, kind string, ids []string) []HeldPermission {
	if !grant.WorksOn(policy, kind) {
		return nil
	}
	out := make([]HeldPermission, len(ids))
	for i, id := range ids {
		out[i] = HeldPermission{policy, kind, id}
	}
	return out
}
