package identity

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-jose/go-jose/v4"

	"lamplighter.dev/shared/seal"
)

// KeyFile is a keyring in a PEM file of Ed25519 keys (PKCS #8): the first one signs, the others are still accepted. To
// rotate, put a new key before the old one, and take the old one out when its last token has ended.
type KeyFile struct {
	signing  SigningKey
	accepted jose.JSONWebKeySet
}

const pemType = "PRIVATE KEY"

// OpenKeyFile reads the keyring at path, and makes one with a new key when there is no file. A file that others than its
// owner may read is refused.
func OpenKeyFile(path string) (*KeyFile, error) {
	b, err := seal.ReadPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		b, err = createKeyFile(path)
	}
	if err != nil {
		return nil, err
	}
	k, err := parseKeys(b)
	if err != nil {
		return nil, fmt.Errorf("read signing keys %s: %w", path, err)
	}
	return k, nil
}

func createKeyFile(path string) ([]byte, error) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("encode a signing key: %w", err)
	}
	return seal.CreatePrivate(path, pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}))
}

func parseKeys(b []byte) (*KeyFile, error) {
	k := &KeyFile{}
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		key, err := parseKey(block)
		if err != nil {
			return nil, err
		}
		if k.signing == nil {
			k.signing = key
		}
		k.accepted.Keys = append(k.accepted.Keys, key.public)
	}
	if k.signing == nil {
		return nil, errors.New("no PEM block of a private key in it")
	}
	return k, nil
}

func parseKey(block *pem.Block) (edKey, error) {
	if block.Type != pemType {
		return edKey{}, fmt.Errorf("a PEM block %q, where %q belongs", block.Type, pemType)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return edKey{}, fmt.Errorf("parse private key: %w", err)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return edKey{}, fmt.Errorf("a key of type %T, where Ed25519 belongs", parsed)
	}
	return newEdKey(private)
}

// Signing is the first key of the file.
func (k *KeyFile) Signing(context.Context) (SigningKey, error) { return k.signing, nil }

// Accepted are all the keys of the file.
func (k *KeyFile) Accepted(context.Context) (jose.JSONWebKeySet, error) { return k.accepted, nil }

var _ Keyring = (*KeyFile)(nil)
