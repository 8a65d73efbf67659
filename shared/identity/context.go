package identity

import (
	"encoding/json"
	"slices"

	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/memo"
)

// The keys under which the authorizer hands the caller to the functions, in requestContext.authorizer. API Gateway
// passes strings only.
const (
	userKey    = "user"
	orgKey     = "org"
	emailKey   = "email"
	sessionKey = "session"
	methodKey  = "method"
	grantsKey  = "grants"
)

// Encode writes the caller as the context of an authorizer's answer. The policies of system roles are not written out:
// the name of the role says them, and API Gateway limits the size of what an authorizer answers.
func Encode(c Caller) map[string]any {
	return map[string]any{
		userKey: c.User, orgKey: c.Org, emailKey: c.Email, sessionKey: c.Session, methodKey: c.Method,
		grantsKey: encodeGrants(c.Grants),
	}
}

// Decode reads the caller from requestContext.authorizer. Without a user in it, as in a request to a public operation,
// the answer is the zero Caller.
func Decode(authorizer map[string]any) (Caller, error) {
	text := func(key string) string { s, _ := authorizer[key].(string); return s }
	c := Caller{
		User: text(userKey), Org: text(orgKey), Email: text(emailKey), Session: text(sessionKey), Method: text(methodKey),
	}
	if c.User == "" {
		return Caller{}, nil
	}
	grants, err := decodeGrants(text(grantsKey))
	if err != nil {
		return Caller{}, fault.Cause(fault.Internal, err, "decode grants of %s", c.User)
	}
	c.Grants = grants
	return c, nil
}

func encodeGrants(grants []Grant) string {
	out := make([]Grant, len(grants))
	for i, g := range grants {
		if _, system := SystemRole(g.Role); system {
			g.Policies = nil
		}
		out[i] = g
	}
	b, err := json.Marshal(out)
	if err != nil { // strings and slices of strings always encode
		panic(err)
	}
	return string(b)
}

func decodeGrants(s string) ([]Grant, error) {
	if s == "" {
		return nil, nil
	}
	grants, err := told.Of([]byte(s))
	return slices.Clone(grants), err // of one's own, because Resolve writes in place
}

// told are grants as functions were told them: the same few, request for request. Their lists of policies are shared, as
// those of the system roles are.
var told = memo.New(func(s []byte) ([]Grant, error) {
	var grants []Grant
	if err := json.Unmarshal(s, &grants); err != nil {
		return nil, err
	}
	return Resolve(grants), nil
})

// Resolve fills in, in place, the policies of the grants that name a system role: a role's policies are those of this
// deployment, not those of the day it was assigned.
func Resolve(grants []Grant) []Grant {
	for i := range grants {
		if r, ok := SystemRole(grants[i].Role); ok {
			grants[i].Policies = r.Policies
		}
	}
	return grants
}
