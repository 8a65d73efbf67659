package membership

import (
	"context"
	"errors"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// CopyName writes the name of a user into their rows as a member of organizations, where lists search and sort by it.
// One round trip for each of up to identity.MaxOrganisations organizations, and one more.
func (s People) CopyName(ctx context.Context, user, name string) error {
	all, err := identity.ListMemberships(ctx, s.Table, user)
	if err != nil {
		return fmt.Errorf("list the organizations of %s: %w", user, err)
	}
	for _, m := range all {
		k := identity.MemberKey(m.Org, user)
		_, err = s.Table.Write(table.Within(ctx, k.PK),
			table.Update(k, []table.Change{table.Set("name", name)}, table.Exists()))
		if _, left := errors.AsType[*table.ConditionError](err); err != nil && !left {
			return fault.Wrap("copy the name of "+user+" to "+m.Org, err)
		}
	}
	return nil
}

// NameMembers fills in the names of members whose rows have no copy of it. No round trip if none is missing, else one
// for a hundred.
func (s People) NameMembers(ctx context.Context, members []identity.Member) error {
	var unnamed []string
	for _, m := range members {
		if m.Name == "" {
			unnamed = append(unnamed, m.User)
		}
	}
	if len(unnamed) == 0 {
		return nil
	}
	names, err := s.UserNames(ctx, unnamed)
	for i := range members {
		if members[i].Name == "" {
			members[i].Name = names[members[i].User]
		}
	}
	return err
}
