//go:build !linux

package table

// release does nothing where the advice means something else or does not exist.
func release(_, _ uintptr) {}
