package readiness

import (
	"encoding/json"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Multiplier is how many times the usual load is expected, in millionths: exact, where a binary float would round a
// machine too many up.
type Multiplier int64

const (
	millionths = 6
	one        = 1_000_000
	// MaxMultiplier is the largest one.
	MaxMultiplier Multiplier = 100 * one
)

// MultiplierOf takes a decimal as a multiplier: above 0, at most 100, of at most six places. The field is named in the
// error, which is fault.Invalid.
func MultiplierOf(field string, a money.Amount) (Multiplier, error) {
	n, exact := a.Scaled(millionths)
	switch {
	case a.Sign() <= 0:
		return 0, fault.New(fault.Invalid, "%s: %s is not above 0: send how many times the usual load is expected, "+
			"such as 3.0", field, a)
	case a.Cmp(money.FromInt(int64(MaxMultiplier/one))) > 0:
		return 0, fault.New(fault.Invalid, "%s: %.40s is more than %d: send how many times the usual load is "+
			"expected, such as 3.0", field, a.String(), MaxMultiplier/one)
	case !exact:
		return 0, fault.New(fault.Invalid, "%s: %.40s has more than six decimal places", field, a.String())
	}
	return Multiplier(n), nil
}

// Amount returns the multiplier as a decimal.
func (m Multiplier) Amount() money.Amount { return money.FromScaled(int64(m), millionths) }

// String writes the decimal, without zeros at its end.
func (m Multiplier) String() string { return m.Amount().String() }

// MarshalJSON writes the decimal as text, so that nobody reads it as a float.
func (m Multiplier) MarshalJSON() ([]byte, error) { return json.Marshal(m.String()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Multiplier) UnmarshalJSON(b []byte) error {
	var a money.Amount
	if err := json.Unmarshal(b, &a); err != nil {
		return err
	}
	var err error
	*m, err = MultiplierOf("multiplier", a)
	return err
}
