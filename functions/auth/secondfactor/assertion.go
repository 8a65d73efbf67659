package secondfactor

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// BeginLogIn returns the options for a log-in with a passkey. They name no passkeys, so they do not tell whether an
// address has an account. If address is not empty, only its account is accepted.
func (f Factors) BeginLogIn(ctx context.Context, address string) (protocol.PublicKeyCredentialRequestOptions, error) {
	var none protocol.PublicKeyCredentialRequestOptions
	rp, err := relyingParty(f.Settings.BaseURL)
	if err != nil {
		return none, err
	}
	out, session, err := rp.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return none, fault.NewWithCause(fault.Internal, err, "begin a log-in with a passkey")
	}
	c := challenge{Purpose: toLogIn, Session: *session}
	if address != "" {
		c.Address = f.addressDigest(address)
	}
	return out.Response, f.storeChallenge(ctx, c)
}

func (f Factors) addressDigest(address string) string {
	return identity.Digest(f.Settings.Pepper, "email", address)
}

// errAssertion returns the same error for every assertion that is not accepted, so that it tells nothing about accounts.
func errAssertion(cause error) error {
	return fault.NewWithCause(fault.Unauthenticated, cause, "the passkey is not accepted: begin again with POST "+
		"/auth/login/passkey")
}

// LogIn verifies an assertion (AuthenticationResponseJSON of the W3C) and returns the user whose passkey signed it. Of
// several requests with one assertion, one succeeds.
func (f Factors) LogIn(ctx context.Context, assertion json.RawMessage) (identity.User, error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(assertion)
	if err != nil {
		return identity.User{}, fault.NewWithCause(fault.Invalid, err, "the assertion cannot be read: %s", explain(err))
	}
	rp, err := relyingParty(f.Settings.BaseURL)
	if err != nil {
		return identity.User{}, err
	}
	issued, err := f.useChallenge(ctx, parsed.Response.CollectedClientData.Challenge, toLogIn)
	if err != nil {
		if fault.Is(err, fault.Unauthenticated) {
			err = errAssertion(err)
		}
		return identity.User{}, err
	}
	h, err := f.readHolder(ctx, string(parsed.Response.UserHandle))
	if err != nil {
		return identity.User{}, err
	}
	if h.ID == "" || issued.Address != "" && issued.Address != f.addressDigest(h.Email) {
		return identity.User{}, errAssertion(errors.New("no such account"))
	}
	find := func([]byte, []byte) (webauthn.User, error) { return h, nil }
	_, credential, err := rp.ValidatePasskeyLogin(find, issued.Session, parsed)
	if err != nil {
		return identity.User{}, errAssertion(err)
	}
	return h.User, f.noteUse(ctx, h, *credential)
}

// ProvePasskey verifies an assertion of one of u's passkeys.
func (f Factors) ProvePasskey(ctx context.Context, u identity.User, assertion json.RawMessage) (string, error) {
	signer, err := f.LogIn(ctx, assertion)
	if err == nil && signer.ID != u.ID {
		err = errAssertion(errors.New("the passkey of another user"))
	}
	return identity.FactorPasskey, err
}

// readHolder reads a user with the passkeys, or the zero holder if there is none.
func (f Factors) readHolder(ctx context.Context, user string) (holder, error) {
	if !id.IsValid("usr", user) {
		return holder{}, nil
	}
	u, err := table.Read[identity.User](within(ctx, user), f.Table, identity.UserKey(user))
	if fault.Is(err, fault.NotFound) {
		return holder{}, nil
	}
	if err != nil {
		return holder{}, fault.Wrap("read user "+user, err)
	}
	keys, err := f.readPasskeys(ctx, user)
	return holder{u, keys}, err
}

// noteUse stores the count of signatures of a passkey. A count that did not grow means that two authenticators have the
// key: then the log-in is refused. Authenticators that do not count always send 0.
func (f Factors) noteUse(ctx context.Context, h holder, c webauthn.Credential) error {
	k := passkeyKey(h.ID, c.ID)
	if c.Authenticator.CloneWarning {
		f.Log.WarnContext(ctx, "a passkey has an old count of signatures: it may have been copied", "user", h.ID)
		return errAssertion(errors.New("its count of signatures did not grow"))
	}
	count := int64(c.Authenticator.SignCount)
	conds := []table.Cond{table.Exists()}
	if count > 0 {
		conds = append(conds, table.Less("count", count))
	}
	_, err := f.Table.Write(table.WithoutAttachment(within(ctx, h.ID)), table.Update(k,
		[]table.Change{table.Set("count", count), table.Set("used", f.Clock.Now()), table.Set("credential", c)}, conds...))
	if _, raced := errors.AsType[*table.ConditionError](err); raced {
		return errAssertion(err)
	}
	return fault.Wrap("note the use of a passkey of "+h.ID, err)
}
