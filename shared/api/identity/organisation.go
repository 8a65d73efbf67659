package identity

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxOrganisations is how many organizations one user can belong to.
const MaxOrganisations = 200

// ListOrganisations lists the organizations that a user belongs to, that first which they joined first, in two round trips.
// Somebody's invitation therefore never becomes the one that a user works in without asking for it.
func ListOrganisations(ctx context.Context, s table.Store, user string) ([]OrganisationRecord, error) {
	memberships, err := listMemberships(ctx, s, user)
	if err != nil || len(memberships) == 0 {
		return nil, fault.Wrap("list organizations of "+user, err)
	}
	return readOrganisations(ctx, s, memberships)
}

// readOrganisations reads the records of memberships, in their order; one that is gone or has ended is left out.
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

// FirstOrganisation returns the organization that a user joined first, in one round trip; "" when there is none.
func FirstOrganisation(ctx context.Context, s table.Store, user string) (string, error) {
	all, err := listMemberships(ctx, s, user)
	if err != nil || len(all) == 0 {
		return "", fault.Wrap("find the first organization of "+user, err)
	}
	return all[0].Org, nil
}

// listMemberships returns those of a user, that first which began first.
func listMemberships(ctx context.Context, s table.Store, user string) ([]Membership, error) {
	pk := UserPrefix + user
	page, err := s.Query(table.Within(ctx, pk), table.Query{PK: pk, Prefix: membershipPrefix, Limit: MaxOrganisations})
	if err != nil {
		return nil, err
	}
	out, err := table.DecodeAll[Membership](page.Items)
	slices.SortStableFunc(out, func(a, b Membership) int { return a.Joined.Compare(b.Joined) })
	return out, err
}
