// Package membership holds the rules of belonging to an organization. All code that adds or removes members, or changes
// their grants, uses it: users, invitations, sign-on, assignments. An organization always has an owner, members give
// only policies that they hold themselves, and the counts of members and owners are correct under concurrent changes.
package membership

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxMembers is how many members an organization can have.
const MaxMembers = 5_000

// People changes the members of organizations. It has no state.
type People struct{ *platform.Platform }

// New returns the People of p.
func New(p *platform.Platform) People { return People{p} }

// FindMember reads the member of org with the given address. It returns the same fault.NotFound after the same calls if
// the address has no account and if its user is not a member, so that callers cannot find out who has an account. Two
// round trips.
func (s People) FindMember(ctx context.Context, org, email string) (identity.User, identity.Member, error) {
	address, err := identity.NormalizeAddress(email)
	if err != nil {
		return identity.User{}, identity.Member{}, errNoSuchMember(email)
	}
	at := identity.AddressKey(s.Settings.Pepper, address)
	row, err := table.Read[identity.AddressRow](table.Within(ctx, at.PK), s.Table, at)
	if fault.Is(err, fault.NotFound) {
		row, err = identity.AddressRow{User: "usr_nobody"}, nil
	}
	if err != nil {
		return identity.User{}, identity.Member{}, fmt.Errorf("look up an address: %w", err)
	}
	u, m, err := s.readUserAndMember(ctx, org, row.User)
	if fault.Is(err, fault.NotFound) {
		err = errNoSuchMember(address)
	}
	return u, m, err
}

func errNoSuchMember(email string) error {
	return fault.New(fault.NotFound, "no user %.254q belongs to this organization", email)
}

// ReadMember reads a member of org by user ID. One round trip.
func (s People) ReadMember(ctx context.Context, org, user string) (identity.User, identity.Member, error) {
	return s.readUserAndMember(ctx, org, user)
}

func (s People) readUserAndMember(ctx context.Context, org, user string) (identity.User, identity.Member, error) {
	var u identity.User
	var m identity.Member
	profile, member := identity.UserKey(user), identity.MemberKey(org, user)
	items, err := s.Table.BatchGet(table.Within(ctx, profile.PK, member.PK), profile, member)
	if err != nil {
		return u, m, fmt.Errorf("read member %s of %s: %w", user, org, err)
	}
	if items[profile].Data == nil || items[member].Data == nil {
		return u, m, fault.New(fault.NotFound, "no user %s belongs to this organization", user)
	}
	if u, err = table.Decode[identity.User](items[profile]); err != nil {
		return u, m, err
	}
	m, err = table.Decode[identity.Member](items[member])
	return u, m, err
}
