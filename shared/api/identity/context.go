package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

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
)

// MaxContext is more bytes than an encoded caller ever takes; what an authorizer answers may have 8 kB.
const MaxContext = 6 << 10

// Encode writes the caller as the context of an authorizer's answer, in less than MaxContext.
func Encode(c Caller) map[string]any {
	return map[string]any{
		userKey: c.User, orgKey: c.Org, emailKey: c.Email, sessionKey: c.Session, methodKey: c.Method,
		ssoKey:    strconv.FormatBool(c.SSO),
		grantsKey: encodeGrants(c.Grants),
	}
}

// Decode reads the caller from requestContext.authorizer. Without a user in it, as in a request to a public operation,
// the answer is the zero Caller.
func Decode(authorizer map[string]any) (Caller, error) {
	text := func(key string) string { s, _ := authorizer[key].(string); return s }
	c := Caller{
		User: text(userKey), Org: text(orgKey), Email: text(emailKey), Session: text(sessionKey), Method: text(methodKey),
		SSO: text(ssoKey) == "true",
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

// told is a grant as functions are told of it. The names of its members are short and its policies are a set, so that the
// most grants of the longest roles stay within MaxContext, whatever becomes of the roles after they were granted.
type told struct {
	Role  string `json:"r,omitempty"`
	Set   string `json:"p,omitempty"` // empty for a system role, which says it itself
	Scope string `json:"s"`
}

// encodeGrants leaves out the ids of assignments, which no decision asks for.
func encodeGrants(grants []Grant) string {
	out := make([]told, len(grants))
	for i := range grants {
		g := &grants[i]
		out[i] = told{Role: g.Role, Scope: g.Scope}
		if _, system := systemSets[g.Role]; !system {
			s := g.holds()
			out[i].Set = s.text()
		}
	}
	b, err := json.Marshal(out)
	if err != nil { // structs of strings always encode
		panic(err)
	}
	return string(b)
}

func decodeGrants(s string) ([]Grant, error) {
	if s == "" {
		return nil, nil
	}
	grants, err := heard.Of([]byte(s))
	return slices.Clone(grants), err // of one's own, because Resolve writes in place
}

// heard are grants as functions were told them: the same few, request for request. Their lists of policies are shared, as
// those of the system roles are.
var heard = memo.New(func(s []byte) ([]Grant, error) {
	var in []told
	if err := json.Unmarshal(s, &in); err != nil {
		return nil, err
	}
	out := make([]Grant, len(in))
	for i := range in {
		if err := in[i].grant(&out[i]); err != nil {
			return nil, fmt.Errorf("grant %d: %w", i, err)
		}
	}
	return out, nil
})

// grant puts the policies back.
func (t *told) grant(g *Grant) error {
	g.Role, g.Scope, g.resolved = t.Role, t.Scope, true
	r, system := SystemRole(t.Role)
	switch {
	case t.Scope == "", system != (t.Set == ""):
		return errors.New("a scope, and either a system role or a set of policies, belong to it")
	case system:
		g.Policies, g.policies = r.Policies, systemSets[t.Role]
		return nil
	}
	s, err := parseSet(t.Set)
	g.Policies, g.policies = s.list(), s
	return err
}

// Resolve works out, in place, what grants permit: those that name a system role have its policies, because a role's
// policies are those of this deployment, not those of the day it was assigned; any other has those that it lists.
func Resolve(grants []Grant) []Grant {
	for i := range grants {
		g := &grants[i]
		if r, ok := SystemRole(g.Role); ok {
			g.Policies, g.policies = r.Policies, systemSets[g.Role]
		} else {
			g.policies = setOf(g.Policies)
		}
		g.resolved = true
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

// Role is what a grant's Role means in the organization: a system role by its name, or one of the organization's by its id.
func (a Access) Role(ref string) (Role, bool) {
	if r, ok := SystemRole(ref); ok {
		return r, true
	}
	r, ok := a.Roles[ref]
	return Role{r.Name, r.Description, r.Policies}, ok
}
