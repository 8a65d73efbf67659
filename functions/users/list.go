package users

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/membership"
)

type listInput struct {
	rest.Page
	rest.Sort[User, orders]
	Search string `query:"search" maxLength:"254" doc:"Part of an address or a name, ignoring case"`
}

// orders are the sort orders of users. In the list's own order members stand before invited people.
type orders struct{}

var _ rest.Orders[User] = orders{}

func (orders) Orders() []rest.Order[User] {
	return []rest.Order[User]{
		{},
		rest.OrderBy("email", func(u User) string { return u.Email }),
		rest.OrderByText("name", func(u User) string { return u.Name }),
		rest.OrderBy("status", func(u User) string { return u.Status }),
		rest.OrderByTime("joinedAt", joinedOrNever),
	}
}

// joinedOrNever returns the time at which a user joined. Invited people have the zero time.
func joinedOrNever(u User) time.Time {
	if u.JoinedAt == nil {
		return time.Time{}
	}
	return *u.JoinedAt
}

// listUsers reads the invitations, the members of the page, and their names, in three round trips for every page. A
// search, and an order that is not the list's own, read every member, at most membership.MaxMembers.
func (s service) listUsers(ctx context.Context, in *listInput) (rest.List[User], error) {
	guests, err := s.ListInvitations(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return rest.List[User]{}, err
	}
	if strings.TrimSpace(in.Search) != "" || in.Field() != "" || in.Descending() {
		return s.searchUsers(ctx, in, guests)
	}
	q := table.Query{PK: identity.MemberKey(identity.CallerOrg(ctx), "").PK}
	members, err := rest.Reading[identity.Member]{Store: s.Table, Page: in.Page}.Counted(ctx, q, membership.MaxMembers)
	if err != nil {
		return rest.List[User]{}, err
	}
	items, total, err := s.withNames(ctx, members.Items)
	out := rest.WithItems(members, items)
	out.Total = total
	for _, inv := range guests {
		out.Add(newInvitedUser(inv))
	}
	return out, err
}

// searchUsers finds and sorts users among all members and invited people, by the copies of names in the members' rows.
// One round trip for a thousand members, and one for the names of the page; older rows without a copy take one for a
// hundred.
func (s service) searchUsers(ctx context.Context, in *listInput, guests []membership.Invitation) (rest.List[User],
	error,
) {
	q := table.Query{PK: identity.MemberKey(identity.CallerOrg(ctx), "").PK}
	everybody := rest.Reading[identity.Member]{Store: s.Table, Page: rest.Page{Page: 1, Limit: membership.MaxMembers}}
	members, err := everybody.Filtered(ctx, q, func(identity.Member) bool { return true })
	if err == nil {
		err = s.NameMembers(ctx, members.Items)
	}
	if err != nil {
		return rest.List[User]{}, err
	}
	var all []User
	byAddress := make(map[string]identity.Member, len(members.Items))
	for _, m := range members.Items {
		byAddress[m.Email] = m
		all = append(all, newMemberUser(identity.User{Name: m.Name}, m))
	}
	for _, inv := range guests {
		all = append(all, newInvitedUser(inv))
	}
	all = slices.DeleteFunc(all, func(u User) bool { return !rest.Matches(in.Search, u.Email, u.Name) })
	in.Apply(all)
	page := rest.PageOf(all, in.Page)
	return page, s.completeUsers(ctx, page.Items, byAddress)
}

// completeUsers fills in the fields of members that only their accounts have.
func (s service) completeUsers(ctx context.Context, users []User, byAddress map[string]identity.Member) error {
	var places []int
	var members []identity.Member
	for i, u := range users {
		if u.Status != invited {
			places, members = append(places, i), append(members, byAddress[u.Email])
		}
	}
	if len(places) == 0 {
		return nil
	}
	complete, _, err := s.withNames(ctx, members)
	for i := range complete {
		users[places[i]] = complete[i]
	}
	return err
}

// withNames returns the members with their names, and the number of members of the organization.
func (s service) withNames(ctx context.Context, members []identity.Member) ([]User, int, error) {
	counts := identity.AccessKey(identity.CallerOrg(ctx))
	keys := []table.Key{counts}
	for _, m := range members {
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
	out := make([]User, 0, len(members))
	for i, m := range members {
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
