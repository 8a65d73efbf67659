// Package grant decides what may be done: the catalogue of policies, the roles that list them, and whether a grant of a role
// covers a target.
package grant

// Grant is a role on a scope. What is stored of it names the role; Policies are filled in when it is read (identity.Access.In,
// Decode), with what the role holds at that moment. Who changes Policies after that calls Resolve again.
type Grant struct {
	ID       string   `json:"id,omitempty"`   // asgn_…, of the assignment that gave it
	Role     string   `json:"role,omitempty"` // the name of a system role, or the id of a custom one (role_…)
	Policies []string `json:"policies,omitempty"`
	Scope    string   `json:"scope"` // OrgScope, TeamScope+<id>, ResourceScope+<id>

	policies policySet // what Role or Policies stand for
	resolved bool
}

// The scopes of grants.
const (
	OrgScope      = "org"       // the whole organization
	TeamScope     = "team:"     // what the team owns; its id follows
	ResourceScope = "resource:" // one resource; its id follows
)

// ResolveGrants works out, in place, what grants permit: those that name a system role have its policies, because a role's
// policies are those of this deployment, not those of the day it was assigned; any other has those that it lists.
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
