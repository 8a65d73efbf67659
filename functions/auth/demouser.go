package auth

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// EnsureVerifiedUser is CreateVerifiedUser, and sets the password of an existing account that has another one. In that
// case every session of the account ends. The demo log-in uses it: its password is the one in the folder of the
// service.
func EnsureVerifiedUser(
	ctx context.Context, p *platform.Platform, email, password, name string,
) (identity.User, error) {
	u, err := CreateVerifiedUser(ctx, p, email, password, name)
	if err != nil {
		return u, err
	}
	s := newService(p)
	right, _, err := s.passwords.verifyPassword(ctx, password, u.Password)
	if err != nil || right {
		return u, fault.Wrap("check password of "+u.ID, err)
	}
	return s.replacePassword(withAuthPartitions(ctx), u, password)
}

// replacePassword sets the password of u and ends every session, without a mail. It fails when the account has changed
// since it was read.
func (s *service) replacePassword(ctx context.Context, u identity.User, password string) (identity.User, error) {
	hash, err := s.passwords.hashPassword(ctx, password)
	if err != nil {
		return u, err
	}
	_, err = s.Table.Write(ctx, table.Update(identity.UserKey(u.ID), []table.Change{
		table.Set("password", hash), table.Set("updated", s.Clock.Now()), table.Add("epoch", 1),
	}, table.Equal("epoch", u.Epoch)))
	if err != nil {
		return u, fmt.Errorf("set password of %s: %w", u.ID, err)
	}
	u.Password, u.Epoch = hash, u.Epoch+1
	return u, nil
}
