package identity

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/engine/table"
)

// MaxToldOwners is how many owners of an organization receive mails about one event.
const MaxToldOwners = 20

// membersPage is the number of members of one read.
const membersPage = 1000

// OwnerAddresses returns the addresses of up to MaxToldOwners owners of the organization who are not disabled. ctx must
// be restricted to the organization. One round trip for each 1,000 members.
func OwnerAddresses(ctx context.Context, s table.Store, org string) ([]string, error) {
	owners, err := listOwners(ctx, s, org)
	var out []string
	for _, m := range owners {
		out = append(out, m.Email)
	}
	return out, err
}

// OwnerIDs is OwnerAddresses for the IDs of the owners.
func OwnerIDs(ctx context.Context, s table.Store, org string) ([]string, error) {
	owners, err := listOwners(ctx, s, org)
	var out []string
	for _, m := range owners {
		out = append(out, m.User)
	}
	return out, err
}

func listOwners(ctx context.Context, s table.Store, org string) ([]Member, error) {
	var out []Member
	q := table.Query{PK: MemberKey(org, "").PK, Limit: membersPage}
	for {
		members, next, err := table.ReadPage[Member](ctx, s, q)
		if err != nil {
			return nil, fmt.Errorf("read owners of %s: %w", org, err)
		}
		for _, m := range members {
			if m.Owns() && !m.Disabled && len(out) < MaxToldOwners {
				out = append(out, m)
			}
		}
		if q.Cursor = next; next == "" || len(out) == MaxToldOwners {
			return out, nil
		}
	}
}
