package identity

import (
	"slices"
	"strconv"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/memo"
)

// The keys under which the authorizer hands the caller to the functions, in requestContext.authorizer. API Gateway
// passes strings only.
const (
	userKey    = "user"
	orgKey     = "org"
	emailKey   = "email"
	sessionKey = "session"
	methodKey  = "method"
	ssoKey     = "sso"
	grantsKey  = "grants"
	workerKey  = "worker" // never from the authorizer: of a worker of ours that calls a function without API Gateway
)

// MaxContext is more bytes than an encoded caller ever takes; what an authorizer answers may have 8 kB.
const MaxContext = 6 << 10

// EncodeCaller writes the caller as the context of an authorizer's answer, in less than MaxContext.
func EncodeCaller(c Caller) map[string]any {
	if c.Worker != "" {
		return map[string]any{workerKey: c.Worker, orgKey: c.Org}
	}
	return map[string]any{
		userKey: c.User, orgKey: c.Org, emailKey: c.Email, sessionKey: c.Session, methodKey: c.Method,
		ssoKey:    strconv.FormatBool(c.SSO),
		grantsKey: grant.Encode(c.Grants),
	}
}

// Decoder reads callers. It remembers the grants that it has read: they are the same few, request for request. It is safe for
// use by many goroutines.
type Decoder struct{ grants *memo.Memo[[]grant.Grant] }

// NewDecoder makes a Decoder that remembers nothing yet.
func NewDecoder() *Decoder { return &Decoder{memo.New(grant.Decode)} }

// Decode reads the caller from requestContext.authorizer. Without a user in it, as in a request to a public operation,
// the answer is the zero Caller.
func (d *Decoder) Decode(authorizer map[string]any) (Caller, error) {
	text := func(key string) string { s, _ := authorizer[key].(string); return s }
	if worker := text(workerKey); worker != "" {
		return Caller{Org: text(orgKey), Worker: worker}, nil
	}
	c := Caller{
		User: text(userKey), Org: text(orgKey), Email: text(emailKey), Session: text(sessionKey),
		Method: text(methodKey),
		SSO:    text(ssoKey) == "true",
	}
	if c.User == "" {
		return Caller{}, nil
	}
	if s := text(grantsKey); s != "" {
		grants, err := d.grants.Of([]byte(s))
		if err != nil {
			return Caller{}, fault.NewWithCause(fault.Internal, err, "decode grants of %s", c.User)
		}
		c.Grants = slices.Clone(grants) // of its own, because Resolve writes in place
	}
	return c, nil
}

// ResolveGrants returns a copy of stored grants with the policies that their roles have now: of custom ones those in a. A grant whose
// role is gone permits nothing.
func (a Access) ResolveGrants(grants []grant.Grant) []grant.Grant {
	out := slices.Clone(grants)
	for i := range out {
		out[i].Policies = a.Roles[out[i].Role].Policies
	}
	return grant.ResolveGrants(out)
}

// FindRole returns what a grant's FindRole means in the organization: a system role by its name, or one of the organization's by its id.
func (a Access) FindRole(ref string) (grant.Role, bool) {
	if r, ok := grant.SystemRole(ref); ok {
		return r, true
	}
	r, ok := a.Roles[ref]
	return grant.Role{Name: r.Name, Description: r.Description, Policies: r.Policies}, ok
}
