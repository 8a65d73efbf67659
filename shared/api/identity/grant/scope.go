package grant

import (
	"slices"
	"strings"
)

// Allow reports whether grants permit the policy on a target. The target are all scopes that the record belongs to
// ("team:<id>", "resource:<id>"), which the service looked up and did not take from the request. Without a target, only
// grants on the whole organization count. Permissions that are not granted are denied, and so are policies that are not
// in the catalogue.
func Allow(grants []Grant, policy string, target ...string) bool {
	n, ok := policyIndexes[policy]
	if !ok {
		return false
	}
	for i := range grants {
		if g := &grants[i]; g.permits(n) && g.covers(target) {
			return true
		}
	}
	return false
}

// Hold reports whether grants permit the policy on any scope.
func Hold(grants []Grant, policy string) bool {
	n, ok := policyIndexes[policy]
	if !ok {
		return false
	}
	for i := range grants {
		if grants[i].permits(n) {
			return true
		}
	}
	return false
}

// Scopes are the places where a caller may do something: everywhere, or only on the resources of some teams and on some
// resources.
type Scopes struct {
	All       bool
	Teams     []string // team_…
	Resources []string // res_…
}

// None reports whether there is no such place.
func (s Scopes) None() bool { return !s.All && len(s.Teams) == 0 && len(s.Resources) == 0 }

// ScopesOf returns the scopes where grants permit the policy. If it is permitted everywhere, no narrower scopes are
// listed.
func ScopesOf(grants []Grant, policy string) Scopes {
	var out Scopes
	n, ok := policyIndexes[policy]
	if !ok {
		return out
	}
	for i := range grants {
		if g := &grants[i]; g.permits(n) {
			out.add(g.Scope)
		}
		if out.All {
			return Scopes{All: true}
		}
	}
	return out
}

func (s *Scopes) add(scope string) {
	if scope == OrgScope {
		s.All = true
		return
	}
	kind, id := CutScope(scope)
	switch {
	case kind == "team" && !slices.Contains(s.Teams, id):
		s.Teams = append(s.Teams, id)
	case kind == "resource" && !slices.Contains(s.Resources, id):
		s.Resources = append(s.Resources, id)
	}
}

// CutScope splits a scope into its kind and its ID: "org" without ID, "team" with ID, "resource" with ID.
func CutScope(scope string) (kind, id string) {
	kind, id, _ = strings.Cut(scope, ":")
	return kind, id
}

func (g *Grant) covers(target []string) bool {
	if g.Scope == OrgScope {
		return true
	}
	for _, s := range target {
		if s == g.Scope && s != "" {
			return true
		}
	}
	return false
}

// permits reports whether the grant includes the policy with the index n of the catalogue.
func (g *Grant) permits(n int) bool {
	s := g.policySet()
	return s.has(n)
}

// policySet returns the policies that ResolveGrants computed. If the grant was not resolved, it computes them each
// time.
func (g *Grant) policySet() policySet {
	if g.resolved {
		return g.policies
	}
	if s, ok := systemSets[g.Role]; ok {
		return s
	}
	return newPolicySet(g.Policies)
}
