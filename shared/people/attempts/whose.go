package attempts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// findUsers returns the users of counts by Who. Addresses without an account are missing. If the teller tells one
// organization, so are the users who are no members of it.
func (t *teller) findUsers(ctx context.Context, notes []note) (map[string]identity.User, error) {
	ids, err := t.findUserIDs(ctx, notes)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	var keys []table.Key
	for _, id := range ids {
		if keys = append(keys, identity.UserKey(id)); t.org != "" {
			keys = append(keys, identity.MemberKey(t.org, id))
		}
	}
	found, err := t.readAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := map[string]identity.User{}
	for who, id := range ids {
		row, member := found[identity.UserKey(id)], found[identity.MemberKey(t.org, id)]
		if row.Data == nil || t.org != "" && member.Data == nil {
			continue
		}
		if out[who], err = table.Decode[identity.User](row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// findUserIDs returns the user IDs of counts by Who.
func (t *teller) findUserIDs(ctx context.Context, notes []note) (map[string]string, error) {
	out := map[string]string{}
	var keys []table.Key
	for _, n := range notes {
		if n.Action == unlisted {
			continue
		}
		if strings.HasPrefix(n.Who, "usr_") {
			out[n.Who] = n.Who
		} else if k := identity.AddressKeyOf(n.Who); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	found, err := t.readAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	for k, it := range found {
		row, err := table.Decode[identity.AddressRow](it)
		if err != nil {
			return nil, err
		}
		out[strings.TrimPrefix(k.PK, identity.AddressPrefix)] = row.User
	}
	return out, nil
}

// readAll reads rows of users, addresses and members.
func (t *teller) readAll(ctx context.Context, keys []table.Key) (map[table.Key]table.Item, error) {
	out := map[table.Key]table.Item{}
	ctx = table.Within(ctx, identity.UserPrefix, identity.AddressPrefix, table.OrgPK(t.org))
	for some := range slices.Chunk(keys, notesPage) {
		found, err := t.Table.BatchGet(ctx, some...)
		if err != nil {
			return nil, fmt.Errorf("read whose attempts %d are: %w", len(some), err)
		}
		maps.Copy(out, found)
	}
	return out, nil
}

// organisationsOf returns the organizations to be told, in a fixed order.
func (t *teller) organisationsOf(ctx context.Context, n note, u identity.User) ([]string, error) {
	if n.Action == unlisted {
		if t.org != "" && t.org != n.Org {
			return nil, nil
		}
		return t.ifNotEnded(ctx, n.Org)
	}
	if u.ID == "" {
		return nil, nil
	}
	all, err := identity.ListOrganisations(table.Within(ctx, identity.UserPrefix+u.ID), t.Table, u.ID)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, o := range all {
		if n.Org == "" || n.Org == o.ID {
			out = append(out, o.ID)
		}
	}
	slices.Sort(out)
	return t.joinedBefore(ctx, n, u.ID, out)
}

// joinedBefore returns the organizations that the user belonged to at the last attempt: an organization learns nothing
// of the time before.
func (t *teller) joinedBefore(ctx context.Context, n note, user string, orgs []string) ([]string, error) {
	var keys []table.Key
	for _, org := range orgs {
		keys = append(keys, identity.MembershipKey(user, org))
	}
	found, err := t.readAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, org := range orgs {
		it, there := found[keys[i]]
		if !there {
			continue
		}
		m, err := table.Decode[identity.Membership](it)
		if err != nil {
			return nil, err
		}
		if !m.Joined.After(n.Last) {
			out = append(out, org)
		}
	}
	return out, nil
}

// ifNotEnded returns the organization, or none if it has ended.
func (t *teller) ifNotEnded(ctx context.Context, org string) ([]string, error) {
	k := identity.OrganisationKey(org)
	o, err := table.Read[identity.OrganisationRecord](table.Within(ctx, k.PK), t.Table, k)
	if fault.Is(err, fault.NotFound) || err == nil && o.Ended {
		return nil, nil
	}
	return []string{org}, fault.Wrap("read organization "+org, err)
}
