package readiness

import (
	"fmt"
	"math/big"

	"lamplighter.dev/shared/foundation/fault"
)

// Size is the capacity of a group: its minimum, maximum and desired number of machines or pods.
type Size struct {
	Min     int64 `json:"min"`
	Max     int64 `json:"max"`
	Desired int64 `json:"desired"`
}

// CPU is the average and the target CPU use of a group, in hundredths of a percent.
type CPU struct {
	Average int64
	Target  int64
}

// The conservative defaults for a group without measurements.
const (
	percent       = 100
	DefaultTarget = 70 * percent
	DefaultUse    = 50 * percent
)

// full is the CPU use of 100 %. Higher averages count as full.
const full = 100 * percent

// Largest is the maximum size of a group. It is above the limits of all providers.
const Largest = 1_000_000

// Factor is the growth of a group, as an exact fraction.
type Factor struct{ n, d *big.Int }

// ByMultiplier returns the factor for a load of m times the usual one: m × average / target.
func ByMultiplier(m Multiplier, c CPU) Factor {
	return Factor{
		new(big.Int).Mul(big.NewInt(int64(m)), big.NewInt(min(c.Average, full))),
		new(big.Int).Mul(big.NewInt(one), big.NewInt(c.Target)),
	}
}

// times returns n × f, rounded up.
func (f Factor) times(n int64) int64 {
	product := new(big.Int).Mul(big.NewInt(n), f.n)
	q, r := new(big.Int).QuoRem(product, f.d, new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	if !q.IsInt64() || q.Int64() > Largest {
		return Largest + 1
	}
	return q.Int64()
}

// Scale returns the size of a group for f times its current load. No field shrinks. The minimum is raised, too,
// because a policy would otherwise shrink the group in the quiet time before the event. The maximum is at least 25 %
// above the desired size.
func (f Factor) Scale(s Size) (Size, error) {
	return raised(s, max(s.Desired, f.times(s.Desired)), f.times(s.Max))
}

// ScaleTo returns the size of a group with n machines or pods, if that is more than its current size.
func ScaleTo(s Size, n int64) (Size, error) { return raised(s, max(s.Desired, n), s.Max) }

func raised(s Size, desired, most int64) (Size, error) {
	headroom := (desired*5 + 3) / 4
	out := Size{Min: max(s.Min, desired), Max: max(s.Max, most, headroom), Desired: desired}
	out.Desired = max(out.Desired, out.Min)
	out.Max = max(out.Max, out.Desired)
	if out.Max > Largest {
		return s, fault.New(
			fault.Invalid, "the scaled size of a group of %d to %d would be above %d: expect less", s.Min, s.Max,
			Largest)
	}
	return out, nil
}

// ByRequests returns the number of machines for the expected requests per second. each is the capacity of one
// machine. Both are above 0.
func ByRequests(expected, each int64) int64 { return (expected + each - 1) / each }

// String returns a size in the form "min 1, max 3, desired 2".
func (s Size) String() string {
	return fmt.Sprintf("min %d, max %d, desired %d", s.Min, s.Max, s.Desired)
}
