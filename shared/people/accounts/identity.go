package accounts

import (
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// LinkPrefix begins the partition keys of what ties accounts to identity providers.
const LinkPrefix = "IDENT#"

// Claim is what an identity provider says of somebody, after all that proves it to be the provider's word was checked.
type Claim struct {
	// who says so; with Subject, the one name of a person. Two configurations of one provider are two issuers.
	Issuer  string
	Subject string // the provider's own name of the person, which is never given to another one
	Email   string // an address that the provider has verified; "" is none
	Name    string // what the person is called; "" is not known

	// Authoritative is true when the provider runs the mailboxes of the address's domain, so that its word is as good as a
	// code mailed there. Only then does an account that exists already open to whoever has the same address.
	Authoritative bool
}

// identityLink ties a person at a provider to an account.
type identityLink struct {
	User    string    `json:"user"`
	Issuer  string    `json:"issuer"`
	Created time.Time `json:"created"`
}

func (a Accounts) linkKey(c Claim) table.Key {
	return table.Key{PK: LinkPrefix + identity.Digest(a.Settings.Pepper, "identity", c.Issuer, c.Subject), SK: "I"}
}

// maxAttempts bounds how often Vouched starts again because another request was faster.
const maxAttempts = 5

// FindOrCreateByIdentity returns the account of whom a provider vouches for. At first sight the person gets a new account without a
// password, or joins the one of the same address when the provider is authoritative for it; ever after it is that
// account, whatever happens to the address. fault.Denied says why somebody gets none.
func (a Accounts) FindOrCreateByIdentity(ctx context.Context, c Claim) (identity.User, error) {
	if c.Issuer == "" || c.Subject == "" {
		return identity.User{}, fault.New(fault.Internal, "a claim without issuer or subject")
	}
	ctx = withAccountPartitions(ctx)
	for range maxAttempts {
		u, err := a.tryFindOrCreate(ctx, c)
		if _, raced := errors.AsType[*table.ConditionError](err); !raced {
			return u, fault.Wrap("sign in with an identity of "+c.Issuer, err)
		}
	}
	return identity.User{}, fault.New(fault.Unavailable, "too many sign-ins of one person at once: try again")
}

func (a Accounts) tryFindOrCreate(ctx context.Context, c Claim) (identity.User, error) {
	tie, err := table.Read[identityLink](ctx, a.Table, a.linkKey(c))
	if fault.Is(err, fault.NotFound) {
		return a.linkNewIdentity(ctx, c, table.Absent())
	}
	if err != nil {
		return identity.User{}, err
	}
	u, err := a.readUser(ctx, tie.User)
	switch {
	case err != nil:
		return u, err
	case u.ID == "": // the account is gone, and its link leads nowhere
		return a.linkNewIdentity(ctx, c, table.Equal("user", tie.User))
	}
	return u, checkEnabled(u)
}

// linkNewIdentity finds or makes the account of a person who is seen for the first time, and ties them together while cond holds of
// the tie.
func (a Accounts) linkNewIdentity(ctx context.Context, c Claim, cond table.Cond) (identity.User, error) {
	address, err := identity.NormalizeAddress(c.Email)
	if err != nil {
		return identity.User{}, fault.NewWithCause(fault.Denied, err,
			"the provider names no e-mail address that it has verified: verify one there, or use POST /auth/signup")
	}
	old, err := a.Find(ctx, address)
	if err != nil {
		return identity.User{}, err
	}
	u := old
	var writes []table.Write
	if old.Verified {
		writes, err = a.linkConditions(ctx, c, old)
	} else {
		u, writes, err = a.newVerifiedUser(c, address, old)
	}
	if err != nil {
		return identity.User{}, err
	}
	tie, err := table.NewItem(a.linkKey(c), identityLink{u.ID, c.Issuer, a.Clock.Now()})
	if err != nil {
		return identity.User{}, err
	}
	return u, a.Table.Transact(ctx, append(writes, table.Put(tie, cond))...)
}

// linkConditions returns what must hold while a person is tied to the account u, which has the same address and whose owner is told.
func (a Accounts) linkConditions(ctx context.Context, c Claim, u identity.User) ([]table.Write, error) {
	if !c.Authoritative {
		return nil, fault.New(fault.Denied, "there is an account with this e-mail address already: log in with "+
			"its password")
	}
	if err := checkEnabled(u); err != nil {
		return nil, err
	}
	post, err := mail.QueueMail(ctx, a.Sealer, a.Clock.Now(), mail.Mail{Template: mail.ProviderAdded, To: u.Email})
	return []table.Write{
		table.Check(identity.UserKey(u.ID), table.Equal("verified", true)),
		table.Check(identity.AddressKey(a.Settings.Pepper, u.Email), table.Equal("user", u.ID)),
		post,
	}, err
}

// newVerifiedUser makes a verified account in place of old, which nobody verified.
func (a Accounts) newVerifiedUser(c Claim, address string, old identity.User) (identity.User, []table.Write, error) {
	name, err := PersonName(c.Name, address)
	if err != nil { // nobody can mend it here, and one's own name is no reason to be sent away
		name, _ = PersonName("", address)
	}
	u := NewUser(a.Clock.Now(), address, name)
	u.Verified = true
	writes, err := a.RegisterWrites(u, old)
	return u, writes, err
}

func checkEnabled(u identity.User) error {
	if u.Disabled {
		return fault.New(fault.Denied, "this account is disabled: ask an administrator of the organization")
	}
	return nil
}
