package seal

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
)

const keySize = 32

// KeyFile wraps data keys with a key of 32 bytes in a file: the local default, where no key service is.
type KeyFile struct{ aead cipher.AEAD }

// OpenKeyFile reads the key at path, and makes a new one when there is no file. A file that others than its owner may
// read, or of another size, is refused.
func OpenKeyFile(path string) (*KeyFile, error) {
	key, err := ReadPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		key = make([]byte, keySize)
		rand.Read(key) //nolint:errcheck // crypto/rand never fails
		key, err = CreatePrivate(path, key)
	}
	if err != nil {
		return nil, err
	}
	defer clear(key)
	if len(key) != keySize {
		return nil, fmt.Errorf("key file %s has %d bytes, where %d belong: restore it, for without it nothing sealed can be opened", path, len(key), keySize)
	}
	aead, err := gcm(key)
	if err != nil {
		return nil, fmt.Errorf("use key file %s: %w", path, err)
	}
	return &KeyFile{aead}, nil
}

// New makes a data key and wraps it with the file's.
func (k *KeyFile) New(_ context.Context, p Place) (key, wrapped []byte, err error) {
	key = make([]byte, keySize)
	rand.Read(key) //nolint:errcheck // crypto/rand never fails
	return key, k.aead.Seal(nil, nil, key, bound(p)), nil
}

// Unwrap opens a data key that the file's key wrapped for the same place.
func (k *KeyFile) Unwrap(_ context.Context, p Place, wrapped []byte) ([]byte, error) {
	key, err := k.aead.Open(nil, nil, wrapped, bound(p))
	if err != nil {
		return nil, fmt.Errorf("unwrap data key: another key file, or another place: %w", err)
	}
	return key, nil
}

var _ KEK = (*KeyFile)(nil)
