package grant

import (
	"encoding/base64"
	"errors"
	"strings"
)

// policySet is some policies of the catalogue, a bit for each at its place there: a decision is made for every request, and looks
// at up to 40 grants of 60 policies.
type policySet [2]uint64

// setBits is how many policies the catalogue may have.
const setBits = 128

func (s *policySet) add(n int) { s[n/64] |= 1 << (n % 64) }

func (s *policySet) join(t policySet) { s[0], s[1] = s[0]|t[0], s[1]|t[1] }

func (s *policySet) has(n int) bool { return s[n/64]&(1<<(n%64)) != 0 }

func (s *policySet) empty() bool { return s[0]|s[1] == 0 }

// list spells the policies out, in the order of the catalogue.
func (s *policySet) list() []string {
	var out []string
	for n := range catalogue {
		if s.has(n) {
			out = append(out, catalogue[n].ID)
		}
	}
	return out
}

// policyIndexes tells where in the catalogue a policy stands.
var policyIndexes = func() map[string]int {
	out := make(map[string]int, len(catalogue))
	for n, p := range catalogue {
		out[p.ID] = n
	}
	return out
}()

// wildcards are what a role may list instead of policies: everything, everything of a resource, and reading everything.
var wildcards = func() map[string]policySet {
	out := map[string]policySet{}
	for n, p := range catalogue {
		resource, action, _ := strings.Cut(p.ID, ":")
		names := []string{"*:*", resource + ":*"}
		if action == "read" {
			names = append(names, "*:read")
		}
		for _, name := range names {
			s := out[name]
			s.add(n)
			out[name] = s
		}
	}
	return out
}()

// newPolicySet returns what a list of policies and wildcards stands for. Whatever else is in it stands for nothing.
func newPolicySet(policies []string) policySet {
	var s policySet
	for _, p := range policies {
		if n, ok := policyIndexes[p]; ok {
			s.add(n)
		} else {
			s.join(wildcards[p])
		}
	}
	return s
}

// text writes the set down: the bit of the catalogue's first policy is the lowest of the first byte.
func (s *policySet) text() string {
	b := make([]byte, 0, setBits/8)
	for n := 0; n < len(catalogue); n += 8 {
		b = append(b, byte(s[n/64]>>(n%64)))
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parsePolicySet reads what text wrote. Policies that this catalogue does not have yet, because the authorizer was deployed
// first, are left out: no operation asks for them.
func parsePolicySet(text string) (policySet, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return policySet{}, err
	}
	if len(b) == 0 || len(b) > setBits/8 {
		return policySet{}, errors.New("it is not as long as a set of policies")
	}
	var s policySet
	for i, c := range b {
		s[i/8] |= uint64(c) << (i % 8 * 8)
	}
	everything := wildcards["*:*"]
	return policySet{s[0] & everything[0], s[1] & everything[1]}, nil
}
