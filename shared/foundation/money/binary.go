package money

import (
	"encoding/binary"

	"github.com/holiman/uint256"
)

// AppendBinary appends a in as few bytes as possible: the length of its digits with the sign, its decimal places, and
// the digits as a number. Zero takes one byte, a typical amount of a bill takes nine.
func (a Amount) AppendBinary(b []byte) []byte {
	if a.IsZero() {
		return append(b, 0)
	}
	magnitude := a.Abs().v
	places := trimZeros(&magnitude)
	size := magnitude.ByteLen()
	head := byte(size) << 1
	if a.Sign() < 0 {
		head |= 1
	}
	b = append(b, head, byte(places))
	bytes := magnitude.Bytes32()
	return append(b, bytes[32-size:]...)
}

// trimZeros divides v by ten as long as that is exact, and returns the decimal places that are left of Scale. The
// result is negative, down to -46, for large round numbers; it is stored as two's complement in one byte.
func trimZeros(v *uint256.Int) int8 {
	places := Scale
	for step := 32; step > 0; step /= 2 {
		var quotient, rest uint256.Int
		for quotient.DivMod(v, &powers[step], &rest); rest.IsZero(); quotient.DivMod(v, &powers[step], &rest) {
			*v = quotient
			places -= step
		}
	}
	return int8(places)
}

// DecodeBinary reads the amount that AppendBinary wrote at the start of b, and returns it with the number of bytes it
// takes. It returns 0 bytes if b does not start with an amount.
func DecodeBinary(b []byte) (a Amount, n int) {
	if len(b) == 0 {
		return a, 0
	}
	if b[0] == 0 {
		return a, 1
	}
	size := int(b[0] >> 1)
	if size > 32 || len(b) < 2+size {
		return a, 0
	}
	places := int(int8(b[1]))
	if places > Scale || places < -maxInteger {
		return a, 0
	}
	if size <= 8 {
		var buf [8]byte
		copy(buf[8-size:], b[2:2+size])
		a.v.SetUint64(binary.BigEndian.Uint64(buf[:]))
	} else {
		a.v.SetBytes(b[2 : 2+size])
	}
	a.v.Mul(&a.v, &powers[Scale-places])
	return a.signed(b[0]&1 == 1), 2 + size
}
