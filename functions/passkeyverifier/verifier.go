// Package passkeyverifier is the worker that verifies registrations and log-ins with passkeys (WebAuthn). It is a
// function of its own, because the library is too large for a function of the API. It reads and stores nothing: the
// caller checks challenge and user, and keeps the result.
package passkeyverifier

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/passkeys"
)

// Handler verifies the ceremony in its input, and returns the passkey.
func Handler(_ context.Context, input json.RawMessage) (any, error) {
	var c passkeys.Ceremony
	if err := json.Unmarshal(input, &c); err != nil {
		return nil, fault.NewWithCause(fault.Internal, err, "the verifier was sent no ceremony")
	}
	rp, err := webauthn.New(&webauthn.Config{
		RPID: c.RPID, RPDisplayName: c.RPID, RPOrigins: []string{c.Origin},
		// no extension is asked for, and results of others change nothing
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "passkeys are not possible at the address %s", c.Origin)
	}
	if c.Stored == nil {
		return register(rp, &c)
	}
	return logIn(rp, &c)
}

// session returns the ceremony's demands in the form of the library.
func session(c *passkeys.Ceremony) webauthn.SessionData {
	out := webauthn.SessionData{
		Challenge: c.Challenge, RelyingPartyID: c.RPID, Origin: c.Origin,
		UserVerification: protocol.VerificationRequired,
	}
	for _, alg := range passkeys.Algorithms() {
		out.CredParams = append(out.CredParams, protocol.CredentialParameter{
			Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.COSEAlgorithmIdentifier(alg),
		})
	}
	return out
}

func register(rp *webauthn.WebAuthn, c *passkeys.Ceremony) (passkeys.Record, error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes(c.Response)
	if err != nil {
		return passkeys.Record{}, refuse(err)
	}
	s := session(c)
	s.UserID = []byte(c.User)
	credential, err := rp.CreateCredential(holder{id: c.User}, s, parsed)
	if err != nil {
		return passkeys.Record{}, refuse(err)
	}
	return newRecord(*credential)
}

func logIn(rp *webauthn.WebAuthn, c *passkeys.Ceremony) (passkeys.Record, error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(c.Response)
	if err != nil {
		return passkeys.Record{}, refuse(err)
	}
	h := holder{id: c.User}
	if err = json.Unmarshal(c.Stored.Credential, &h.credential); err != nil {
		return passkeys.Record{}, fault.NewWithCause(fault.Internal, err, "decode a stored passkey of %s", c.User)
	}
	h.credential.Authenticator.SignCount = c.Stored.Count
	find := func(_, handle []byte) (webauthn.User, error) {
		if string(handle) != h.id {
			return nil, errors.New("it is of another user")
		}
		return h, nil
	}
	_, credential, err := rp.ValidatePasskeyLogin(find, session(c), parsed)
	switch {
	case err != nil:
		return passkeys.Record{}, refuse(err)
	case credential.Authenticator.CloneWarning:
		return passkeys.Record{},
			fault.New(fault.Invalid, "the credential is not accepted: its count of signatures did not "+
				"grow, so another authenticator may have a copy of it")
	}
	return newRecord(*credential)
}

// newRecord returns what is kept of a credential: nothing of its attestation, which was not asked for.
func newRecord(c webauthn.Credential) (passkeys.Record, error) {
	out := passkeys.Record{CredentialID: c.ID, Count: c.Authenticator.SignCount}
	c.Attestation, c.Authenticator.SignCount = webauthn.CredentialAttestation{}, 0
	b, err := json.Marshal(c)
	if err != nil {
		return out, fault.NewWithCause(fault.Internal, err, "encode a passkey")
	}
	out.Credential = b
	return out, nil
}

// refuse returns the refusal of the library, with its reason, which contains nothing of the request.
func refuse(err error) error {
	why := "it does not verify"
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Details != "" {
		why = fault.CleanText(e.Details, 140)
	}
	return fault.NewWithCause(fault.Invalid, err, "the credential is not accepted: %s", why)
}

// holder is a user with at most one passkey, in the form of the library.
type holder struct {
	id         string
	credential webauthn.Credential
}

// WebAuthnID returns the user handle.
func (h holder) WebAuthnID() []byte { return []byte(h.id) }

// WebAuthnName returns the user handle: the names are for options, which are not made here.
func (h holder) WebAuthnName() string { return h.id }

// WebAuthnDisplayName is WebAuthnName.
func (h holder) WebAuthnDisplayName() string { return h.id }

// WebAuthnCredentials returns the passkey that is asked about.
func (h holder) WebAuthnCredentials() []webauthn.Credential {
	return []webauthn.Credential{h.credential}
}
