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

// KeyFile wraps data keys with 32-byte keys from a file. It is the local default, where no key service exists. The
// first key wraps, all keys open. A running service continues to wrap with the first key it has read. It reads the file
// again when a value does not open, because another process may have added a newer key.
type KeyFile struct {
	path string

	mu   sync.RWMutex
	keys []cipher.AEAD
}

// OpenKeyFile reads the keys at path, and creates the file with a new key if it does not exist. It fails if users other
// than the owner may read the file, or if its size is wrong.
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

// RotateKeyFile inserts a new key at the start of the file at path, and returns the number of keys. It keeps the older
// keys, which are needed to open values sealed with them.
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
		return fmt.Errorf("key file %s has %d bytes; it must have %d bytes for each of 1 to %d keys: restore it, "+
			"because the stored secrets cannot be opened without it", path, size, keySize, maxKeys)
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

// NewDataKey returns a new data key, wrapped with the first key of the file.
func (k *KeyFile) NewDataKey(_ context.Context, p Place) (key, wrapped []byte, err error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	key = newKey()
	return key, k.keys[0].Seal(nil, nil, key, encodePlace(p)), nil
}

// Unwrap opens a data key that one of the file's keys wrapped for the same place.
func (k *KeyFile) Unwrap(_ context.Context, p Place, wrapped []byte) ([]byte, error) {
	k.mu.RLock()
	known := k.keys
	k.mu.RUnlock()
	key, err := unwrapKey(known, p, wrapped)
	if err == nil {
		return key, nil
	}
	fresh, readErr := readKeys(k.path)
	if readErr != nil {
		return nil, readErr
	}
	if key, err = unwrapKey(fresh, p, wrapped); err != nil {
		return nil, fmt.Errorf("unwrap data key: another key file, or another place: %w", err)
	}
	k.mu.Lock()
	k.keys = fresh
	k.mu.Unlock()
	return key, nil
}

func unwrapKey(keys []cipher.AEAD, p Place, wrapped []byte) (key []byte, err error) {
	for _, aead := range keys {
		if key, err = aead.Open(nil, nil, wrapped, encodePlace(p)); err == nil {
			return key, nil
		}
	}
	return nil, err
}

var _ KEK = (*KeyFile)(nil)
