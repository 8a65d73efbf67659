package identity

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxOrganisations is how many organizations a user can belong to.
const MaxOrganisations = 200

// ListOrganisations lists the organizations of a user, starting with the one joined first. So an invitation never
// changes the organization that a user works in by default. Two round trips.
func ListOrganisations(ctx context.Context, s table.Store, user string) ([]OrganisationRecord, error) {
	memberships, err := ListMemberships(ctx, s, user)
	if err != nil || len(memberships) == 0 {
		return nil, fault.Wrap("list organizations of "+user, err)
	}
	return readOrganisations(ctx, s, memberships)
}

// readOrganisations reads the organizations of memberships in the same order. It leaves out those that are deleted or
// have ended.
func readOrganisations(ctx context.Context, s table.Store, memberships []Membership) ([]OrganisationRecord, error) {
	keys := make([]table.Key, len(memberships))
	prefixes := make([]string, len(memberships))
	for i, m := range memberships {
		keys[i] = OrganisationKey(m.Org)
		prefixes[i] = keys[i].PK
	}
	items, err := s.BatchGet(table.Within(ctx, prefixes...), keys...)
	if err != nil {
		return nil, fmt.Errorf("read %d organizations: %w", len(keys), err)
	}
	out := make([]OrganisationRecord, 0, len(keys))
	for _, k := range keys {
		it, ok := items[k]
		if !ok {
			continue
		}
		o, err := table.Decode[OrganisationRecord](it)
		if err != nil {
			return nil, err
		}
		if !o.Ended {
			out = append(out, o)
		}
	}
	return out, nil
}

// FirstOrganisation returns the organization that a user joined first, or "" if there is none. One round trip.
func FirstOrganisation(ctx context.Context, s table.Store, user string) (string, error) {
	all, err := ListMemberships(ctx, s, user)
	if err != nil || len(all) == 0 {
		return "", fault.Wrap("find the first organization of "+user, err)
	}
	return all[0].Org, nil
}

// ListMemberships returns the memberships of a user, oldest first. One round trip.
func ListMemberships(ctx context.Context, s table.Store, user string) ([]Membership, error) {
	pk := UserPrefix + user
	page, err := s.Query(table.Within(ctx, pk), table.Query{PK: pk, Prefix: membershipPrefix, Limit: MaxOrganisations})
	if err != nil {
		return nil, err
	}
	out, err := table.DecodeAll[Membership](page.Items)
	slices.SortStableFunc(out, func(a, b Membership) int { return a.Joined.Compare(b.Joined) })
	return out, err
}
