package users

import (
	"context"
	"fmt"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/membership"
)

type listInput struct {
	rest.Page
	Search string `query:"search" maxLength:"254" doc:"Part of an address"`
}

// listUsers reads the invitations, the members of the page, and their names, in three round trips for every page. A
// search reads every member, at most people.MaxMembers.
func (s service) listUsers(ctx context.Context, in *listInput) (rest.List[User], error) {
	guests, err := s.ListInvitations(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return rest.List[User]{}, err
	}
	search := strings.ToLower(strings.TrimSpace(in.Search))
	members, err := s.readMembers(ctx, in.Page, search)
	if err != nil {
		return rest.List[User]{}, err
	}
	items, total, err := s.withNames(ctx, members)
	if err != nil {
		return rest.List[User]{}, err
	}
	out := rest.WithItems(members, items)
	if search == "" {
		out.Total = total
	} else {
		guests = matchingInvitations(guests, search)
	}
	for _, inv := range guests {
		out.Add(newInvitedUser(inv))
	}
	return out, nil
}

func matchingInvitations(guests []membership.Invitation, search string) []membership.Invitation {
	var out []membership.Invitation
	for _, inv := range guests {
		if strings.Contains(inv.Email, search) {
			out = append(out, inv)
		}
	}
	return out
}

// readMembers reads the members of a page. Their total is returned only for a search; otherwise the organization has
// the count.
func (s service) readMembers(ctx context.Context, page rest.Page, search string) (rest.List[identity.Member], error) {
	q := table.Query{PK: identity.MemberKey(identity.CallerOrg(ctx), "").PK}
	r := rest.Reading[identity.Member]{Store: s.Table, Page: page}
	if search == "" {
		return r.Counted(ctx, q, membership.MaxMembers)
	}
	return r.Filtered(ctx, q, func(m identity.Member) bool { return strings.Contains(m.Email, search) })
}

// withNames returns the members with their names, and the number of members of the organization.
func (s service) withNames(ctx context.Context, members rest.List[identity.Member]) ([]User, int, error) {
	counts := identity.AccessKey(identity.CallerOrg(ctx))
	keys := []table.Key{counts}
	for _, m := range members.Items {
		keys = append(keys, identity.UserKey(m.User))
	}
	prefixes := make([]string, len(keys))
	for i, k := range keys {
		prefixes[i] = k.PK
	}
	items, err := s.Table.BatchGet(table.Within(ctx, prefixes...), keys...)
	if err != nil {
		return nil, 0, fmt.Errorf("read %d users of %s: %w", len(keys)-1, identity.CallerOrg(ctx), err)
	}
	a, err := decodeAt[identity.Access](items, counts)
	if err != nil {
		return nil, 0, err
	}
	out := make([]User, 0, len(members.Items))
	for i, m := range members.Items {
		u, err := decodeAt[identity.User](items, keys[i+1])
		if err != nil {
			return nil, 0, err
		}
		out = append(out, newMemberUser(u, m))
	}
	return out, int(a.Members), nil
}

// decodeAt decodes the item under k, or returns the zero T if there is none.
func decodeAt[T any](items map[table.Key]table.Item, k table.Key) (T, error) {
	it, ok := items[k]
	if !ok {
		var zero T
		return zero, nil
	}
	return table.Decode[T](it)
}
