// Package nightly tells tests whether they are run by .ci/nightly, which has the time to try random things more often.
package nightly

import (
	"os"
	"testing"
)

// Variable is the environment variable that .ci/nightly sets to 1.
const Variable = "LAMPLIGHTER_NIGHTLY"

// Enabled reports whether .ci/nightly runs the tests.
func Enabled() bool { return os.Getenv(Variable) == "1" }

// CountTries returns how often to repeat a random test: usual in each run of the tests, and atNight in .ci/nightly.
func CountTries(usual, atNight int) int {
	if Enabled() {
		return atNight
	}
	return usual
}

// SkipByDay skips a test that only .ci/nightly runs, and says so.
func SkipByDay(tb testing.TB) {
	tb.Helper()
	if !Enabled() {
		tb.Skipf("SKIPPED: .ci/nightly runs it: set %s=1", Variable)
	}
}
