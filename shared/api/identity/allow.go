package identity

import (
	"slices"
	"strings"
)

// Allows tells whether c may do what policy names to a target. Target are all the scopes that the touched thing belongs
// to ("team:<id>", "resource:<id>"), looked up by us and never taken from the request; with none, the question is about
// the whole organization, and only a grant on all of it answers yes. Whatever is not granted is denied, and so is what the
// catalogue does not have.
func Allows(c Caller, policy string, target ...string) bool {
	n, ok := c.place(policy)
	if !ok {
		return false
	}
	for i := range c.Grants {
		if g := &c.Grants[i]; g.permits(n) && g.covers(target) {
			return true
		}
	}
	return false
}

// Holds tells whether c has the policy on any scope: a door check for operations that then show or touch just what lies
// within the caller's scopes. An operation that does not look at scopes asks Allows.
func Holds(c Caller, policy string) bool {
	n, ok := c.place(policy)
	if !ok {
		return false
	}
	for i := range c.Grants {
		if c.Grants[i].permits(n) {
			return true
		}
	}
	return false
}

// place is where in the catalogue the policy stands; there is none for who is nobody, or in no organization.
func (c *Caller) place(policy string) (int, bool) {
	if c.Org == "" || c.User == "" {
		return 0, false
	}
	n, ok := places[policy]
	return n, ok
}

// Scopes is where a caller may do something: everywhere, or in what the teams own and the resources themselves.
type Scopes struct {
	All       bool
	Teams     []string // team_…
	Resources []string // res_…
}

// None tells whether there is no place at all.
func (s Scopes) None() bool { return !s.All && len(s.Teams) == 0 && len(s.Resources) == 0 }

// Scopes is where c may do what policy names. An operation that is Scoped shows and touches that and nothing else. Who may
// do it everywhere has no need of narrower places, and none are named.
func (c Caller) Scopes(policy string) Scopes {
	var out Scopes
	n, ok := c.place(policy)
	if !ok {
		return out
	}
	for i := range c.Grants {
		if g := &c.Grants[i]; g.permits(n) {
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

// permits tells whether the grant holds the policy at the place n of the catalogue.
func (g *Grant) permits(n int) bool {
	s := g.holds()
	return s.has(n)
}

// holds is what Resolve worked out. Of a grant that was never resolved it is worked out here, each time.
func (g *Grant) holds() set {
	if g.resolved {
		return g.policies
	}
	if s, ok := systemSets[g.Role]; ok {
		return s
	}
	return setOf(g.Policies)
}
