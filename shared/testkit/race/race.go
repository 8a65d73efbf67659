// Package race skips tests under the race detector from which the detector cannot learn anything. Under the detector
// everything takes up to ten times as long.
package race

import "testing"

// SkipSequential skips a long test of a single goroutine. CI also runs it without the detector,
// and that run shows everything.
func SkipSequential(tb testing.TB) {
	tb.Helper()
	if Enabled {
		tb.Skip("SKIPPED: one goroutine does all of it: there is nothing to race with")
	}
}
