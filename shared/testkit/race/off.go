//go:build !race

package race

// Enabled reports whether the race detector watches this run.
const Enabled = false
