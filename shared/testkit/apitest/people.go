package apitest

import (
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/fault"
)

// Email returns the address of the user of a name.
func Email(name string) string { return name + "@example.com" }

// Caller returns the user usr_<name> in a session, with grants in an organization. A grant is a system role or
// policies separated by commas, then optionally a space and the scope; without a scope it is for the whole
// organization: "owner", "operator team:team_1", "actions:read,actions:execute resource:res_1". The store is not
// asked: see Authorized.
func Caller(org, name string, grants ...string) identity.Caller {
	return identity.Caller{
		Org: org, User: "usr_" + name, Email: Email(name), Session: "s", Method: identity.MethodToken,
		Grants: Grants(grants...),
	}
}

// Grants parses the texts of grants, see Caller.
func Grants(texts ...string) []grant.Grant {
	var out []grant.Grant
	for _, text := range texts {
		role, scope, scoped := strings.Cut(text, " ")
		if !scoped {
			scope = grant.OrgScope
		}
		g := grant.Grant{Role: role, Scope: scope}
		if strings.Contains(role, ":") {
			g.Role, g.Policies = "role_custom", strings.Split(role, ",")
		}
		out = append(out, g)
	}
	return grant.ResolveGrants(out)
}

// Roles returns the grants of roles on a whole organization as a member's row holds them, where Grants has their
// policies too.
func Roles(roles ...string) []grant.Grant {
	var out []grant.Grant
	for _, role := range roles {
		out = append(out, grant.Grant{Role: role, Scope: grant.OrgScope})
	}
	return out
}

// Organization makes an organization without members.
func (f *Fixture) Organization(org, name string) {
	f.Helper()
	f.Put(identity.AccessKey(org), identity.Access{})
	f.Put(identity.OrganisationKey(org), identity.Organisation{ID: org, Name: name, CreatedAt: f.Clock.Now()})
}

// User makes the account usr_<name>, or makes it anew.
func (f *Fixture) User(name string) identity.User {
	f.Helper()
	u := identity.User{
		ID: "usr_" + name, Email: Email(name), Name: strings.ToUpper(name), Verified: true,
		Created: f.Clock.Now(),
	}
	f.Put(identity.UserKey(u.ID), u)
	f.Put(identity.AddressKey(f.Settings.Pepper, u.Email), identity.AddressRow{User: u.ID})
	return u
}

// Join makes the user with the name, and a member of org with the roles on the whole organization.
func (f *Fixture) Join(org, name string, roles ...string) identity.Member {
	f.Helper()
	f.Must(f.People.JoinOrganisation(f.Context(), org, f.User(name), Roles(roles...)))
	return f.Member(org, name)
}

// Member returns the member of org as stored.
func (f *Fixture) Member(org, name string) identity.Member {
	f.Helper()
	_, m, err := f.People.ReadMember(f.Context(), org, "usr_"+name)
	f.Must(err)
	return m
}

// Authorized returns the user as the authorizer would return them now: with the resolved grants of a member of org,
// or without an organization if they are no member.
func (f *Fixture) Authorized(org, name string) identity.Caller {
	f.Helper()
	c := Caller(org, name)
	_, m, err := f.People.ReadMember(f.Context(), org, c.User)
	if fault.Is(err, fault.NotFound) {
		c.Org = ""
		return c
	}
	f.Must(err)
	c.Grants = Read[identity.Access](f, identity.AccessKey(org)).ResolveGrants(m.Grants)
	c, err = identity.NewDecoder().Decode(identity.EncodeCaller(c))
	f.Must(err)
	return c
}
