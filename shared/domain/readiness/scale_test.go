package readiness_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

func multiplier(t *testing.T, text string) readiness.Multiplier {
	t.Helper()
	m, err := readiness.MultiplierOf("expectedMultiplier", money.MustParse(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var defaults = readiness.CPU{Average: readiness.DefaultUse, Target: readiness.DefaultTarget}

// The examples of design/finops.md, section 8, and related cases.
func TestScale_GoldenExamples(t *testing.T) {
	for name, c := range map[string]struct {
		size       readiness.Size
		multiplier string
		cpu        readiness.CPU
		want       readiness.Size
	}{
		"four machines and three times the load": {
			readiness.Size{Min: 2, Max: 10, Desired: 4},
			"3", defaults,
			readiness.Size{Min: 9, Max: 22, Desired: 9},
		},
		"two machines": {
			readiness.Size{Min: 1, Max: 4, Desired: 2},
			"3", defaults,
			readiness.Size{Min: 5, Max: 9, Desired: 5},
		},
		"three machines": {
			readiness.Size{Min: 1, Max: 4, Desired: 3},
			"3", defaults,
			readiness.Size{Min: 7, Max: 9, Desired: 7},
		},
		"a load that fits is never less than now": {
			readiness.Size{Min: 2, Max: 20, Desired: 10},
			"1.2",
			defaults,
			readiness.Size{Min: 10, Max: 20, Desired: 10},
		},
		"measured at 35 percent": {
			readiness.Size{Min: 2, Max: 10, Desired: 4},
			"3",
			readiness.CPU{Average: 3500, Target: 7000},
			readiness.Size{Min: 6, Max: 15, Desired: 6},
		},
		"a float would say 16": {
			readiness.Size{Min: 1, Max: 7, Desired: 7},
			"3", defaults,
			readiness.Size{Min: 15, Max: 19, Desired: 15},
		},
		"as busy as it is to be kept is plain times": {
			readiness.Size{Min: 12, Max: 12, Desired: 12},
			"3",
			readiness.CPU{Average: 7000, Target: 7000},
			readiness.Size{Min: 36, Max: 45, Desired: 36},
		},
		"the law of the horizontal pod autoscaler": {
			readiness.Size{Min: 1, Max: 50, Desired: 50},
			"1",
			readiness.CPU{Average: 9000, Target: 7500},
			readiness.Size{Min: 60, Max: 75, Desired: 60},
		},
		"an average above 100 percent counts as 100": {
			readiness.Size{Min: 1, Max: 1, Desired: 1},
			"1",
			readiness.CPU{Average: 90000, Target: 5000},
			readiness.Size{Min: 2, Max: 3, Desired: 2},
		},
		"a group that stands still stays so, but not 0…": {
			readiness.Size{Min: 0, Max: 4, Desired: 0},
			"3", defaults,
			readiness.Size{Min: 0, Max: 9, Desired: 0},
		},
		"a minimum above what is desired is kept": {
			readiness.Size{Min: 5, Max: 8, Desired: 1},
			"1", defaults,
			readiness.Size{Min: 5, Max: 8, Desired: 5},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readiness.ByMultiplier(multiplier(t, c.multiplier), c.cpu).Scale(c.size)
			if err != nil || got != c.want {
				t.Errorf("got %s, want %s; %v", got, c.want, err)
			}
		})
	}
}

func TestScaleTo_TakesSoManyMachinesAsTheRequestsNeed(t *testing.T) {
	n := readiness.ByRequests(1001, 100)
	got, err := readiness.ScaleTo(readiness.Size{Min: 2, Max: 10, Desired: 4}, n)
	if want := (readiness.Size{Min: 11, Max: 14, Desired: 11}); err != nil || n != 11 || got != want {
		t.Errorf("%d machines, %s, %v", n, got, err)
	}
}

func TestScale_OneThatIsAbsurdIsRefused(t *testing.T) {
	_, err := readiness.ByMultiplier(readiness.MaxMultiplier,
		defaults).Scale(readiness.Size{Min: 1, Max: 20_000, Desired: 20_000})
	if !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

// The scaled size is never smaller for any size, multiplier and load, and it equals the result of exact fractions.
func TestScale_NeverShrinksAndIsExact(t *testing.T) {
	r := seed.Random(t)
	for range 20_000 {
		desired := r.Int64N(300)
		s := readiness.Size{Min: r.Int64N(desired + 1), Desired: desired, Max: desired + r.Int64N(100)}
		m := readiness.Multiplier(1 + r.Int64N(10_000_000))
		c := readiness.CPU{Average: r.Int64N(10_001), Target: 100 + r.Int64N(9_901)}
		got, err := readiness.ByMultiplier(m, c).Scale(s)
		if err != nil {
			t.Fatal(err)
		}
		exact := new(big.Rat).SetFrac64(desired*c.Average, c.Target)
		exact.Mul(exact, big.NewRat(int64(m), 1_000_000))
		below := new(big.Rat).SetInt64(got.Desired - 1)
		switch {
		case got.Min < s.Min || got.Max < s.Max || got.Desired < s.Desired, got.Min > got.Desired ||
			got.Desired > got.Max || got.Min != got.Desired:
			t.Fatalf("%s became %s", s, got)
		case new(big.Rat).SetInt64(got.Desired).Cmp(exact) < 0, got.Desired > s.Desired && below.Cmp(exact) >= 0:
			t.Fatalf("%s times %s at %v became %s, exactly it is %s", s, m, c, got, exact.FloatString(6))
		case got.Max*4 < got.Desired*5:
			t.Fatalf("%s leaves no quarter of headroom", got)
		}
	}
}

func TestMultiplierOf_RefusesWhatIsNone(t *testing.T) {
	for text, says := range map[string]string{
		"0": "not above 0", "-3": "not above 0", "100.000001": "more than 100", "1e30": "more than 100",
		"1.0000001": "six decimal places", "0.0000001": "six decimal places",
	} {
		_, err := readiness.MultiplierOf("expectedMultiplier", money.MustParse(text))
		if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "expectedMultiplier: ") ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"3.0": "3", "100": "100", "0.000001": "0.000001", "1.25": "1.25",
		"10": "10",
	} {
		if got := fmt.Sprint(multiplier(t, text)); got != want {
			t.Errorf("%s is written %s", text, got)
		}
	}
}
