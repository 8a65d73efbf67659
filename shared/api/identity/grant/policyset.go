package grant

import (
	"encoding/base64"
	"errors"
	"strings"
)

// policySet is a set of policies, with one bit for the index of each in the catalogue. It makes decisions fast: each
// request checks up to 40 grants of 60 policies.
type policySet [2]uint64

// setBits is the maximum number of policies in the catalogue.
const setBits = 128

func (s *policySet) add(n int) { s[n/64] |= 1 << (n % 64) }

func (s *policySet) join(t policySet) { s[0], s[1] = s[0]|t[0], s[1]|t[1] }

func (s *policySet) has(n int) bool { return s[n/64]&(1<<(n%64)) != 0 }

func (s *policySet) empty() bool { return s[0]|s[1] == 0 }

// list returns the policies in the order of the catalogue.
func (s *policySet) list() []string {
	var out []string
	for n := range catalogue {
		if s.has(n) {
			out = append(out, catalogue[n].ID)
		}
	}
	return out
}

// policyIndexes are the indexes of policies in the catalogue.
var policyIndexes = func() map[string]int {
	out := make(map[string]int, len(catalogue))
	for n, p := range catalogue {
		out[p.ID] = n
	}
	return out
}()

// wildcards are the policies of the wildcards that a role may list: all, all of a resource, all reads.
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

// newPolicySet returns the set of a list of policies and wildcards. It ignores unknown names.
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

// encode returns the set as text. The lowest bit of its first byte is the first policy of the catalogue.
func (s *policySet) encode() string {
	b := make([]byte, 0, setBits/8)
	for n := 0; n < len(catalogue); n += 8 {
		b = append(b, byte(s[n/64]>>(n%64)))
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parsePolicySet decodes the text that encode returned. It leaves out policies that are not in this catalogue, because
// the authorizer was deployed first; no operation requires them.
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
