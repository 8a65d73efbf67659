// Package identity says who is calling and what they may do: the caller that the authorizer verified, and the records of users,
// organizations, members and sessions that it is made of.
package identity

import (
	"context"

	"lamplighter.dev/shared/api/identity/grant"
)

// Caller is who makes a request, as the authorizer told; it is never read from anything else in the request.
type Caller struct {
	Org     string // current organization (org_…), empty for a user who belongs to none
	User    string // usr_…
	Email   string
	Session string // the session of the access token; empty for other credentials
	Method  string // MethodToken or MethodPAT
	// Org's identity provider vouches for the user, so nothing outside of Org is the caller's to see or change
	SSO    bool
	Grants []grant.Grant
	Worker string // the function of ours that calls by itself, of nobody's behalf; it has no user, and no grants
}

// The methods by which a caller proves who they are.
const (
	MethodToken = "jwt"
	MethodPAT   = "pat"
)

// Allows reports whether c may do what policy names to a target, as grant.Allow says. Who is nobody, or in no organization,
// may do nothing.
func Allows(c Caller, policy string, target ...string) bool {
	return c.known() && grant.Allow(c.Grants, policy, target...)
}

// Holds reports whether c has the policy on any scope: a check for operations that then show or touch just what lies within
// the caller's scopes. An operation that does not look at scopes asks Allows.
func Holds(c Caller, policy string) bool { return c.known() && grant.Hold(c.Grants, policy) }

// Scopes returns where c may do what policy names. An operation that is Scoped shows and touches that and nothing else.
func (c Caller) Scopes(policy string) grant.Scopes {
	if !c.known() {
		return grant.Scopes{}
	}
	return grant.ScopesOf(c.Grants, policy)
}

// known reports whether c is somebody, in an organization.
func (c *Caller) known() bool { return c.Org != "" && c.User != "" }

type callerKey struct{}

// WithCaller puts the caller into ctx.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerFrom returns the caller of the request. It returns the zero Caller, which may do nothing, if ctx holds none.
func CallerFrom(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// CallerOrg returns the ID of the organization that the verified caller acts in. It is empty if there is none.
func CallerOrg(ctx context.Context) string { return CallerFrom(ctx).Org }
