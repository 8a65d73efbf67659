//go:build !linux

package table

// adviseUnneeded does nothing: the system takes mapped pages back when it needs them.
func adviseUnneeded(uintptr, int64) error { return nil }
