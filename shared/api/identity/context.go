package identity

import (
	"slices"
	"strconv"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/memo"
)

// The keys of the caller in requestContext.authorizer, where the authorizer passes it to the functions. API Gateway
// only passes strings.
const (
	userKey    = "user"
	orgKey     = "org"
	emailKey   = "email"
	sessionKey = "session"
	methodKey  = "method"
	ssoKey     = "sso"
	grantsKey  = "grants"
	factorKey  = "factor" // a SecondFactor; absent for none
	barredKey  = "barred" // absent unless an organization bars the caller
	// never from the authorizer: a worker of this service sets it when it calls a function without API Gateway.
	workerKey = "worker"
)

// MaxContext is more than the size of any encoded caller, in bytes. An authorizer's answer may have 8 kB.
const MaxContext = 6 << 10

// EncodeCaller returns the caller as the context of an authorizer's answer. It has less than MaxContext bytes.
func EncodeCaller(c Caller) map[string]any {
	if c.Worker != "" {
		return map[string]any{workerKey: c.Worker, orgKey: c.Org}
	}
	out := map[string]any{
		userKey: c.User, orgKey: c.Org, emailKey: c.Email, sessionKey: c.Session, methodKey: c.Method,
		ssoKey:    strconv.FormatBool(c.SSO),
		grantsKey: grant.Encode(c.Grants),
	}
	if c.SecondFactor != NoFactor {
		out[factorKey] = string(c.SecondFactor)
	}
	if c.Barred != "" {
		out[barredKey] = c.Barred
	}
	return out
}

// Decoder decodes callers. It caches grants, because most requests have one of a few sets of grants. It is safe for
// concurrent use.
type Decoder struct{ grants *memo.Memo[[]grant.Grant] }

// NewDecoder returns a Decoder with an empty cache.
func NewDecoder() *Decoder { return &Decoder{memo.New(grant.Decode)} }

// Decode decodes the caller of requestContext.authorizer. It returns the zero Caller if there is no user, as in a
// request of a public operation.
func (d *Decoder) Decode(authorizer map[string]any) (Caller, error) {
	text := func(key string) string { s, _ := authorizer[key].(string); return s }
	if worker := text(workerKey); worker != "" {
		return Caller{Org: text(orgKey), Worker: worker}, nil
	}
	c := Caller{
		User: text(userKey), Org: text(orgKey), Email: text(emailKey), Session: text(sessionKey),
		Method: text(methodKey),
		SSO:    text(ssoKey) == "true",
		Barred: text(barredKey), SecondFactor: SecondFactor(text(factorKey)),
	}
	if c.User == "" {
		return Caller{}, nil
	}
	if s := text(grantsKey); s != "" {
		grants, err := d.grants.Of([]byte(s))
		if err != nil {
			return Caller{}, fault.NewWithCause(fault.Internal, err, "decode grants of %s", c.User)
		}
		c.Grants = slices.Clone(grants) // a copy, because ResolveGrants writes in place
	}
	return c, nil
}

// ResolveGrants returns a copy of stored grants with the policies that their roles have now. The custom roles are those
// of a. A grant of a deleted role permits nothing.
func (a Access) ResolveGrants(grants []grant.Grant) []grant.Grant {
	out := slices.Clone(grants)
	for i := range out {
		out[i].Policies = a.Roles[out[i].Role].Policies
	}
	return grant.ResolveGrants(out)
}

// FindRole returns the role that a grant refers to: a system role by name, or a custom role by ID.
func (a Access) FindRole(ref string) (grant.Role, bool) {
	if r, ok := grant.SystemRole(ref); ok {
		return r, true
	}
	r, ok := a.Roles[ref]
	return grant.Role{Name: r.Name, Description: r.Description, Policies: r.Policies}, ok
}
