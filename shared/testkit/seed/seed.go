// Package seed gives tests their random numbers, so that a failure can be repeated: every test prints its seed, and
// the environment variable LAMPLIGHTER_SEED sets it.
package seed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Variable is the environment variable that holds the seed of a run, a number from 0 on.
const Variable = "LAMPLIGHTER_SEED"

// Random returns a source of different numbers in each run, for cases that should be tried at any moment.
func Random(tb testing.TB) *rand.Rand {
	tb.Helper()
	s, given := variable(tb)
	if !given {
		s = rand.Uint64() //nolint:gosec // guards nothing
	}
	return source(tb, s, 0, 0)
}

// Fixed returns a source of numbers that are the same in each run, unless LAMPLIGHTER_SEED sets another seed. The
// numbers of two sources differ if a or b differs.
func Fixed(tb testing.TB, a, b uint64) *rand.Rand {
	tb.Helper()
	s, _ := variable(tb)
	return source(tb, s, a, b)
}

// Split returns a source that is seeded by the next numbers of r, for a part of a test that runs concurrently.
func Split(r *rand.Rand) *rand.Rand {
	return rand.New(rand.NewPCG(r.Uint64(), r.Uint64())) //nolint:gosec // repeatable on purpose
}

// source returns a source for the seed, a and b, and prints the seed. A failed test shows it.
func source(tb testing.TB, seed, a, b uint64) *rand.Rand {
	tb.Helper()
	tb.Logf("to repeat: %s=%d", Variable, seed)
	return rand.New(rand.NewPCG(seed^a, b)) //nolint:gosec // repeatable on purpose
}

func variable(tb testing.TB) (seed uint64, given bool) {
	tb.Helper()
	v := os.Getenv(Variable)
	if v == "" {
		return 0, false
	}
	seed, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		tb.Fatalf("%s is %q, and must be a number from 0 on", Variable, v)
	}
	return seed, true
}
