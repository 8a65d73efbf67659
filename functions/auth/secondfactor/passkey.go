package secondfactor

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

const maxPasskeys = 20 // of a user

// Passkey is a passkey of a user.
type Passkey struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used,omitzero"` // of its last log-in
}

// storedPasskey is the record of a passkey.
type storedPasskey struct {
	Passkey

	Count      int64               `json:"count"` // the authenticator's count of its signatures
	Credential webauthn.Credential `json:"credential"`
}

// passkeyKey returns the key of a passkey. It follows from the credential, so that one is registered once.
func passkeyKey(user string, credential []byte) table.Key {
	return identity.SecondFactorKey(user, passkeyPrefix+identity.Digest(nil, string(credential)))
}

// decodePasskeys returns the passkeys among the records of a user, oldest first.
func decodePasskeys(rows []table.Item) ([]storedPasskey, error) {
	var out []storedPasskey
	for _, row := range rows {
		if !strings.HasPrefix(row.SK, identity.SecondFactorPrefix+passkeyPrefix) {
			continue
		}
		k, err := table.Decode[storedPasskey](row)
		if err != nil {
			return nil, err
		}
		k.Credential.Authenticator.SignCount = uint32(k.Count) //nolint:gosec // it was one
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b storedPasskey) int { return strings.Compare(a.ID, b.ID) }) // IDs sort by time
	return out, nil
}

func (f Factors) readPasskeys(ctx context.Context, user string) ([]storedPasskey, error) {
	rows, err := f.readRows(ctx, user, passkeyPrefix)
	if err != nil {
		return nil, err
	}
	return decodePasskeys(rows)
}

// holder is a user with passkeys, in the form of the library.
type holder struct {
	identity.User

	passkeys []storedPasskey
}

func (h holder) WebAuthnID() []byte          { return []byte(h.ID) }
func (h holder) WebAuthnName() string        { return h.Email }
func (h holder) WebAuthnDisplayName() string { return h.Name }

func (h holder) WebAuthnCredentials() []webauthn.Credential {
	out := make([]webauthn.Credential, len(h.passkeys))
	for i, k := range h.passkeys {
		out[i] = k.Credential
	}
	return out
}

// BeginRegistration returns the options for a new passkey of u.
func (f Factors) BeginRegistration(ctx context.Context, u identity.User) (protocol.PublicKeyCredentialCreationOptions,
	error,
) {
	var none protocol.PublicKeyCredentialCreationOptions
	rp, err := relyingParty(f.Settings.BaseURL)
	if err != nil {
		return none, err
	}
	h := holder{User: u}
	if h.passkeys, err = f.readPasskeys(ctx, u.ID); err != nil {
		return none, err
	}
	if len(h.passkeys) >= maxPasskeys {
		return none, fault.New(fault.Conflict, "you have %d passkeys, and more are not possible: remove one", maxPasskeys)
	}
	out, session, err := rp.BeginRegistration(h,
		webauthn.WithExclusions(webauthn.Credentials(h.WebAuthnCredentials()).CredentialDescriptors()))
	if err != nil {
		return none, fault.NewWithCause(fault.Internal, err, "begin to register a passkey of %s", u.ID)
	}
	return out.Response, f.storeChallenge(ctx, challenge{Purpose: toRegister, User: u.ID, Session: *session})
}

// NewPasskey is a passkey to be registered.
type NewPasskey struct {
	Name       string
	Credential json.RawMessage // RegistrationResponseJSON of the W3C
}

// Register stores a passkey of c.User. It returns recovery codes if the user has none yet.
func (f Factors) Register(ctx context.Context, c Change, n NewPasskey) (Passkey, []string, error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes(n.Credential)
	if err != nil {
		return Passkey{}, nil, errCredential(err)
	}
	rp, err := relyingParty(f.Settings.BaseURL)
	if err != nil {
		return Passkey{}, nil, err
	}
	issued, err := f.useChallenge(ctx, parsed.Response.CollectedClientData.Challenge, toRegister)
	if err == nil && issued.User != c.User.ID {
		err = errChallenge()
	}
	if err != nil {
		return Passkey{}, nil, fault.NewWithCause(fault.Invalid, err, "%s with POST /auth/mfa/passkeys", fault.Message(err))
	}
	credential, err := rp.CreateCredential(holder{User: c.User}, issued.Session, parsed)
	if err != nil {
		return Passkey{}, nil, errCredential(err)
	}
	return f.storePasskey(ctx, c, n.Name, *credential)
}

// errCredential returns the error for a credential that the library refuses.
func errCredential(err error) error {
	return fault.NewWithCause(fault.Invalid, err, "the credential is not accepted: %s", explain(err))
}

// explain returns the library's reason, which contains nothing of the request.
func explain(err error) string {
	if e, ok := err.(*protocol.Error); ok && e.Details != "" { //nolint:errorlint // the outermost is the reason
		return fault.CleanText(e.Details, 140)
	}
	return "it does not verify"
}

func (f Factors) storePasskey(ctx context.Context, c Change, name string, credential webauthn.Credential) (Passkey,
	[]string, error,
) {
	now := f.Clock.Now()
	credential.Attestation = webauthn.CredentialAttestation{} // it is not asked for, and not kept
	k := storedPasskey{
		Passkey: Passkey{ID: id.New("pk", now), Name: name, Created: now},
		Count:   int64(credential.Authenticator.SignCount), Credential: credential,
	}
	it, err := table.NewItem(passkeyKey(c.User.ID, credential.ID), k)
	if err != nil {
		return Passkey{}, nil, err
	}
	ws, err := f.proveSession(ctx, c, identity.FactorPasskey)
	if err != nil {
		return Passkey{}, nil, err
	}
	ws = append(ws, table.Put(it, table.Absent()), updateUser(c.User, setPasskeys(c.User.Passkeys+1)))
	var codes []string
	if !c.User.HasSecondFactor() {
		var put table.Write
		if codes, put, err = f.newRecoveryCodes(c.User.ID); err != nil {
			return Passkey{}, nil, err
		}
		ws = append(ws, put)
	}
	return k.Passkey, codes, f.commit(ctx, c, "A passkey was added.", ws...)
}

// RemovePasskey removes a passkey of c.User, and the recovery codes if no factor is left. The caller has proved a factor.
func (f Factors) RemovePasskey(ctx context.Context, c Change, passkeyID string) error {
	k, err := f.FindPasskey(ctx, c.User.ID, passkeyID)
	if err != nil {
		return err
	}
	left := c.User
	left.Passkeys--
	ws := []table.Write{
		table.Delete(passkeyKey(c.User.ID, k.Credential.ID), table.Exists()), updateUser(c.User, setPasskeys(left.Passkeys)),
	}
	if !left.HasSecondFactor() {
		ws = append(ws, table.Delete(identity.SecondFactorKey(c.User.ID, recoveryName)))
	}
	return f.commit(ctx, c, "A passkey was removed.", ws...)
}

// FindPasskey returns a passkey of a user by its ID.
func (f Factors) FindPasskey(ctx context.Context, user, passkeyID string) (storedPasskey, error) {
	keys, err := f.readPasskeys(ctx, user)
	if err != nil {
		return storedPasskey{}, err
	}
	i := slices.IndexFunc(keys, func(k storedPasskey) bool { return k.ID == passkeyID })
	if i < 0 {
		return storedPasskey{}, fault.New(fault.NotFound, "you have no passkey %.64q", passkeyID)
	}
	return keys[i], nil
}
