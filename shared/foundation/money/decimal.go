package money

import "github.com/holiman/uint256"

// DecimalPlaces is the number of decimal places of Decimal128. It is as many as bills have, and leaves twelve digits
// before the point.
const DecimalPlaces = 26

// decimalDigits is the largest number of digits of a 128-bit decimal (Parquet, DuckDB, Athena).
const decimalDigits = 38

// Decimal128 returns a in units of 10^-26 as a big-endian two's complement number, as Parquet stores decimals of 38
// digits. It is exact unless a has more places. Those are rounded half to even. An amount that is too large gives 0.
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

// FromDecimal reads a big-endian two's complement number in units of 10^-places. It returns false if an Amount cannot
// hold it: more than 32 bytes, more places than Scale, or too large a number.
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
