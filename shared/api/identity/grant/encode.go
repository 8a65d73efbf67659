package grant

import (
	"encoding/json"
	"errors"
	"fmt"
)

// grantContext is a grant as functions are told of it. The names of its members are short and its policies are a set, so that the
// most grants of the longest roles stay within identity.MaxContext, whatever becomes of the roles after they were granted.
type grantContext struct {
	Role  string `json:"r,omitempty"`
	Set   string `json:"p,omitempty"` // empty for a system role, which says it itself
	Scope string `json:"s"`
}

// Encode writes grants as text for the functions. It leaves out the ids of assignments, which no decision asks for.
func Encode(grants []Grant) string {
	out := make([]grantContext, len(grants))
	for i := range grants {
		g := &grants[i]
		out[i] = grantContext{Role: g.Role, Scope: g.Scope}
		if _, system := systemSets[g.Role]; !system {
			s := g.policySet()
			out[i].Set = s.text()
		}
	}
	b, err := json.Marshal(out)
	if err != nil { // structs of strings always encode
		panic(err)
	}
	return string(b)
}

// Decode reads what EncodeGrants wrote. The lists of policies of what it returns are shared: nobody may change them.
func Decode(s []byte) ([]Grant, error) {
	var in []grantContext
	if err := json.Unmarshal(s, &in); err != nil {
		return nil, err
	}
	out := make([]Grant, len(in))
	for i := range in {
		if err := in[i].restore(&out[i]); err != nil {
			return nil, fmt.Errorf("grant %d: %w", i, err)
		}
	}
	return out, nil
}

// restore puts the policies back.
func (t *grantContext) restore(g *Grant) error {
	g.Role, g.Scope, g.resolved = t.Role, t.Scope, true
	r, system := SystemRole(t.Role)
	switch {
	case t.Scope == "", system != (t.Set == ""):
		return errors.New("a scope, and either a system role or a set of policies, belong to it")
	case system:
		g.Policies, g.policies = r.Policies, systemSets[t.Role]
		return nil
	}
	s, err := parsePolicySet(t.Set)
	g.Policies, g.policies = s.list(), s
	return err
}
