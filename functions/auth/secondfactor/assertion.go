package secondfactor

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/passkeys"
)

// LogInOptions are the options of a log-in with a passkey.
type LogInOptions struct{ Host, Challenge string }

// BeginLogIn begins a log-in with a passkey. The options name no passkeys, so they do not tell whether an address has
// an account. If address is not empty, only its account is accepted.
func (f Factors) BeginLogIn(ctx context.Context, address string) (LogInOptions, error) {
	rp, err := findRelyingParty(f.Settings.BaseURL)
	if err != nil {
		return LogInOptions{}, err
	}
	c := challenge{Purpose: toLogIn}
	if address != "" {
		c.Address = f.addressDigest(address)
	}
	text, err := f.issueChallenge(ctx, c)
	return LogInOptions{rp.ID, text}, err
}

func (f Factors) addressDigest(address string) string {
	return identity.Digest(f.Settings.Pepper, "email", address)
}

// errAssertion returns the same error for every assertion that is not accepted, so that it tells nothing about
// accounts.
func errAssertion(cause error) error {
	return fault.NewWithCause(fault.Unauthenticated, cause, "the passkey is not accepted: begin again with POST "+
		"/auth/login/passkey")
}

// Assertion is an authenticator's answer to a log-in.
type Assertion struct {
	CredentialID, ClientData, UserHandle string          // members of it, in base64url
	Response                             json.RawMessage // AuthenticationResponseJSON of the W3C
}

// LogIn verifies an assertion and returns the user whose passkey signed it. Of several requests with one assertion, one
// succeeds.
func (f Factors) LogIn(ctx context.Context, a Assertion) (identity.User, error) {
	text, err := passkeys.ChallengeOf(a.ClientData)
	if err != nil {
		return identity.User{}, err
	}
	issued, err := f.useChallenge(ctx, text, toLogIn)
	if err != nil {
		return identity.User{}, hideReason(err)
	}
	u, k, err := f.findSigner(ctx, a)
	if err != nil {
		return identity.User{}, hideReason(err)
	}
	if issued.Address != "" && issued.Address != f.addressDigest(u.Email) {
		return identity.User{}, errAssertion(errors.New("the passkey of another account"))
	}
	rp, err := findRelyingParty(f.Settings.BaseURL)
	if err != nil {
		return identity.User{}, err
	}
	r, err := passkeys.Verify(ctx, f.Workers, passkeys.Ceremony{
		RPID: rp.ID, Origin: rp.Origin, Challenge: text, User: u.ID, Response: a.Response, Stored: &k.Record,
	})
	if err != nil {
		return identity.User{}, hideReason(err)
	}
	return u, f.noteUse(ctx, u.ID, r)
}

// hideReason returns errAssertion for a refusal, and other errors unchanged.
func hideReason(err error) error {
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.NotFound) {
		return errAssertion(err)
	}
	return err
}

// findSigner returns the user that an assertion names, with the passkey. Unknown ones are fault.NotFound.
func (f Factors) findSigner(ctx context.Context, a Assertion) (identity.User, storedPasskey, error) {
	handle, err := base64.RawURLEncoding.DecodeString(a.UserHandle)
	user := string(handle)
	if err != nil || !id.IsValid("usr", user) {
		return identity.User{}, storedPasskey{}, fault.New(fault.NotFound, "no such user")
	}
	credential, err := base64.RawURLEncoding.DecodeString(a.CredentialID)
	if err != nil {
		return identity.User{}, storedPasskey{}, fault.New(fault.NotFound, "no such passkey")
	}
	profile, key := identity.UserKey(user), passkeyKey(user, credential)
	rows, err := f.Table.BatchGet(within(ctx, user), profile, key)
	if err != nil {
		return identity.User{}, storedPasskey{}, fault.Wrap("read a passkey of "+user, err)
	}
	if rows[profile].Data == nil || rows[key].Data == nil {
		return identity.User{}, storedPasskey{}, fault.New(fault.NotFound, "no such passkey")
	}
	u, err := table.Decode[identity.User](rows[profile])
	if err != nil {
		return u, storedPasskey{}, err
	}
	k, err := table.Decode[storedPasskey](rows[key])
	return u, k, err
}

// ProvePasskey verifies an assertion of one of u's passkeys.
func (f Factors) ProvePasskey(ctx context.Context, u identity.User, a Assertion) (string, error) {
	signer, err := f.LogIn(ctx, a)
	if err == nil && signer.ID != u.ID {
		err = errAssertion(errors.New("the passkey of another user"))
	}
	return identity.FactorPasskey, err
}

// noteUse stores the record of a passkey after a log-in. Of two log-ins with one count of signatures, one succeeds.
// Authenticators that do not count always send 0.
func (f Factors) noteUse(ctx context.Context, user string, r passkeys.Record) error {
	conds := []table.Cond{table.Exists()}
	if r.Count > 0 {
		conds = append(conds, table.Less("count", int64(r.Count)))
	}
	_, err := f.Table.Write(table.WithoutAttachment(within(ctx, user)), table.Update(passkeyKey(user, r.CredentialID),
		[]table.Change{
			table.Set("count", int64(r.Count)), table.Set("used", f.Clock.Now()), table.Set("credential", r.Credential),
		}, conds...))
	if _, raced := errors.AsType[*table.ConditionError](err); raced {
		return errAssertion(err)
	}
	return fault.Wrap("note the use of a passkey of "+user, err)
}
