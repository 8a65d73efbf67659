package membership

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/fault"
)

// MayGrant tells whether c may give policies on a scope: only what c holds there, all of what a wildcard stands for
// included. What one holds on the whole organization one holds on each scope in it; the reverse is not so. Otherwise it is
// fault.Denied, naming the first policy that is missing.
func MayGrant(c identity.Caller, policies []string, scope string) error {
	given := identity.Caller{Org: "any", User: "any", Grants: []grant.Grant{{Policies: policies, Scope: grant.OrgScope}}}
	for _, p := range grant.Policies() {
		if identity.Allows(given, p.ID) && !holdsAt(c, p.ID, scope) {
			return fault.New(fault.Denied, "permission denied: you do not hold %s on %s, so you cannot give it to anybody", p.ID, scope)
		}
	}
	return nil
}

func holdsAt(c identity.Caller, policy, scope string) bool {
	if scope == grant.OrgScope {
		return identity.Allows(c, policy)
	}
	return identity.Allows(c, policy, scope)
}

// MayChange tells whether c may change or remove the member m, whose grants permit what a says: only somebody who could
// have given m all that they have, and never oneself. For the one owner of the organization it is fault.Conflict.
func MayChange(c identity.Caller, a identity.Access, m identity.Member) error {
	if m.User == c.User && owners(m) == 1 && a.Owners == 1 {
		return errLastOwner
	}
	if m.User == c.User {
		return fault.New(fault.Denied, "permission denied: nobody changes what they may do themselves: ask another one who may")
	}
	for _, g := range a.In(m.Grants) {
		if err := MayGrant(c, g.Policies, g.Scope); err != nil {
			return fault.Cause(fault.Denied, err, "permission denied: %s holds more than you do, so you cannot change or remove them", m.Email)
		}
	}
	return nil
}

// Role gives the policies of the role that is referred to, by the name of a system role or the id of one of the
// organization's, and tells whether there is one.
func Role(a identity.Access, ref string) ([]string, bool) {
	if r, ok := grant.SystemRole(ref); ok {
		return r.Policies, true
	}
	r, ok := a.Roles[ref]
	return r.Policies, ok
}
