package readiness

import (
	"fmt"
	"math/big"

	"lamplighter.dev/shared/foundation/fault"
)

// Size is the capacity of a group: between how many and how many, and how many there are to be.
type Size struct {
	Min     int64 `json:"min"`
	Max     int64 `json:"max"`
	Desired int64 `json:"desired"`
}

// CPU is how busy a group is on average, and how busy it is to be kept, in hundredths of a percent.
type CPU struct {
	Average int64
	Target  int64
}

// The conservative defaults for a group of which nothing is measured.
const (
	percent       = 100
	DefaultTarget = 70 * percent
	DefaultUse    = 50 * percent
)

// full is a CPU that can do no more: no average lies above it.
const full = 100 * percent

// Largest is the greatest size that is ever asked for; no provider has groups as large.
const Largest = 1_000_000

// Factor is by how much a group must grow, as an exact fraction.
type Factor struct{ n, d *big.Int }

// ByMultiplier returns the factor of a load m times the usual: m × average / target.
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

// Scale returns the size of a group that takes f times what it takes now. It is never smaller in anything. The minimum
// carries the guarantee: a policy would shrink the group again in the quiet time before the event. A quarter of
// headroom is left above it.
func (f Factor) Scale(s Size) (Size, error) {
	return raised(s, max(s.Desired, f.times(s.Desired)), f.times(s.Max))
}

// ScaleTo returns the size of a group that has n machines or pods, if that is more than it has now.
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

// ByRequests returns how many machines take so many requests a second when one takes as many as each; both are above 0.
func ByRequests(expected, each int64) int64 { return (expected + each - 1) / each }

// String writes a size as operators say it.
func (s Size) String() string {
	return fmt.Sprintf("min %d, max %d, desired %d", s.Min, s.Max, s.Desired)
}
