package money

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/holiman/uint256"

	"lamplighter.dev/shared/foundation/fault"
)

// maxDigits is how many digits of a number are read: as many as an Amount can hold.
const maxDigits = 76

// maxInteger is how many digits may stand before the point: 10^46 is more than any currency has.
const maxInteger = 46

// decimal is the state of the parser of a number.
type decimal struct {
	negative bool
	digits   int // number of digits without leading zeros
	places   int // number of decimal places, less the exponent
	chunk    uint64
	chunked  int
	v        uint256.Int
	rest     bool // a dropped digit was not 0
	left     int  // number of dropped digits
	seen     bool
}

// Parse reads a decimal such as "-12.34" or "35.2E-7", as bills write them: without plus sign, thousands separators and
// blanks. It returns fault.Invalid for any other text and for numbers that are too large.
func Parse(s string) (Amount, error) { return ParseBytes([]byte(s)) }

// ParseBytes is Parse for bytes. It allocates nothing.
func ParseBytes(b []byte) (Amount, error) {
	a, ok := parseAmount(b)
	if !ok {
		return Amount{}, fault.New(fault.Invalid, "%.64q is not an amount: one looks like -12.34 or 1.5E-7, with at "+
			"most %d digits before the point", b, maxInteger)
	}
	return a, nil
}

func parseAmount(b []byte) (Amount, bool) {
	var d decimal
	if len(b) > 0 && b[0] == '-' {
		d.negative, b = true, b[1:]
	}
	rest, ok := d.readDigits(b)
	if !ok || !d.seen {
		return Amount{}, false
	}
	if len(rest) > 0 {
		e, err := strconv.Atoi(string(rest[1:]))
		if err != nil || e > 1000 || e < -1000 {
			return Amount{}, false
		}
		d.places -= e
	}
	return d.toAmount()
}

// readDigits reads up to an exponent, which it returns.
func (d *decimal) readDigits(b []byte) (exponent []byte, ok bool) {
	point := false
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9':
			d.addDigit(c - '0')
			if point {
				d.places++
			}
		case c == '.' && !point:
			point = true
		case (c == 'e' || c == 'E') && d.seen && i+1 < len(b):
			return b[i:], true
		default:
			return nil, false
		}
	}
	return nil, true
}

func (d *decimal) addDigit(digit byte) {
	d.seen = true
	if d.digits == 0 && digit == 0 {
		return
	}
	if d.digits == maxDigits {
		d.left++
		d.rest = d.rest || digit != 0
		return
	}
	d.digits++
	d.chunk = d.chunk*10 + uint64(digit)
	if d.chunked++; d.chunked == 19 {
		d.flushChunk()
	}
}

// flushChunk appends up to 19 collected digits to the number with one multiplication.
func (d *decimal) flushChunk() {
	if d.v.IsZero() {
		d.v.SetUint64(d.chunk)
	} else {
		d.v.Mul(&d.v, &powers[d.chunked])
		d.v.AddUint64(&d.v, d.chunk)
	}
	d.chunk, d.chunked = 0, 0
}

func (d *decimal) toAmount() (Amount, bool) {
	d.flushChunk()
	places := d.places - d.left
	if d.v.IsZero() {
		return Amount{}, true
	}
	if d.digits-places > maxInteger {
		return Amount{}, false
	}
	if places <= Scale {
		d.v.Mul(&d.v, &powers[Scale-places])
		return Amount{d.v}.signed(d.negative), true
	}
	return d.roundPlaces(places - Scale), true
}

// roundPlaces drops the last `over` digits, and rounds half to even.
func (d *decimal) roundPlaces(over int) Amount {
	if over > d.digits {
		return Amount{}
	}
	var quotient, rest, other uint256.Int
	unit := &powers[over]
	quotient.DivMod(&d.v, unit, &rest)
	other.Sub(unit, &rest)
	if c := rest.Cmp(&other); c > 0 || c == 0 && (d.rest || quotient[0]&1 == 1) {
		quotient.AddUint64(&quotient, 1)
	}
	return Amount{quotient}.signed(d.negative)
}

// FromFloat returns the shortest decimal that reads as f, so that 0.1 gives 0.1. It returns fault.Invalid for infinity
// and NaN.
func FromFloat(f float64) (Amount, error) {
	var buf [32]byte
	return ParseBytes(strconv.AppendFloat(buf[:0], f, 'e', -1, 64))
}

// MustParse is Parse for constants in code. It panics if s is not an amount.
func MustParse(s string) Amount {
	a, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return a
}

// String returns a exactly, without trailing zeros: "-0.000000123".
func (a Amount) String() string {
	s := strings.TrimRight(a.Fixed(Scale), "0")
	return strings.TrimSuffix(s, ".")
}

// Fixed returns a rounded half to even to the given number of decimal places: Fixed(2) gives "12.30". An amount that
// rounds to 0 has no sign.
func (a Amount) Fixed(places int) string {
	r := a.Round(places)
	var units uint256.Int
	magnitude := r.Abs().v
	units.Div(&magnitude, &powers[Scale-places])
	digits := units.Dec()
	if short := places + 1 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	sign := ""
	if r.Sign() < 0 {
		sign = "-"
	}
	whole := len(digits) - places
	if places == 0 {
		return sign + digits
	}
	return sign + digits[:whole] + "." + digits[whole:]
}

// MarshalText returns String. Amounts are strings in JSON because most readers parse JSON numbers as binary floating
// point.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText is Parse.
func (a *Amount) UnmarshalText(b []byte) error {
	read, err := ParseBytes(b)
	if err != nil {
		return fmt.Errorf("read an amount: %w", err)
	}
	*a = read
	return nil
}
