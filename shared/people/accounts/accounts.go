// Package accounts finds and makes the accounts of people. More than one function needs that: somebody signs up with a
// password, signs in at a provider, or comes from the single sign-on of an organization, and all of them must meet the
// same account, once.
package accounts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Accounts finds and makes accounts. It remembers nothing.
type Accounts struct{ *platform.Platform }

// New returns the accounts of p.
func New(p *platform.Platform) Accounts { return Accounts{p} }

// withAccountPartitions names the partitions of accounts, and of what is mailed about them.
func withAccountPartitions(ctx context.Context) context.Context {
	return table.Within(ctx, identity.UserPrefix, identity.AddressPrefix, LinkPrefix, mail.Prefix)
}

// unverifiedTTL is read where there is no account, so that one is not told from the other by the reads that it takes.
const unverifiedTTL = "usr_nobody"

// Find reads the account of an address in the form of identity.NormalizeAddress; the zero User when it has none.
func (a Accounts) Find(ctx context.Context, address string) (identity.User, error) {
	ctx = withAccountPartitions(ctx)
	row, err := table.Read[identity.AddressRow](ctx, a.Table, identity.AddressKey(a.Settings.Pepper, address))
	if fault.Is(err, fault.NotFound) {
		row, err = identity.AddressRow{User: unverifiedTTL}, nil
	}
	if err != nil {
		return identity.User{}, fmt.Errorf("look up address: %w", err)
	}
	return a.readUser(ctx, row.User)
}

// readUser reads an account; the zero User when it is not there.
func (a Accounts) readUser(ctx context.Context, user string) (identity.User, error) {
	u, err := table.Read[identity.User](ctx, a.Table, identity.UserKey(user))
	if fault.Is(err, fault.NotFound) {
		return identity.User{}, nil
	}
	return u, fault.Wrap("read user "+user, err)
}

// NewUser makes an account that nobody has yet, with neither a password nor a verified address.
func NewUser(now time.Time, address, name string) identity.User {
	return identity.User{ID: id.New("usr", now), Email: address, Name: name, Created: now, Updated: now}
}

// RegisterWrites returns the writes that give an address to the account u, in place of old, an account nobody ever verified, or of
// none when old has no id. That one goes with its id and password: otherwise whoever signed up first with somebody
// else's address would own the account that the other one verifies later.
func (a Accounts) RegisterWrites(u, old identity.User) ([]table.Write, error) {
	account, err := table.NewItem(identity.UserKey(u.ID), u)
	if err != nil {
		return nil, err
	}
	address, err := table.NewItem(identity.AddressKey(a.Settings.Pepper, u.Email), identity.AddressRow{User: u.ID})
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

// PersonName brings a person's name into shape. Without one, it is the part of the address before the @.
func PersonName(name, address string) (string, error) {
	if strings.TrimSpace(name) == "" {
		name, _, _ = strings.Cut(address, "@")
		return name, nil
	}
	return displayname.CleanName("name", name, maxName)
}
