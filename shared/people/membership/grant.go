package membership

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/fault"
)

// MayGrant reports whether c may give policies on a scope: only what c holds there, all of what a wildcard stands for
// included. What one holds on the whole organization one holds on each scope in it; the reverse is not so. Otherwise it is
// fault.Denied, naming the first policy that is missing.
func MayGrant(c identity.Caller, policies []string, scope string) error {
	given := identity.Caller{Org: "any", User: "any",
		Grants: []grant.Grant{{Policies: policies, Scope: grant.OrgScope}}}
	for _, p := range grant.Policies() {
		if identity.Allows(given, p.ID) && !holdsAt(c, p.ID, scope) {
			return fault.New(fault.Denied,
				"permission denied: you do not hold %s on %s, so you cannot give it to anybody", p.ID, scope)
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

// MayChange reports whether c may change or remove the member m, whose grants permit what a says: only somebody who could
// have given m all that they have, and never oneself. For the one owner of the organization it is fault.Conflict.
func MayChange(c identity.Caller, a identity.Access, m identity.Member) error {
	if m.User == c.User && ownerCount(m) == 1 && a.Owners == 1 {
		return errLastOwner
	}
	if m.User == c.User {
		return fault.New(fault.Denied,
			"permission denied: nobody changes what they may do themselves: ask another one who may")
	}
	for _, g := range a.ResolveGrants(m.Grants) {
		if err := MayGrant(c, g.Policies, g.Scope); err != nil {
			return fault.NewWithCause(fault.Denied, err,
				"permission denied: %s holds more than you do, so you cannot change or remove them", m.Email)
		}
	}
	return nil
}

// PoliciesOfRole returns the policies of the role that is referred to, by the name of a system role or the id of one of the
// organization's, and reports whether there is one.
func PoliciesOfRole(a identity.Access, ref string) ([]string, bool) {
	if r, ok := grant.SystemRole(ref); ok {
		return r.Policies, true
	}
	r, ok := a.Roles[ref]
	return r.Policies, ok
}
