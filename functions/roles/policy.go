package roles

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
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

func listPermissions(ctx context.Context, _ *struct{}) ([]HeldPermission, error) {
	out := []HeldPermission{}
	c := identity.CallerFrom(ctx)
	for _, p := range grant.Policies() {
		s := c.Scopes(p.ID)
		if s.All {
			out = append(out, HeldPermission{p.ID, "org", c.Org})
		}
		out = append(out, workingOn(p.ID, "team", s.Teams)...)
		out = append(out, workingOn(p.ID, "resource", s.Resources)...)
	}
	return out, nil
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
