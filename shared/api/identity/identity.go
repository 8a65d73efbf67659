// Package identity describes the caller of a request, as verified by the authorizer, and the permissions of the caller.
// It also holds the records of users, organizations, members and sessions.
package identity

import (
	"context"

	"lamplighter.dev/shared/api/identity/grant"
)

// Caller is the caller of a request. It comes only from the authorizer, never from the rest of the request.
type Caller struct {
	Org     string // current organization (org_…); empty for a user without organization
	User    string // usr_…
	Email   string
	Session string // session of the access token; empty for other credentials
	Method  string // MethodToken or MethodPAT
	// SSO is set if Org's identity provider vouches for the user. Such a caller can see and change nothing outside of
	// Org.
	SSO bool
	// SecondFactor tells whether the user has one, and whether the session proved it lately.
	SecondFactor SecondFactor
	// Barred is an organization that admits only log-ins with a second factor, which this one has not. The caller is in
	// no organization until the session proves one.
	Barred string
	Grants []grant.Grant
	Worker string // the function of this service that calls for itself, not for a user; it has no grants
}

// The kinds of credentials of a caller.
const (
	MethodToken = "jwt"
	MethodPAT   = "pat"
)

// Allows reports whether c holds the policy on a target; see grant.Allow. A caller without user or organization holds
// none.
func Allows(c Caller, policy string, target ...string) bool {
	return c.known() && grant.Allow(c.Grants, policy, target...)
}

// Holds reports whether c holds the policy on any scope. It is for operations that then restrict themselves to the
// caller's scopes. All other operations use Allows.
func Holds(c Caller, policy string) bool { return c.known() && grant.Hold(c.Grants, policy) }

// Scopes returns the scopes where c holds the policy. A Scoped operation shows and changes only records in them.
func (c Caller) Scopes(policy string) grant.Scopes {
	if !c.known() {
		return grant.Scopes{}
	}
	return grant.ScopesOf(c.Grants, policy)
}

// known reports whether c is a user in an organization.
func (c *Caller) known() bool { return c.Org != "" && c.User != "" }

type callerKey struct{}

// WithCaller returns a context with the caller.
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
