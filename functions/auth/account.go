package auth

import (
	"context"

	"lamplighter.dev/shared/accounts"
	"lamplighter.dev/shared/identity"
	"lamplighter.dev/shared/limit"
	"lamplighter.dev/shared/mail"
	"lamplighter.dev/shared/table"
)

// reach names the partitions that these operations touch before anybody is known.
func reach(ctx context.Context) context.Context {
	return table.Within(ctx, identity.UserPrefix, identity.AddressPrefix, codePrefix, ticketPrefix, visitPrefix, limit.Prefix, mail.Partition)
}

// newUser makes an account that nobody has yet.
func (s *service) newUser(ctx context.Context, address, password, name string) (identity.User, error) {
	hash, err := s.passwords.hash(ctx, password)
	if err != nil {
		return identity.User{}, err
	}
	u := accounts.New(s.Clock.Now(), address, name)
	u.Password = hash
	return u, nil
}
