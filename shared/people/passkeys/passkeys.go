// Package passkeys lets the worker passkeyverifier verify the answers of authenticators (WebAuthn). The library that
// does it is too large for a function of the API, so only the worker links it.
package passkeys

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/foundation/fault"
)

// Worker is the function that verifies.
const Worker = "passkeyverifier"

// Algorithms returns the accepted algorithms of signatures (COSE), best first: EdDSA, ES256, RS256.
func Algorithms() []int { return []int{-8, -7, -257} }

// Ceremony is an answer of an authenticator, and what it must fit.
type Ceremony struct {
	RPID      string          `json:"rpID"`   // host that passkeys are bound to
	Origin    string          `json:"origin"` // origin of the page
	Challenge string          `json:"challenge"`
	User      string          `json:"user"`               // user handle
	Response  json.RawMessage `json:"response,omitempty"` // RegistrationResponseJSON or AuthenticationResponseJSON
	// Stored is the record of the passkey that signed; nil for a registration.
	Stored *Record `json:"stored,omitempty"`
}

// Record is a registered passkey. Credential is in the form of the library and has no count.
type Record struct {
	CredentialID []byte          `json:"credentialID"`
	Credential   json.RawMessage `json:"credential"`
	Count        uint32          `json:"count"` // the authenticator's count of its signatures
}

// Verify returns the passkey that the worker accepts: the new one, or the stored one after a log-in. A refused one is
// fault.Invalid with the reason, for a registration and for a log-in.
func Verify(ctx context.Context, workers lambdacall.Invoker, c Ceremony) (Record, error) {
	var out Record
	err := workers.Invoke(ctx, Worker, c, &out)
	return out, err
}

// clientData are the members of the client's data that tell which challenge is answered.
type clientData struct {
	Challenge string `json:"challenge"`
}

// ChallengeOf returns the challenge that an answer of an authenticator names, from its clientDataJSON in base64url.
func ChallengeOf(encoded string) (string, error) {
	b, err := base64.RawURLEncoding.DecodeString(encoded)
	var d clientData
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	if err != nil || d.Challenge == "" {
		return "", fault.NewWithCause(fault.Invalid, err, "response.clientDataJSON: it is no client data in base64url")
	}
	return d.Challenge, nil
}
