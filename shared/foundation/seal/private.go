package seal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadPrivate reads a key file that only its owner may access. It refuses a file that other users may read, because its
// key may be known to them. If the file does not exist, the error is fs.ErrNotExist.
func ReadPrivate(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("key file %s is not a regular file", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("key file %s may be read by other users (mode %04o): replace the key, or run "+
			"chmod 600 on it if you are sure that no other user has read it", path, mode)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	return b, nil
}

// CreatePrivate writes a new key file with mode 0600, and returns the content of the file. If two processes create it
// at the same time, one of them wins and both use its key.
func CreatePrivate(path string, content []byte) ([]byte, error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-key-*") // made with mode 0600
	if err != nil {
		return nil, fmt.Errorf("create key file %s: %w", path, err)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // a leftover is harmless
	_, err = tmp.Write(content)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return nil, fmt.Errorf("write key file %s: %w", path, err)
	}
	if err = os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create key file %s: %w", path, err)
	}
	return ReadPrivate(path)
}

// ReplacePrivate replaces a key file atomically, with mode 0600. ReadPrivate must accept the existing file, so that a
// mistyped path creates no new file.
func ReplacePrivate(path string, content []byte) error {
	if _, err := ReadPrivate(path); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-key-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("replace key file %s: %w", path, err)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // it is gone when all went well
	_, err = tmp.Write(content)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write key file %s: %w", path, err)
	}
	if err = os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("replace key file %s: %w", path, err)
	}
	return nil
}
