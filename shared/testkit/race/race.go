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

// SkipRepetition skips a long test that repeats, with another failure each time, what other tests of its package do
// once. These run under the detector.
func SkipRepetition(tb testing.TB) {
	tb.Helper()
	if Enabled {
		tb.Skip("SKIPPED: other tests of this package run the same code under the detector")
	}
}

// SkipRacedBy skips a test of the whole service whose code the tests of another package run under the detector.
func SkipRacedBy(tb testing.TB, other string) {
	tb.Helper()
	if Enabled {
		tb.Skipf("SKIPPED: %s runs the same code under the detector", other)
	}
}
