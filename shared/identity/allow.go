package identity

import "strings"

// Allows tells whether c may do what policy names to a target. Target are all the scopes that the touched thing belongs
// to ("team:<id>", "resource:<id>"), looked up by us and never taken from the request; with none, the question is about
// the whole organization, and only a grant on all of it answers yes. Whatever is not granted is denied.
func Allows(c Caller, policy string, target ...string) bool {
	if c.Org == "" || c.User == "" || !wellFormed(policy) {
		return false
	}
	for i := range c.Grants {
		if c.Grants[i].covers(target) && c.Grants[i].permits(policy) {
			return true
		}
	}
	return false
}

// Holds tells whether c has the policy on any scope: a door check for operations that then show or touch just what lies
// within the caller's scopes. An operation that does not look at scopes asks Allows.
func Holds(c Caller, policy string) bool {
	if c.Org == "" || c.User == "" || !wellFormed(policy) {
		return false
	}
	for i := range c.Grants {
		if c.Grants[i].permits(policy) {
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

// None tells whether there is no place at all.
func (s Scopes) None() bool { return !s.All && len(s.Teams) == 0 && len(s.Resources) == 0 }

// Scopes is where c may do what policy names. An operation that is Scoped shows and touches that and nothing else.
func (c Caller) Scopes(policy string) Scopes {
	var out Scopes
	if c.Org == "" || c.User == "" || !wellFormed(policy) {
		return out
	}
	for i := range c.Grants {
		if g := &c.Grants[i]; g.permits(policy) {
			out.add(g.Scope)
		}
	}
	return out
}

func (s *Scopes) add(scope string) {
	switch {
	case scope == OrgScope:
		s.All = true
	case strings.HasPrefix(scope, TeamScope):
		s.Teams = append(s.Teams, scope[len(TeamScope):])
	case strings.HasPrefix(scope, ResourceScope):
		s.Resources = append(s.Resources, scope[len(ResourceScope):])
	}
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

// permits looks a system role up, and reads the list of any other.
func (g *Grant) permits(want string) bool {
	if g.Role != "" {
		if set, ok := systemSets[g.Role]; ok {
			return set[want] || set["*:*"]
		}
	}
	for _, p := range g.Policies {
		if p == want || starred(p) && wild(p, want) {
			return true
		}
	}
	return false
}

func starred(p string) bool {
	return len(p) >= 3 && (p[0] == '*' || p[len(p)-1] == '*')
}

// wild matches *:*, <resource>:* and *:<action>.
func wild(p, want string) bool {
	resource, action, _ := strings.Cut(p, ":")
	wantResource, wantAction, _ := strings.Cut(want, ":")
	return (resource == "*" || resource == wantResource) && (action == "*" || action == wantAction)
}

// wellFormed keeps a policy that an operation forgot, or wrote as a wildcard, from being allowed by anything.
func wellFormed(policy string) bool {
	i := strings.IndexByte(policy, ':')
	return i > 0 && i < len(policy)-1 && strings.IndexByte(policy, '*') < 0
}
