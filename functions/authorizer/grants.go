package authorizer

import (
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
)

// place is a user in an organization, or in none.
type place struct{ who, org string }

func (p place) user() table.Key   { return identity.UserKey(p.who) }
func (p place) member() table.Key { return identity.MemberKey(p.org, p.who) }
func (p place) access() table.Key { return identity.AccessKey(p.org) }

// keys are the rows that say what the user may do there.
func (p place) keys() []table.Key {
	if p.org == "" {
		return []table.Key{p.user()}
	}
	return []table.Key{p.user(), p.member(), p.access()}
}

// grants reads what the user may do at the place. Who does not belong there, or no more, is refused, and so is everybody
// where the organization has ended.
func (a *authorizer) grants(p place, found map[table.Key]table.Item) ([]grant.Grant, error) {
	if p.org == "" {
		return nil, nil
	}
	m, err := a.member(p, found[p.member()])
	if err != nil {
		return nil, err
	}
	var access identity.Access // without the row there are no roles besides the system's
	if row := found[p.access()]; row.Data != nil {
		if access, err = a.rows.access.Of(row.Data); err != nil {
			return nil, fmt.Errorf("read roles of %s: %w", p.org, err)
		}
	}
	if access.Ended {
		return nil, refused(p.org + " has ended")
	}
	return access.In(m.Grants), nil
}

func (a *authorizer) member(p place, row table.Item) (identity.Member, error) {
	if row.Data == nil {
		return identity.Member{}, refused(p.who + " is not in " + p.org)
	}
	m, err := a.rows.members.Of(row.Data)
	if err != nil {
		return m, fmt.Errorf("read member %s %s: %w", row.PK, row.SK, err)
	}
	if m.Disabled {
		return m, refused(p.who + " is disabled in " + p.org)
	}
	return m, nil
}
