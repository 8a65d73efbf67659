package grant

import (
	"slices"
	"strings"
)

// Allow reports whether grants permit what policy names to a target. Target are all the scopes that the touched thing
// belongs to ("team:<id>", "resource:<id>"), looked up by us and never taken from the request; with none, the question is
// about the whole organization, and only a grant on all of it answers yes. Whatever is not granted is denied, and so is what
// the catalogue does not have.
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

// Hold reports whether grants permit what policy names on any scope.
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

// Scopes is where a caller may do something: everywhere, or in what the teams own and the resources themselves.
type Scopes struct {
	All       bool
	Teams     []string // team_…
	Resources []string // res_…
}

// None reports whether there is no place at all.
func (s Scopes) None() bool { return !s.All && len(s.Teams) == 0 && len(s.Resources) == 0 }

// ScopesOf returns where grants permit what policy names. What is permitted everywhere has no need of narrower places, and
// none are named.
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

// CutScope takes a scope apart: "org" and nothing, "team" and its id, "resource" and its id.
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

// permits reports whether the grant holds the policy at the place n of the catalogue.
func (g *Grant) permits(n int) bool {
	s := g.policySet()
	return s.has(n)
}

// policySet returns what Resolve worked out. Of a grant that was never resolved it is worked out here, each time.
func (g *Grant) policySet() policySet {
	if g.resolved {
		return g.policies
	}
	if s, ok := systemSets[g.Role]; ok {
		return s
	}
	return newPolicySet(g.Policies)
}
