package auth

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/accounts"
)

// withAuthPartitions allows the partitions that these operations touch before the caller is known.
func withAuthPartitions(ctx context.Context) context.Context {
	return table.Within(ctx, identity.UserPrefix, identity.AddressPrefix, codePrefix, ticketPrefix, oauthLoginPrefix,
		ratelimit.Prefix, mail.Prefix)
}

// newUser returns a new account, not stored yet.
func (s *service) newUser(ctx context.Context, address, password, name string) (identity.User, error) {
	hash, err := s.passwords.hashPassword(ctx, password)
	if err != nil {
		return identity.User{}, err
	}
	u := accounts.NewUser(s.Clock.Now(), address, name)
	u.Password = hash
	return u, nil
}
