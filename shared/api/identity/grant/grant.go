// Package grant makes authorization decisions. It holds the catalogue of policies and the system roles, and decides
// whether a grant of a role covers a target.
package grant

// Grant is a role on a scope. Stored grants name the role. Policies are filled in when they are read
// (identity.Access.ResolveGrants, Decode), with the current policies of the role. Call ResolveGrants again after
// changing Policies.
type Grant struct {
	ID       string   `json:"id,omitempty"`   // asgn_…, of the assignment
	Role     string   `json:"role,omitempty"` // name of a system role, or ID of a custom one (role_…)
	Policies []string `json:"policies,omitempty"`
	Scope    string   `json:"scope"` // OrgScope, TeamScope+<id>, ResourceScope+<id>

	policies policySet // the policies of Role or Policies
	resolved bool
}

// The scopes of grants.
const (
	OrgScope      = "org"       // the whole organization
	TeamScope     = "team:"     // the resources that the team owns; its ID follows
	ResourceScope = "resource:" // one resource; its ID follows
)

// ResolveGrants computes, in place, the policies that grants permit. A grant of a system role has the role's policies
// in this version of the service, not those of the day of the assignment. All other grants have the policies that they
// list.
func ResolveGrants(grants []Grant) []Grant {
	for i := range grants {
		g := &grants[i]
		if r, ok := SystemRole(g.Role); ok {
			g.Policies, g.policies = r.Policies, systemSets[g.Role]
		} else {
			g.policies = newPolicySet(g.Policies)
		}
		g.resolved = true
	}
	return grants
}
