package seed_test

import (
	"testing"

	"lamplighter.dev/shared/testkit/seed"
)

func TestRandom_GivesTheNumbersOfTheSeedBack(t *testing.T) {
	t.Setenv(seed.Variable, "")
	if seed.Random(t).Uint64() == seed.Random(t).Uint64() {
		t.Error("two runs without a seed have the same numbers")
	}
	t.Setenv(seed.Variable, "1974")
	first, again := seed.Random(t), seed.Random(t)
	if a, b := first.Uint64(), again.Uint64(); a != b {
		t.Errorf("%d and %d of one seed", a, b)
	}
}

func TestFixed_TakesTheSeedOfTheRun(t *testing.T) {
	numbers := map[uint64]string{}
	for _, run := range []string{"", "1974"} {
		t.Setenv(seed.Variable, run)
		for _, own := range [][2]uint64{{1, 0}, {2, 0}, {1, 1}} {
			n := seed.Fixed(t, own[0], own[1]).Uint64()
			if n != seed.Fixed(t, own[0], own[1]).Uint64() {
				t.Errorf("%v of seed %q differs from itself", own, run)
			}
			if was, taken := numbers[n]; taken {
				t.Errorf("%v of seed %q is that of %s", own, run, was)
			}
			numbers[n] = run
		}
	}
}

func TestSplit_GivesEachPartNumbersThatTheSeedRepeats(t *testing.T) {
	t.Setenv(seed.Variable, "1974")
	first, again := seed.Random(t), seed.Random(t)
	a, b := seed.Split(first).Uint64(), seed.Split(first).Uint64()
	if a == b || seed.Split(again).Uint64() != a || seed.Split(again).Uint64() != b {
		t.Errorf("parts have %d and %d, and others when the seed is given again", a, b)
	}
}
