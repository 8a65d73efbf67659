//go:build !linux

package confined

// limitAddressSpace does nothing: macOS does not enforce RLIMIT_AS, and Windows has none. The process watches itself.
func limitAddressSpace(int64) error { return nil }
