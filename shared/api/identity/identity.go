// Package identity says who is calling and what they may do: the caller that the authorizer verified, the catalogue of
// policies, and the decision whether a grant covers a target.
package identity

import "context"

// Caller is who makes a request, as the authorizer told; it is never read from anything else in the request.
type Caller struct {
	Org     string // current organization (org_…), empty for a user who belongs to none
	User    string // usr_…
	Email   string
	Session string // the session of the access token; empty for other credentials
	Method  string // MethodToken or MethodPAT
	SSO     bool   // Org's identity provider vouches for the user, so nothing outside of Org is the caller's to see or change
	Grants  []Grant
}

// The methods by which a caller proves who they are.
const (
	MethodToken = "jwt"
	MethodPAT   = "pat"
)

// Grant is a role on a scope. What is stored of it names the role; Policies are filled in when it is read (Access.In,
// Decode), with what the role holds at that moment. Who changes Policies after that calls Resolve again.
type Grant struct {
	ID       string   `json:"id,omitempty"`   // asgn_…, of the assignment that gave it
	Role     string   `json:"role,omitempty"` // the name of a system role, or the id of a custom one (role_…)
	Policies []string `json:"policies,omitempty"`
	Scope    string   `json:"scope"` // OrgScope, TeamScope+<id>, ResourceScope+<id>

	policies set // what Role or Policies stand for
	resolved bool
}

// The scopes of grants.
const (
	OrgScope      = "org"       // the whole organization
	TeamScope     = "team:"     // what the team owns; its id follows
	ResourceScope = "resource:" // one resource; its id follows
)

type callerKey struct{}

// With puts the caller into ctx.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// From takes the caller from ctx; the zero Caller, which may do nothing, when there is none.
func From(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
