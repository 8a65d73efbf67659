package confined

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// reserve is the address space, in bytes, that a Go process maps without using it: arenas, and stacks of threads.
const reserve = 512 << 20

// limitAddressSpace limits the address space to its current size plus limit and reserve.
func limitAddressSpace(limit int64) error {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return fmt.Errorf("read the size of this process: %w", err)
	}
	pages, _, _ := bytes.Cut(b, []byte(" "))
	n, err := strconv.ParseInt(string(pages), 10, 64)
	if err != nil {
		return fmt.Errorf("read the size of this process: %w", err)
	}
	most := uint64(n*int64(os.Getpagesize()) + limit + reserve) //nolint:gosec // positive
	var was syscall.Rlimit
	if err = syscall.Getrlimit(syscall.RLIMIT_AS, &was); err != nil {
		return err
	}
	most = min(most, was.Max)
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most})
}
