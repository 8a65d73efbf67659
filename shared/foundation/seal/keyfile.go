package seal

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
)

const (
	keySize = 32
	maxKeys = 64
)

// KeyFile wraps data keys with keys of 32 bytes in a file: the local default, where no key service is. The first one
// wraps, all of them open. A running service goes on with the key that it began with, and reads the file again when
// something does not open: another process may have a newer one.
type KeyFile struct {
	path string

	mu   sync.RWMutex
	keys []cipher.AEAD
}

// OpenKeyFile reads the keys at path, and makes a new one when there is no file. A file that others than its owner may
// read, or of another size, is refused.
func OpenKeyFile(path string) (*KeyFile, error) {
	_, err := ReadPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = CreatePrivate(path, newKey())
	}
	if err != nil {
		return nil, err
	}
	k := &KeyFile{path: path}
	k.keys, err = readKeys(path)
	return k, err
}

// RotateKeyFile puts a new key before the others in the file at path, and tells how many there are then. Those before
// stay: without them, what they sealed does not open.
func RotateKeyFile(path string) (int, error) {
	old, err := ReadPrivate(path)
	if err != nil {
		return 0, err
	}
	defer clear(old)
	if err = checkSize(path, len(old)); err != nil {
		return 0, err
	}
	fresh := append(newKey(), old...)
	defer clear(fresh)
	if err = checkSize(path, len(fresh)); err != nil {
		return 0, err
	}
	return len(fresh) / keySize, ReplacePrivate(path, fresh)
}

func newKey() []byte {
	key := make([]byte, keySize)
	rand.Read(key) //nolint:errcheck // crypto/rand never fails
	return key
}

func checkSize(path string, size int) error {
	if size == 0 || size%keySize != 0 || size > maxKeys*keySize {
		return fmt.Errorf("key file %s has %d bytes, where %d belong, or a multiple for up to %d keys: restore it, "+
			"for without it nothing sealed can be opened",
			path, size, keySize, maxKeys)
	}
	return nil
}

func readKeys(path string) ([]cipher.AEAD, error) {
	b, err := ReadPrivate(path)
	if err != nil {
		return nil, err
	}
	defer clear(b)
	if err = checkSize(path, len(b)); err != nil {
		return nil, err
	}
	var out []cipher.AEAD
	for key := range slices.Chunk(b, keySize) {
		aead, err := newGCM(key)
		if err != nil {
			return nil, fmt.Errorf("use key file %s: %w", path, err)
		}
		out = append(out, aead)
	}
	return out, nil
}

// NewDataKey makes a data key and wraps it with the file's first.
func (k *KeyFile) NewDataKey(_ context.Context, p Place) (key, wrapped []byte, err error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	key = newKey()
	return key, k.keys[0].Seal(nil, nil, key, encodePlace(p)), nil
}

// Unwrap opens a data key that a key of the file wrapped for the same place.
func (k *KeyFile) Unwrap(_ context.Context, p Place, wrapped []byte) ([]byte, error) {
	k.mu.RLock()
	known := k.keys
	k.mu.RUnlock()
	key, err := unwrap(known, p, wrapped)
	if err == nil {
		return key, nil
	}
	fresh, readErr := readKeys(k.path)
	if readErr != nil {
		return nil, readErr
	}
	if key, err = unwrap(fresh, p, wrapped); err != nil {
		return nil, fmt.Errorf("unwrap data key: another key file, or another place: %w", err)
	}
	k.mu.Lock()
	k.keys = fresh
	k.mu.Unlock()
	return key, nil
}

func unwrap(keys []cipher.AEAD, p Place, wrapped []byte) (key []byte, err error) {
	for _, aead := range keys {
		if key, err = aead.Open(nil, nil, wrapped, encodePlace(p)); err == nil {
			return key, nil
		}
	}
	return nil, err
}

var _ KEK = (*KeyFile)(nil)
