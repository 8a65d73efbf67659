// Package money holds amounts of money as exact decimals. A sum does not depend on the order of its amounts, nor on how
// they were split.
package money

import (
	"math"
	"math/bits"

	"github.com/holiman/uint256"
)

// Scale is the number of decimal places of an Amount. Bills have up to 26, and floating point numbers in them may have
// more. Each amount is rounded half to even to 30 places when it is read, before it is added to others.
const Scale = 30

// Amount is an amount of one currency, in units of 10^-30, between ±5 × 10^46. The zero value is 0. Amounts can be
// compared with ==.
type Amount struct{ v uint256.Int } // two's complement

// powers are the powers of ten that a uint256 holds: 10^0 to 10^76.
var powers = func() (out [77]uint256.Int) {
	ten := uint256.NewInt(10)
	out[0].SetOne()
	for i := 1; i < len(out); i++ {
		out[i].Mul(&out[i-1], ten)
	}
	return out
}()

// FromInt returns n units of the currency.
func FromInt(n int64) Amount { return FromScaled(n, 0) }

// FromScaled returns n × 10^-places: FromScaled(1250, 2) is 12.50. Places are 0 to Scale.
func FromScaled(n int64, places int) Amount {
	var a Amount
	magnitude := uint64(n)
	if n < 0 {
		magnitude = -magnitude
	}
	scale := &powers[Scale-places] // below 2^128: two products of 64 bits are faster than one of 256
	var middle, carry uint64
	middle, a.v[0] = bits.Mul64(magnitude, scale[0])
	a.v[2], a.v[1] = bits.Mul64(magnitude, scale[1])
	a.v[1], carry = bits.Add64(a.v[1], middle, 0)
	a.v[2] += carry
	return a.signed(n < 0)
}

// Rank returns a coarse order of amounts for sorting: an amount with a smaller rank is smaller. Amounts of equal rank
// must be compared with Cmp.
func (a *Amount) Rank() int64 {
	rank := int64(a.v[1])                                             //nolint:gosec // two's complement
	if sign := uint64(rank >> 63); a.v[2] == sign && a.v[3] == sign { //nolint:gosec // two's complement
		return rank
	}
	if a.v.Sign() < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// Scaled returns a in units of 10^-places, so that FromScaled returns a again. It returns false if a has more places,
// or if the number does not fit.
func (a Amount) Scaled(places int) (n int64, ok bool) {
	var quotient, rest uint256.Int
	magnitude := a.Abs().v
	quotient.DivMod(&magnitude, &powers[Scale-places], &rest)
	if !rest.IsZero() || !quotient.IsUint64() || quotient.Uint64() > math.MaxInt64 {
		return 0, false
	}
	n = int64(quotient.Uint64()) //nolint:gosec // compared above
	if a.Sign() < 0 {
		n = -n
	}
	return n, true
}

// Float64 returns a as a floating point number, for estimates only: whole numbers below 2^53 are exact, others are to
// 15 digits.
func (a Amount) Float64() float64 {
	var whole, rest uint256.Int
	magnitude := a.Abs().v
	whole.DivMod(&magnitude, &powers[Scale], &rest)
	f := whole.Float64() + rest.Float64()/1e30
	if a.Sign() < 0 {
		return -f
	}
	return f
}

func (a Amount) signed(negative bool) Amount {
	if negative {
		a.v.Neg(&a.v)
	}
	return a
}

// Add returns a + b.
func (a Amount) Add(b Amount) Amount {
	a.v.Add(&a.v, &b.v)
	return a
}

// Increase adds b to a in place: it is Add for loops over millions of rows.
func (a *Amount) Increase(b *Amount) { a.v.Add(&a.v, &b.v) }

// Sub returns a - b.
func (a Amount) Sub(b Amount) Amount {
	a.v.Sub(&a.v, &b.v)
	return a
}

// Neg returns -a.
func (a Amount) Neg() Amount { return a.signed(true) }

// Abs returns a without its sign.
func (a Amount) Abs() Amount { return a.signed(a.v.Sign() < 0) }

// Sign returns -1, 0 or 1.
func (a Amount) Sign() int { return a.v.Sign() }

// IsZero reports whether a is 0.
func (a Amount) IsZero() bool { return a.v.IsZero() }

// Cmp returns -1 when a is less than b, 1 when it is more, else 0.
func (a Amount) Cmp(b Amount) int {
	if a.v.Slt(&b.v) {
		return -1
	}
	if a.v.Eq(&b.v) {
		return 0
	}
	return 1
}

// Sum adds amounts.
func Sum(amounts ...Amount) Amount {
	var out Amount
	for i := range amounts {
		out.Increase(&amounts[i])
	}
	return out
}

// MulDiv returns a × n / d, rounded half to even at the last place. The product may be larger than an Amount. Neither n
// nor d may be negative. The result for d = 0 is 0.
func (a Amount) MulDiv(n, d Amount) Amount {
	if d.IsZero() {
		return Amount{}
	}
	negative := a.Sign() < 0
	var quotient, rest, twice uint256.Int
	magnitude := a.Abs().v
	quotient.MulDivOverflow(&magnitude, &n.v, &d.v)
	rest.MulMod(&magnitude, &n.v, &d.v)
	twice.Sub(&d.v, &rest)
	if c := rest.Cmp(&twice); c > 0 || c == 0 && quotient[0]&1 == 1 {
		quotient.AddUint64(&quotient, 1)
	}
	return Amount{quotient}.signed(negative)
}

// MulInt returns a × n.
func (a Amount) MulInt(n int64) Amount {
	magnitude := uint64(n)
	if n < 0 {
		magnitude = -magnitude
	}
	var b uint256.Int
	b.SetUint64(magnitude)
	a.v.Mul(&a.v, &b)
	return a.signed(n < 0)
}

// Mul returns a × b, rounded half to even at the last place: an amount times a quantity.
func (a Amount) Mul(b Amount) Amount {
	out := a.MulDiv(b.Abs(), FromInt(1))
	return out.signed(b.Sign() < 0)
}

// DivInt returns a / n, rounded half to even at the last place; n is positive.
func (a Amount) DivInt(n int64) Amount { return a.MulDiv(FromInt(1), FromInt(n)) }

// Round returns a rounded half to even to the given number of decimal places, 0 to Scale: Round(2) is to the cent.
func (a Amount) Round(places int) Amount {
	unit := &powers[Scale-places]
	negative := a.Sign() < 0
	magnitude := a.Abs().v
	var quotient, rest, other uint256.Int
	quotient.DivMod(&magnitude, unit, &rest)
	other.Sub(unit, &rest)
	if c := rest.Cmp(&other); c > 0 || c == 0 && quotient[0]&1 == 1 {
		quotient.AddUint64(&quotient, 1)
	}
	quotient.Mul(&quotient, unit)
	return Amount{quotient}.signed(negative)
}
