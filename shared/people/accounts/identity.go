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

// LinkPrefix is the prefix of the partition keys that link accounts to identity providers.
const LinkPrefix = "IDENT#"

// Claim is the statement of an identity provider about a person. Its origin has been verified.
type Claim struct {
	// Issuer identifies the provider, and with Subject the person. Two configurations of one provider are two issuers.
	Issuer  string
	Subject string // the provider's ID of the person; it is never given to another person
	Email   string // an address that the provider has verified, or ""
	Name    string // the person's display name, or ""

	// Authoritative is true if the provider runs the mailboxes of the address's domain, so that its statement proves as
	// much as a code sent by mail. Only then is the person given an existing account with the same address.
	Authoritative bool
}

// identityLink links a person at an identity provider to an account.
type identityLink struct {
	User    string    `json:"user"`
	Issuer  string    `json:"issuer"`
	Created time.Time `json:"created"`
	Listed  bool      `json:"listed,omitempty"` // the account's list of links contains it
}

func (a Accounts) linkKey(c Claim) table.Key {
	return table.Key{PK: LinkPrefix + identity.Digest(a.Settings.Pepper, "identity", c.Issuer, c.Subject), SK: "I"}
}

// maxAttempts limits how often FindOrCreateByIdentity starts again because another request was faster.
const maxAttempts = 5

// FindOrCreateByIdentity returns the account of the person that the claim is about. At the first sign-in it creates an
// account without a password, or links the account with the same address if the provider is authoritative for it. From
// then on the person keeps that account, even if the address changes. It returns fault.Denied with the reason if the
// person gets no account.
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
	return identity.User{},
		fault.New(fault.Unavailable, "too many sign-ins of the same user at the same time: try again")
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
	case u.ID == "": // the account was deleted; its link is stale
		return a.linkNewIdentity(ctx, c, table.Equal("user", tie.User))
	}
	if !tie.Listed {
		a.listOldLink(ctx, a.linkKey(c), tie)
	}
	return u, checkEnabled(u)
}

// linkNewIdentity finds or creates the account of a person who signs in for the first time, and links them. The link is
// written on the condition cond.
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
	tie, err := table.NewItem(a.linkKey(c), identityLink{u.ID, c.Issuer, a.Clock.Now(), true})
	if err != nil {
		return identity.User{}, err
	}
	listed, err := listLink(u.ID, a.linkKey(c))
	if err != nil {
		return identity.User{}, err
	}
	return u, a.Table.Transact(ctx, append(writes, table.Put(tie, cond), listed)...)
}

// linkConditions returns the writes that make linking a person to the account u safe: u must still have the same
// verified address, and a mail tells its owner.
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

// newVerifiedUser returns a new verified account, with the writes that store it in place of old, which was never
// verified.
func (a Accounts) newVerifiedUser(c Claim, address string, old identity.User) (identity.User, []table.Write, error) {
	name, err := PersonName(c.Name, address)
	if err != nil { // the user cannot correct the provider's name here, so a bad one does not prevent the sign-in
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
