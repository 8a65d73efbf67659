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

// KeyFile is a keyring in a PEM file with Ed25519 keys (PKCS #8). Headers of a block say when its key starts to sign,
// and until when it is accepted. Without headers, a key signs always and is accepted always. The file is read again
// after half a minute, so that a running service follows a rotation. If the file can no longer be read, all uses of
// keys fail, because the old set might contain a removed key.
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

// OpenKeyFile reads the keyring at path, and creates it with a new key if the file does not exist. It fails if users
// other than the owner may read the file.
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

// reread reads the file, unless it was read in the last half minute.
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
			return fmt.Errorf("read signing keys %s: %w: restore the file, or move it away for a new key, which ends "+
				"every session", k.path, err)
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

// Accepted returns the keys of the file that have not ended, including those that do not sign yet.
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
		return edKey{}, timedKey{}, fmt.Errorf("a PEM block has the type %q; it must be %q", block.Type, pemType)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return edKey{}, timedKey{}, fmt.Errorf("parse private key: %w", err)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return edKey{}, timedKey{}, fmt.Errorf("a key has the type %T; it must be Ed25519", parsed)
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
				fmt.Errorf("header %s of a key is %q; it must be a time like 2026-03-10T09:00:00Z", name, value)
		case name == fromHeader:
			when.from = at
		case name == untilHeader:
			when.until = at
		default:
			return edKey{}, timedKey{},
				fmt.Errorf("a key has an unknown header %s; only %s and %s are allowed", name, fromHeader, untilHeader)
		}
	}
	return key, when, nil
}

var _ Keyring = (*KeyFile)(nil)
