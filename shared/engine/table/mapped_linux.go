package table

import "syscall"

// adviseUnneeded says that the mapped pages from an address on are not needed.
func adviseUnneeded(address uintptr, size int64) error {
	_, _, errno := syscall.Syscall(syscall.SYS_MADVISE, address, uintptr(size), syscall.MADV_DONTNEED)
	if errno != 0 {
		return errno
	}
	return nil
}
