package money

import "github.com/holiman/uint256"

// DecimalPlaces is how many places a 128-bit decimal of an Amount has: all that bills have, before a point behind twelve digits.
const DecimalPlaces = 26

// decimalDigits is how many digits a 128-bit decimal has at most (Parquet, DuckDB, Athena).
const decimalDigits = 38

// Decimal128 returns a as a number of 10^-26 in two's complement, the most significant byte first, as Parquet stores decimals of 38
// digits. It is exact unless a has more places, which are rounded off half to even, or is too large, which gives 0.
func (a Amount) Decimal128() (b [16]byte, exact bool) {
	r := a.Round(DecimalPlaces)
	var units uint256.Int
	magnitude := r.Abs().v
	units.Div(&magnitude, &powers[Scale-DecimalPlaces])
	if !units.Lt(&powers[decimalDigits]) {
		return b, false
	}
	if r.Sign() < 0 {
		units.Neg(&units)
	}
	bytes := units.Bytes32()
	copy(b[:], bytes[16:])
	return b, r == a
}

// FromDecimal reads a number of 10^-places in two's complement, the most significant byte first. It is false for what an Amount cannot hold:
// more than 32 bytes, more places than Scale, or too large a number.
func FromDecimal(b []byte, places int) (a Amount, ok bool) {
	if len(b) > 32 || places < 0 || places > Scale {
		return Amount{}, false
	}
	negative := len(b) > 0 && b[0]&0x80 != 0
	a.v.SetBytes(b)
	if negative && len(b) < 32 {
		var beyond uint256.Int
		beyond.Lsh(uint256.NewInt(1), uint(len(b)*8))
		a.v.Sub(&beyond, &a.v)
	} else if negative {
		a.v.Neg(&a.v)
	}
	if !a.v.Lt(&powers[maxInteger+places]) {
		return Amount{}, false
	}
	a.v.Mul(&a.v, &powers[Scale-places])
	return a.signed(negative), true
}
