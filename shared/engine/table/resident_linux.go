package table

import "golang.org/x/sys/unix"

// release says of mapped memory that it is not needed for now.
func release(from, length uintptr) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, length, unix.MADV_DONTNEED) // an advice: nothing depends on it
}
