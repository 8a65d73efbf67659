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

// encodeGrants leaves out what Decode can put back: the policies of system roles, those of a role that stands in an earlier
// grant already, and the ids of assignments, which no decision asks for.
func encodeGrants(grants []Grant) string {
	out := make([]Grant, len(grants))
	told := map[string]bool{}
	for i, g := range grants {
		_, system := SystemRole(g.Role)
		if system || told[g.Role] {
			g.Policies = nil
		}
		told[g.Role] = g.Role != ""
		g.ID, out[i] = "", g
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

// Resolve fills in, in place, the policies of grants: of those that name a system role, because a role's policies are
// those of this deployment, not those of the day it was assigned; and of those whose role stands in an earlier grant.
func Resolve(grants []Grant) []Grant {
	earlier := map[string][]string{}
	for i := range grants {
		g := &grants[i]
		if r, ok := SystemRole(g.Role); ok {
			g.Policies = r.Policies
		}
		if g.Policies == nil {
			g.Policies = earlier[g.Role]
		} else if g.Role != "" {
			earlier[g.Role] = g.Policies
		}
	}
	return grants
}

// In gives a copy of stored grants with the policies that their roles have now: of custom ones those in a. A grant whose
// role is gone permits nothing.
func (a Access) In(grants []Grant) []Grant {
	out := slices.Clone(grants)
	for i := range out {
		out[i].Policies = a.Roles[out[i].Role].Policies
	}
	return Resolve(out)
}
