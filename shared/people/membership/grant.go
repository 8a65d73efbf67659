package membership

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/fault"
)

// MayGrant returns nil if c may give the policies on a scope: c must hold all of them there, including all policies
// that a wildcard stands for. A policy held on the whole organization is held on each scope in it, but not the reverse.
// Otherwise it returns fault.Denied with the first missing policy. To make an owner, or to change one, is sensitive: a
// caller with a second factor must have proved it lately (identity.Caller.CheckStepUp).
func MayGrant(c identity.Caller, policies []string, scope string) error {
	given := identity.Caller{
		Org: "any", User: "any",
		Grants: []grant.Grant{{Policies: policies, Scope: grant.OrgScope}},
	}
	for _, p := range grant.Policies() {
		if identity.Allows(given, p.ID) && !holdsAt(c, p.ID, scope) {
			return fault.New(fault.Denied,
				"permission denied: you do not hold %s on %s, so you cannot grant it", p.ID, scope)
		}
	}
	if scope == grant.OrgScope && identity.Allows(given, ownerPolicy) {
		return c.CheckStepUp()
	}
	return nil
}

// ownerPolicy is the policy that only owners hold.
const ownerPolicy = "organisation:delete"

// holdsAll reports whether c could give g after proving the second factor.
func holdsAll(c identity.Caller, g grant.Grant) bool {
	c.SecondFactor = identity.FreshFactor
	return MayGrant(c, g.Policies, g.Scope) == nil
}

func holdsAt(c identity.Caller, policy, scope string) bool {
	if scope == grant.OrgScope {
		return identity.Allows(c, policy)
	}
	return identity.Allows(c, policy, scope)
}

// MayChange returns nil if c may change or remove the member m: c must be able to give all grants that m has (resolved
// with a), and c must not be m. For the only owner of the organization it returns fault.Conflict.
func MayChange(c identity.Caller, a identity.Access, m identity.Member) error {
	if m.User == c.User && ownerCount(m) == 1 && a.Owners == 1 {
		return errLastOwner
	}
	if m.User == c.User {
		return fault.New(fault.Denied,
			"permission denied: you cannot change or remove yourself; ask another member who may")
	}
	for _, g := range a.ResolveGrants(m.Grants) {
		if err := MayGrant(c, g.Policies, g.Scope); err != nil {
			if c.CheckStepUp() != nil && holdsAll(c, g) {
				return err
			}
			return fault.NewWithCause(fault.Denied, err,
				"permission denied: %s holds more than you do, so you cannot change or remove them", m.Email)
		}
	}
	return nil
}

// PoliciesOfRole returns the policies of a role, and whether it exists. The reference is the name of a system role or
// the ID of a custom role.
func PoliciesOfRole(a identity.Access, ref string) ([]string, bool) {
	if r, ok := grant.SystemRole(ref); ok {
		return r.Policies, true
	}
	r, ok := a.Roles[ref]
	return r.Policies, ok
}
