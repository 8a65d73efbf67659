package auth

import (
	"context"
	"fmt"
	"strings"

	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/id"
	"lamplighter.dev/shared/identity"
	"lamplighter.dev/shared/mail"
	"lamplighter.dev/shared/naming"
	"lamplighter.dev/shared/table"
)

// reach names the partitions that these operations touch before anybody is known.
func reach(ctx context.Context) context.Context {
	return table.Within(ctx, identity.UserPrefix, identity.AddressPrefix, identity.SessionPrefix, codePrefix, ticketPrefix, mail.Partition)
}

// nobody is read where there is no account, so that one is not told from the other by the reads that it takes.
const nobody = "usr_nobody"

// find reads the account of an address; the zero User when it has none.
func (s *service) find(ctx context.Context, address string) (identity.User, error) {
	row, err := table.Read[identity.AddressRow](ctx, s.Table, identity.AddressKey(s.Settings.Pepper, address))
	if fault.Is(err, fault.NotFound) {
		row, err = identity.AddressRow{User: nobody}, nil
	}
	if err != nil {
		return identity.User{}, fmt.Errorf("look up address: %w", err)
	}
	u, err := table.Read[identity.User](ctx, s.Table, identity.UserKey(row.User))
	if fault.Is(err, fault.NotFound) {
		return identity.User{}, nil
	}
	if err != nil {
		return u, fmt.Errorf("read user %s: %w", row.User, err)
	}
	return u, nil
}

// newUser makes an account that nobody has yet.
func (s *service) newUser(ctx context.Context, address, password, name string) (identity.User, error) {
	hash, err := s.passwords.hash(ctx, password)
	if err != nil {
		return identity.User{}, err
	}
	now := s.Clock.Now()
	return identity.User{ID: id.New("usr", now), Email: address, Name: name, Password: hash, Created: now, Updated: now}, nil
}

// register is the writes that give an address to the account u, in place of old, an account nobody ever verified, or of
// none when old has no id. That one goes with its id and password: otherwise whoever signed up first with somebody
// else's address would own the account that the other one verifies later.
func (s *service) register(u, old identity.User) ([]table.Write, error) {
	account, err := table.Row(identity.UserKey(u.ID), u)
	if err != nil {
		return nil, err
	}
	address, err := table.Row(identity.AddressKey(s.Settings.Pepper, u.Email), identity.AddressRow{User: u.ID})
	if err != nil {
		return nil, err
	}
	put := table.Put(account, table.Absent())
	if old.ID == "" {
		return []table.Write{put, table.Put(address, table.Absent())}, nil
	}
	return []table.Write{
		put,
		table.Put(address, table.Equal("user", old.ID)),
		table.Delete(identity.UserKey(old.ID), table.Equal("verified", false)),
	}, nil
}

const maxName = 100

// named brings a person's name into shape. Without one, it is the
// part of the address before the @.
func named(name, address string) (string, error) {
	if strings.TrimSpace(name) == "" {
		name, _, _ = strings.Cut(address, "@")
		return name, nil
	}
	return naming.Clean("name", name, maxName)
}
