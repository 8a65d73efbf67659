package grant

import (
	"encoding/json"
	"errors"
	"fmt"
)

// grantContext is a grant as it is passed to functions. Its member names are short and its policies are a set, so that
// the maximum number of grants of the largest roles stays within identity.MaxContext, even if roles change after they
// were granted.
type grantContext struct {
	Role  string `json:"r,omitempty"`
	Set   string `json:"p,omitempty"` // empty for a system role, whose policies are known
	Scope string `json:"s"`
}

// Encode encodes grants as text for functions, without the IDs of assignments, which are not needed for decisions.
func Encode(grants []Grant) string {
	out := make([]grantContext, len(grants))
	for i := range grants {
		g := &grants[i]
		out[i] = grantContext{Role: g.Role, Scope: g.Scope}
		if _, system := systemSets[g.Role]; !system {
			s := g.policySet()
			out[i].Set = s.encode()
		}
	}
	b, err := json.Marshal(out)
	if err != nil { // structs of strings can always be encoded
		panic(err)
	}
	return string(b)
}

// Decode decodes the text that Encode returned. The lists of policies are shared, and must not be changed.
func Decode(s []byte) ([]Grant, error) {
	var in []grantContext
	if err := json.Unmarshal(s, &in); err != nil {
		return nil, err
	}
	out := make([]Grant, len(in))
	for i := range in {
		if err := in[i].restoreGrant(&out[i]); err != nil {
			return nil, fmt.Errorf("grant %d: %w", i, err)
		}
	}
	return out, nil
}

// restoreGrant decodes a grant into g.
func (t *grantContext) restoreGrant(g *Grant) error {
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
