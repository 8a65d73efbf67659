// Package accounts finds and creates the accounts of users. Sign-up with a password, sign-in at an identity provider,
// and the single sign-on of an organization use it, so that all of them find the same account of a user.
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

// Accounts finds and creates accounts. It has no state.
type Accounts struct{ *platform.Platform }

// New returns the accounts of p.
func New(p *platform.Platform) Accounts { return Accounts{p} }

// withAccountPartitions allows access to the partitions of accounts, and of mails about them.
func withAccountPartitions(ctx context.Context) context.Context {
	return table.Within(ctx, identity.UserPrefix, identity.AddressPrefix, LinkPrefix, mail.Prefix)
}

// absentUser is the ID that is read if an address has no account, so that the number of reads does not tell whether
// there is one.
const absentUser = "usr_nobody"

// Find returns the account of an address in the form of identity.NormalizeAddress, or the zero User if it has none.
func (a Accounts) Find(ctx context.Context, address string) (identity.User, error) {
	ctx = withAccountPartitions(ctx)
	row, err := table.Read[identity.AddressRow](ctx, a.Table, identity.AddressKey(a.Settings.Pepper, address))
	if fault.Is(err, fault.NotFound) {
		row, err = identity.AddressRow{User: absentUser}, nil
	}
	if err != nil {
		return identity.User{}, fmt.Errorf("look up address: %w", err)
	}
	return a.readUser(ctx, row.User)
}

// readUser returns the account, or the zero User if it does not exist.
func (a Accounts) readUser(ctx context.Context, user string) (identity.User, error) {
	u, err := table.Read[identity.User](ctx, a.Table, identity.UserKey(user))
	if fault.Is(err, fault.NotFound) {
		_, err = table.Decode[identity.User](absentRow) // which takes as long as decoding an account
		return identity.User{}, err
	}
	return u, fault.Wrap("read user "+user, err)
}

// absentRow has the size of an account.
var absentRow = table.Item{Data: []byte(`{"id":"usr_01k8z3v5y0e6m9x2q4t7r1c8bd","email":"nobody@example.com",` +
	`"name":"Nobody","verified":true,"password":"$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$` +
	`AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","epoch":1,"created":"2026-03-10T09:00:00Z",` +
	`"updated":"2026-03-10T09:00:00Z"}`)}

// NewUser returns a new account without a password. Its address is not verified.
func NewUser(now time.Time, address, name string) identity.User {
	return identity.User{ID: id.New("usr", now), Email: address, Name: name, Created: now, Updated: now}
}

// RegisterWrites returns the writes that store the account u and give it its address. If old has an ID, u replaces old,
// an account that was never verified: its ID and password are deleted. Otherwise a person who signs up with someone
// else's address would own the account that the owner of the address verifies later.
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

// PersonName returns the cleaned name of a person. If name is blank, it returns the part of the address before the @.
func PersonName(name, address string) (string, error) {
	if strings.TrimSpace(name) == "" {
		name, _, _ = strings.Cut(address, "@")
		return name, nil
	}
	return displayname.CleanName("name", name, maxName)
}
