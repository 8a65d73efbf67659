package table

import (
	"bytes"
	"math/big"
	"strconv"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
)

// DynamoDB's limits of a number: 38 significant digits, and a magnitude from 1E-130 to 9.99…E+125.
const (
	maxDigits = 38
	minPower  = -130
	maxPower  = 125
)

// decimal is the number ±digits × 10^power. Its digits have no zeros at either end; "" means zero.
type decimal struct {
	negative bool
	digits   string
	power    int
}

// parseDecimal parses a JSON number exactly. It returns false if raw is not a number.
func parseDecimal(raw []byte) (decimal, bool) {
	if !isNumberSyntax(raw) {
		return decimal{}, false
	}
	var d decimal
	if raw[0] == '-' {
		d.negative, raw = true, raw[1:]
	}
	if i := bytes.IndexAny(raw, "eE"); i >= 0 {
		power, err := strconv.Atoi(string(raw[i+1:]))
		if err != nil {
			return decimal{}, false
		}
		d.power, raw = power, raw[:i]
	}
	whole, fraction, _ := bytes.Cut(raw, []byte{'.'})
	d.power -= len(fraction)
	d.digits = string(whole) + string(fraction)
	return d.trimZeros(), true
}

// trimZeros removes the zeros at both ends.
func (d decimal) trimZeros() decimal {
	s := strings.TrimLeft(d.digits, "0")
	t := strings.TrimRight(s, "0")
	if t == "" {
		return decimal{}
	}
	return decimal{d.negative, t, d.power + len(s) - len(t)}
}

// isNumberSyntax reports whether raw has the JSON syntax of a number.
func isNumberSyntax(raw []byte) bool {
	raw, _ = skipAny(raw, "-")
	first := raw
	raw, ok := skipDigits(raw)
	if !ok || first[0] == '0' && len(first)-len(raw) > 1 {
		return false
	}
	if rest, dot := skipAny(raw, "."); dot {
		if raw, ok = skipDigits(rest); !ok {
			return false
		}
	}
	if rest, power := skipAny(raw, "eE"); power {
		rest, _ = skipAny(rest, "+-")
		if raw, ok = skipDigits(rest); !ok {
			return false
		}
	}
	return len(raw) == 0
}

// skipAny skips one byte if it is in set, and reports whether it did.
func skipAny(raw []byte, set string) ([]byte, bool) {
	if len(raw) > 0 && strings.IndexByte(set, raw[0]) >= 0 {
		return raw[1:], true
	}
	return raw, false
}

// skipDigits skips digits, and reports whether there were any.
func skipDigits(raw []byte) ([]byte, bool) {
	i := 0
	for i < len(raw) && raw[i] >= '0' && raw[i] <= '9' {
		i++
	}
	return raw[i:], i > 0
}

// top returns the power of ten of the first digit.
func (d decimal) top() int { return d.power + len(d.digits) - 1 }

// fits reports whether DynamoDB can store d.
func (d decimal) fits() bool {
	return len(d.digits) <= maxDigits && (d.digits == "" || d.top() >= minPower && d.top() <= maxPower)
}

// numberSize validates a number, and returns its size by DynamoDB's rules.
func numberSize(raw []byte) (int, error) {
	d, ok := parseDecimal(raw)
	if !ok {
		return 0, fault.New(fault.Invalid, "item data has a malformed number %.50q", raw)
	}
	if !d.fits() {
		return 0, fault.New(fault.Invalid, "item data has the number %.60s; 38 digits between 1E-130 and 9.9E125 "+
			"can be kept", raw)
	}
	size := (len(d.digits)+1)/2 + 1
	if d.negative {
		size++
	}
	return size, nil
}

// int returns d × 10^-power as an integer. power must not be greater than d's.
func (d decimal) int(power int) *big.Int {
	n, _ := new(big.Int).SetString(d.digits+strings.Repeat("0", d.power-power), 10)
	if n == nil {
		n = new(big.Int)
	}
	if d.negative {
		n.Neg(n)
	}
	return n
}

// compareTo compares two numbers that fit.
func (d decimal) compareTo(o decimal) int {
	power := min(d.power, o.power)
	return d.int(power).Cmp(o.int(power))
}

// add returns the exact sum.
func (d decimal) add(o decimal) decimal {
	power := min(d.power, o.power)
	sum := new(big.Int).Add(d.int(power), o.int(power))
	return decimal{sum.Sign() < 0, new(big.Int).Abs(sum).String(), power}.trimZeros()
}

// String returns d as DynamoDB does: in JSON syntax, and without an exponent if that is short.
func (d decimal) String() string {
	s := d.digits
	switch {
	case s == "":
		return "0"
	case d.power >= 0 && d.top() < maxDigits:
		s += strings.Repeat("0", d.power)
	case d.power < 0 && d.top() >= 0:
		s = s[:d.top()+1] + "." + s[d.top()+1:]
	case d.power < 0 && d.top() >= -maxDigits:
		s = "0." + strings.Repeat("0", -d.top()-1) + s
	default:
		s += "E" + strconv.Itoa(d.power)
	}
	if d.negative {
		return "-" + s
	}
	return s
}

// addNumber returns the exact sum of n and the JSON number raw.
func addNumber(raw []byte, n int64) ([]byte, error) {
	if i, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		if sum := i + n; (sum > i) == (n > 0) {
			return strconv.AppendInt(nil, sum, 10), nil
		}
	}
	d, ok := parseDecimal(raw)
	if !ok {
		return nil, fault.New(fault.Invalid, "cannot add to %.50q: not a number", raw)
	}
	m, _ := parseDecimal(strconv.AppendInt(nil, n, 10))
	sum := d.add(m)
	if !sum.fits() {
		return nil, fault.New(fault.Invalid, "adding %d to %s needs more than 38 digits", n, raw)
	}
	return []byte(sum.String()), nil
}
