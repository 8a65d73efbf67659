package client

import (
	"errors"
	"fmt"
	"syscall"
)

// errSharing is Windows' ERROR_SHARING_VIOLATION.
const errSharing = syscall.Errno(32)

// tryLock opens a file that no other process may open meanwhile. The error is errLocked while another process holds it.
// The system closes the file when the process ends.
func tryLock(path string) (release func(), err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("open lock %s: %w", path, err)
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharing) {
		return nil, errLocked
	}
	if err != nil {
		return nil, fmt.Errorf("open lock %s: %w", path, err)
	}
	return func() { syscall.CloseHandle(handle) }, nil //nolint:errcheck // nothing was written
}
