package authorizer

import (
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
)

// userInOrg is a user in an organization, or in none.
type userInOrg struct{ userID, org string }

func (p userInOrg) userKey() table.Key   { return identity.UserKey(p.userID) }
func (p userInOrg) memberKey() table.Key { return identity.MemberKey(p.org, p.userID) }
func (p userInOrg) accessKey() table.Key { return identity.AccessKey(p.org) }

// rowKeys returns the keys of the rows that determine the user's permissions there.
func (p userInOrg) rowKeys() []table.Key {
	if p.org == "" {
		return []table.Key{p.userKey()}
	}
	return []table.Key{p.userKey(), p.memberKey(), p.accessKey()}
}

// orgRights are the rights of a user in an organization.
type orgRights struct {
	grants []grant.Grant
	owner  bool
	access identity.Access // what the organization demands of log-ins
}

// decodeRights returns the user's rights in the organization. It refuses a user who is not, or no longer, a member,
// and every user if the organization has ended.
func (a *authorizer) decodeRights(p userInOrg, found map[table.Key]table.Item) (orgRights, error) {
	if p.org == "" {
		return orgRights{}, nil
	}
	m, err := a.decodeMember(p, found[p.memberKey()])
	if err != nil {
		return orgRights{}, err
	}
	var access identity.Access // without the row there are no roles besides the system's
	if row := found[p.accessKey()]; row.Data != nil {
		if access, err = a.rows.access.Of(row.Data); err != nil {
			return orgRights{}, fmt.Errorf("read roles of %s: %w", p.org, err)
		}
	}
	if access.Ended {
		return orgRights{}, refuseRequest(p.org + " has ended")
	}
	return orgRights{access.ResolveGrants(m.Grants), m.Owns(), access}, nil
}

// admitCaller returns c with its rights. If the organization demands a second factor and the log-in has none (proved is
// false), c is in no organization, so that the user can still set one up.
func admitCaller(c identity.Caller, r orgRights, proved bool) identity.Caller {
	if r.access.RequireMFA && !proved {
		c.Barred, c.Org = c.Org, ""
		return c
	}
	c.Grants = r.grants
	return c
}

func (a *authorizer) decodeMember(p userInOrg, row table.Item) (identity.Member, error) {
	if row.Data == nil {
		return identity.Member{}, refuseRequest(p.userID + " is not in " + p.org)
	}
	m, err := a.rows.members.Of(row.Data)
	if err != nil {
		return m, fmt.Errorf("read member %s %s: %w", row.PK, row.SK, err)
	}
	if m.Disabled {
		return m, refuseRequest(p.userID + " is disabled in " + p.org)
	}
	return m, nil
}
