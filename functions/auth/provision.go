package auth

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
)

// CreateVerifiedUser creates a verified account with this address, password and name, or returns the existing
// verified account of the address unchanged. It is idempotent. Operators and the demo log-in use it.
func CreateVerifiedUser(
	ctx context.Context, p *platform.Platform, email, password, name string,
) (identity.User, error) {
	s := newService(p)
	address, err := identity.NormalizeAddress(email)
	if err != nil {
		return identity.User{}, err
	}
	if err = checkPassword(password, address); err != nil {
		return identity.User{}, err
	}
	if name, err = accounts.PersonName(name, address); err != nil {
		return identity.User{}, err
	}
	ctx = withAuthPartitions(ctx)
	old, err := s.accounts.Find(ctx, address)
	if err != nil || old.Verified {
		return old, err
	}
	u, err := s.newUser(ctx, address, password, name)
	if err != nil {
		return identity.User{}, err
	}
	u.Verified = true
	return u, s.storeVerifiedUser(ctx, u, old)
}

func (s *service) storeVerifiedUser(ctx context.Context, u, old identity.User) error {
	writes, err := s.accounts.RegisterWrites(u, old)
	if err != nil {
		return err
	}
	return fault.Wrap("provision "+u.ID, s.Table.Transact(ctx, writes...))
}
