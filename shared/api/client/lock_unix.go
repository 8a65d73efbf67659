//go:build !windows

package client

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// tryLock locks a file, which it creates if needed. The error is errLocked while another process holds the lock. The
// system releases the lock when the process ends.
func tryLock(path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock %s: %w", path, err)
	}
	if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close() //nolint:errcheck // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { file.Close() }, nil //nolint:errcheck // nothing was written
}
