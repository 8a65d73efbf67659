package readiness

import (
	"encoding/json"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Multiplier is the expected load as a multiple of the usual load, in millionths. It is exact; the rounding of a
// binary float could add a machine.
type Multiplier int64

const (
	millionths = 6
	one        = 1_000_000
	// MaxMultiplier is the largest multiplier.
	MaxMultiplier Multiplier = 100 * one
)

// MultiplierOf converts a decimal to a multiplier. It must be above 0 and at most 100, with at most six decimal
// places. The error is fault.Invalid and names the field.
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

// String returns the decimal without trailing zeros.
func (m Multiplier) String() string { return m.Amount().String() }

// MarshalJSON encodes the decimal as a string, so that clients do not parse it as a float.
func (m Multiplier) MarshalJSON() ([]byte, error) { return json.Marshal(m.String()) }

// UnmarshalJSON decodes the output of MarshalJSON.
func (m *Multiplier) UnmarshalJSON(b []byte) error {
	var a money.Amount
	if err := json.Unmarshal(b, &a); err != nil {
		return err
	}
	var err error
	*m, err = MultiplierOf("multiplier", a)
	return err
}
