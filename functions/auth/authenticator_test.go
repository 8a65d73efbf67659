package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

// authenticator is a security key in software, with one passkey. Tests change its fields to misbehave.
type authenticator struct {
	tb     testing.TB
	key    *ecdsa.PrivateKey
	id     []byte
	handle string // user handle in base64url, as the options of the registration name it
	rp     string
	origin string
	flags  byte
	count  uint32
}

// The flags of authenticator data (WebAuthn, section 6.1).
const (
	userPresent  = 0x01
	userVerified = 0x04
	attested     = 0x40
)

func newAuthenticator(tb testing.TB, origin, rp string) *authenticator {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	id := make([]byte, 32)
	_, _ = rand.Read(id)
	return &authenticator{tb: tb, key: key, id: id, rp: rp, origin: origin, flags: userPresent | userVerified}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (a *authenticator) clientData(kind, challenge string) []byte {
	b, err := json.Marshal(map[string]any{
		"type": kind, "challenge": challenge, "origin": a.origin, "crossOrigin": false,
	})
	if err != nil {
		a.tb.Fatal(err)
	}
	return b
}

// data is the authenticator data, with more behind it.
func (a *authenticator) data(flags byte, more []byte) []byte {
	rp := sha256.Sum256([]byte(a.rp))
	out := append(rp[:], flags)
	return append(binary.BigEndian.AppendUint32(out, a.count), more...)
}

// create answers the options of a registration.
func (a *authenticator) create(options map[string]any) map[string]any {
	a.tb.Helper()
	a.handle = options["user"].(map[string]any)["id"].(string)
	point, err := a.key.PublicKey.Bytes()
	if err != nil {
		a.tb.Fatal(err)
	}
	cose := a.cbor(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	more := append(make([]byte, 16), binary.BigEndian.AppendUint16(nil, uint16(len(a.id)))...)
	more = append(append(more, a.id...), cose...)
	object := a.cbor(map[string]any{
		"fmt": "none", "attStmt": map[string]any{}, "authData": a.data(a.flags|attested, more),
	})
	return map[string]any{
		"id": b64(a.id), "rawId": b64(a.id), "type": "public-key", "clientExtensionResults": map[string]any{},
		"authenticatorAttachment": "platform",
		"response": map[string]any{
			"clientDataJSON":    b64(a.clientData("webauthn.create", options["challenge"].(string))),
			"attestationObject": b64(object), "transports": []string{"internal"},
		},
	}
}

func (a *authenticator) cbor(v any) []byte {
	b, err := webauthncbor.Marshal(v)
	if err != nil {
		a.tb.Fatal(err)
	}
	return b
}

// sign answers the options of a log-in.
func (a *authenticator) sign(options map[string]any) map[string]any {
	a.tb.Helper()
	client, data := a.clientData("webauthn.get", options["challenge"].(string)), a.data(a.flags, nil)
	hash := sha256.Sum256(client)
	signed := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, signed[:])
	if err != nil {
		a.tb.Fatal(err)
	}
	return map[string]any{
		"id": b64(a.id), "rawId": b64(a.id), "type": "public-key", "clientExtensionResults": map[string]any{},
		"response": map[string]any{
			"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature),
			"userHandle": a.handle,
		},
	}
}
