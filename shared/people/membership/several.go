package membership

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
)

// ReadMembers returns the members of org among users, by user ID. One round trip for a hundred.
func (s People) ReadMembers(ctx context.Context, org string, users []string) (map[string]identity.Member, error) {
	keys := make([]table.Key, len(users))
	for i, u := range users {
		keys[i] = identity.MemberKey(org, u)
	}
	out := make(map[string]identity.Member, len(users))
	return out, eachItem(ctx, s.Table, keys, func(m identity.Member) { out[m.User] = m })
}

// UserNames returns the names of users by user ID. One round trip for a hundred.
func (s People) UserNames(ctx context.Context, users []string) (map[string]string, error) {
	keys := make([]table.Key, len(users))
	for i, u := range users {
		keys[i] = identity.UserKey(u)
	}
	out := make(map[string]string, len(users))
	return out, eachItem(ctx, s.Table, keys, func(u identity.User) { out[u.ID] = u.Name })
}

// MembersByEmail returns the members of org with the addresses, in the same order. It returns the same fault.NotFound
// as FindMember. Two round trips for a hundred.
func (s People) MembersByEmail(ctx context.Context, org string, emails []string) ([]identity.Member, error) {
	keys := make([]table.Key, len(emails))
	for i, email := range emails {
		address, err := identity.NormalizeAddress(email)
		if err != nil {
			return nil, errNoSuchMember(email)
		}
		keys[i] = identity.AddressKey(s.Settings.Pepper, address)
	}
	found, err := readItems(ctx, s.Table, keys)
	if err != nil {
		return nil, err
	}
	users := make([]string, len(keys))
	for i, k := range keys {
		row := identity.AddressRow{User: "usr_nobody"}
		if err = decodeIfPresent(found, k, &row); err != nil {
			return nil, err
		}
		users[i] = row.User
	}
	members, err := s.ReadMembers(ctx, org, users)
	if err != nil {
		return nil, err
	}
	out := make([]identity.Member, len(users))
	for i, u := range users {
		m, ok := members[u]
		if !ok {
			return nil, errNoSuchMember(emails[i])
		}
		out[i] = m
	}
	return out, nil
}

// eachItem calls take with each existing item of keys, decoded as a T.
func eachItem[T any](ctx context.Context, s table.Store, keys []table.Key, take func(T)) error {
	items, err := readItems(ctx, s, keys)
	if err != nil {
		return err
	}
	for _, it := range items {
		v, err := table.Decode[T](it)
		if err != nil {
			return err
		}
		take(v)
	}
	return nil
}

func readItems(ctx context.Context, s table.Store, keys []table.Key) (map[table.Key]table.Item, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	within := make([]string, len(keys))
	for i, k := range keys {
		within[i] = k.PK
	}
	items, err := s.BatchGet(table.Within(ctx, within...), keys...)
	if err != nil {
		return nil, fmt.Errorf("read %d people: %w", len(keys), err)
	}
	return items, nil
}
