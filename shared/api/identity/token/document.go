package token

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"

	"lamplighter.dev/shared/foundation/fault"
)

// Documents signs documents and verifies them. It names no type of go-jose: a function that has a Platform, and no
// document, would link the library's JSON otherwise.
type Documents interface {
	// Sign returns a document as SignDocument does.
	Sign(ctx context.Context, typ string, body []byte) (string, error)
	// Verify returns the body of a document as VerifyDocument does. If the keys cannot be read, the error is
	// fault.Unavailable.
	Verify(ctx context.Context, typ, document string) ([]byte, error)
}

// NewDocuments returns the Documents of a keyring.
func NewDocuments(keys Keyring) Documents { return documents{keys} }

// documents signs with the keys of a ring.
type documents struct{ keys Keyring }

func (d documents) Sign(ctx context.Context, typ string, body []byte) (string, error) {
	return SignDocument(ctx, d.keys, typ, body)
}

func (d documents) Verify(ctx context.Context, typ, document string) ([]byte, error) {
	set, err := d.keys.Accepted(ctx)
	if err != nil {
		return nil, fault.NewWithCause(fault.Unavailable, err, "the keys of signed documents cannot be read now")
	}
	return VerifyDocument(set, typ, document)
}

// SignDocument returns a document as a JSON Web Signature in compact form, signed by the key that signs now. The type
// separates documents from access tokens and from each other: a signature for one type is none for another.
func SignDocument(ctx context.Context, keys Keyring, typ string, body []byte) (string, error) {
	if typ == tokenType {
		return "", errors.New("a document cannot have the type of access tokens")
	}
	key, err := keys.Signing(ctx)
	if err != nil {
		return "", fmt.Errorf("choose the key of a document: %w", err)
	}
	return signCompact(ctx, key, typ, body)
}

// signCompact returns the compact form of a signed body.
func signCompact(ctx context.Context, key SigningKey, typ string, body []byte) (string, error) {
	pub := key.Public()
	head, err := json.Marshal(header{Alg: pub.Algorithm, Kid: pub.KeyID, Typ: typ})
	if err != nil {
		return "", fmt.Errorf("encode the header of a signature: %w", err)
	}
	b64 := base64.RawURLEncoding
	signed := b64.EncodeToString(head) + "." + b64.EncodeToString(body)
	sig, err := key.Sign(ctx, []byte(signed))
	if err != nil {
		return "", err
	}
	return signed + "." + b64.EncodeToString(sig), nil
}

// ErrUnknownKey is in the chain of the error for a document whose key is not in the set. The key may have been replaced
// since.
var ErrUnknownKey = errors.New("its key is none of the given ones")

// VerifyDocument returns the body of a document, if a key of the set signed it as that type. If the key is unknown, the
// error has ErrUnknownKey, and the body is returned as well.
func VerifyDocument(set jose.JSONWebKeySet, typ, document string) ([]byte, error) {
	s, err := jose.ParseSignedCompact(document, algorithms)
	if err != nil {
		return nil, fmt.Errorf("it is not a signed document: %w", err)
	}
	h := s.Signatures[0].Protected
	if got, _ := h.ExtraHeaders[jose.HeaderType].(string); got != typ {
		return nil, fmt.Errorf("it is a document of the type %.40q", got)
	}
	if len(set.Key(h.KeyID)) == 0 {
		return s.UnsafePayloadWithoutVerification(), fmt.Errorf("%w: %.64q", ErrUnknownKey, h.KeyID)
	}
	key, err := pickKey(set, h, typ)
	if err != nil {
		return nil, err
	}
	body, err := s.Verify(key)
	if err != nil {
		return nil, fmt.Errorf("its signature is not valid: %w", err)
	}
	return body, nil
}
