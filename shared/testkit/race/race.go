// Package race spares the race detector, under which everything takes up to ten times as long, what it cannot learn anything
// from.
package race

import "testing"

// SkipSequential skips a test that takes its time and in which one goroutine does everything: the run without the detector, which
// CI makes too, shows all of it.
func SkipSequential(tb testing.TB) {
	tb.Helper()
	if Enabled {
		tb.Skip("SKIPPED: one goroutine does all of it: there is nothing to race with")
	}
}
