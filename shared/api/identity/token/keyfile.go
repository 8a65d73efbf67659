package token

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/seal"
)

// KeyFile is a keyring in a PEM file of Ed25519 keys (PKCS #8). The headers of a block say from when its key signs and
// until when it is accepted; a key without them signs from the beginning and is accepted for good. The file is looked at
// again when half a minute has passed, so that a running service follows a rotation. A file that cannot be read any more
// is an error of whatever needs a key: to go on with an old set could be to sign with a key that was taken out.
type KeyFile struct {
	path  string
	clock clock.Clock
	read  func(path string) ([]byte, error)

	mu      sync.Mutex
	looked  time.Time
	content []byte
	private []edKey
	keySchedule
}

const (
	pemType     = "PRIVATE KEY"
	fromHeader  = "Signs-From"
	untilHeader = "Accepted-Until"
)

// OpenKeyFile reads the keyring at path, and makes one with a new key when there is no file. A file that others than its
// owner may read is refused.
func OpenKeyFile(path string, c clock.Clock) (*KeyFile, error) {
	k := &KeyFile{path: path, clock: c, read: seal.ReadPrivate}
	_, err := k.read(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = createKeyFile(path)
	}
	if err != nil {
		return nil, err
	}
	return k, k.reread()
}

// reread reads the file, unless that was done half a minute ago or later.
func (k *KeyFile) reread() error {
	now := k.clock.Now()
	if k.keys != nil && now.Sub(k.looked) < keyReread {
		return nil
	}
	b, err := k.read(k.path)
	if err != nil {
		return err
	}
	if k.keys == nil || !bytes.Equal(b, k.content) {
		private, keys, err := parseKeys(b)
		if err != nil {
			return fmt.Errorf("read signing keys %s: %w", k.path, err)
		}
		k.private, k.keySchedule = private, keySchedule{keys: keys}
	}
	k.content, k.looked = b, now
	return nil
}

// Signing returns the key that signs now.
func (k *KeyFile) Signing(context.Context) (SigningKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.reread(); err != nil {
		return nil, err
	}
	i, err := k.signing(k.clock.Now())
	if err != nil {
		return nil, fmt.Errorf("choose a key of %s: %w", k.path, err)
	}
	return k.private[i], nil
}

// Accepted returns the keys of the file that have not ended, those that do not sign yet among them.
func (k *KeyFile) Accepted(context.Context) (jose.JSONWebKeySet, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.reread(); err != nil {
		return jose.JSONWebKeySet{}, err
	}
	return k.acceptedKeys(k.clock.Now()), nil
}

func createKeyFile(path string) ([]byte, error) {
	block, err := newKey(nil)
	if err != nil {
		return nil, err
	}
	return seal.CreatePrivate(path, pem.EncodeToMemory(block))
}

func newKey(headers map[string]string) (*pem.Block, error) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("encode a signing key: %w", err)
	}
	return &pem.Block{Type: pemType, Headers: headers, Bytes: der}, nil
}

func parseKeys(b []byte) (private []edKey, keys []timedKey, err error) {
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		key, when, err := parseKey(block)
		if err != nil {
			return nil, nil, err
		}
		private, keys = append(private, key), append(keys, when)
	}
	if len(keys) == 0 {
		return nil, nil, errors.New("no PEM block of a private key in it")
	}
	return private, keys, nil
}

func parseKey(block *pem.Block) (edKey, timedKey, error) {
	if block.Type != pemType {
		return edKey{}, timedKey{}, fmt.Errorf("a PEM block %q, where %q belongs", block.Type, pemType)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return edKey{}, timedKey{}, fmt.Errorf("parse private key: %w", err)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return edKey{}, timedKey{}, fmt.Errorf("a key of type %T, where Ed25519 belongs", parsed)
	}
	key, err := newEdKey(private)
	if err != nil {
		return edKey{}, timedKey{}, err
	}
	when := timedKey{public: key.public}
	for name, value := range block.Headers {
		at, err := time.Parse(time.RFC3339, value)
		switch {
		case err != nil:
			return edKey{}, timedKey{},
				fmt.Errorf("header %s of a key is %q, where a time like 2026-03-10T09:00:00Z belongs", name, value)
		case name == fromHeader:
			when.from = at
		case name == untilHeader:
			when.until = at
		default:
			return edKey{}, timedKey{},
				fmt.Errorf("a key has a header %s, where only %s and %s are known", name, fromHeader, untilHeader)
		}
	}
	return key, when, nil
}

var _ Keyring = (*KeyFile)(nil)
