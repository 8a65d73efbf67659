// Package identity says who is calling and what they may do: the caller that the authorizer verified, the catalogue of
// policies, and the decision whether a grant covers a target.
package identity

import "context"

// Caller is who makes a request, as the authorizer told; it is never read from anything else in the request.
type Caller struct {
	Org    string // current organization (org_…), empty for a user who belongs to none
	User   string // usr_…
	Email  string
	Method string // "jwt" or "pat"
	Grants []Grant
}

// Grant is a set of policies on a scope.
type Grant struct {
	Policies []string `json:"policies"`
	Scope    string   `json:"scope"` // "org", "team:<id>", "resource:<id>"
}

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
