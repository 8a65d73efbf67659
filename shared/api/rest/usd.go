package rest

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// USD is an amount in a body: an exact decimal as text, or a number, which is read without rounding.
type USD struct {
	amount money.Amount
	sent   string // the received text
	none   bool   // it is not an amount
}

// USDOf returns a USD with the amount.
func USDOf(a money.Amount) USD { return USD{amount: a} }

// UnmarshalJSON reads an amount. Read returns the error for an invalid one, because it gets the name of the member.
func (u *USD) UnmarshalJSON(b []byte) error {
	text := string(b)
	var s string
	if json.Unmarshal(b, &s) == nil {
		text = s
	}
	var err error
	u.amount, err = money.Parse(text)
	u.sent, u.none = text, err != nil
	return nil
}

// MarshalJSON writes the amount as text.
func (u USD) MarshalJSON() ([]byte, error) { return json.Marshal(u.amount.String()) }

// Read returns the amount. It returns fault.Invalid with the name of the member if it is not an amount.
func (u USD) Read(member string) (money.Amount, error) {
	if u.none {
		return money.Amount{},
			fault.New(fault.Invalid, "%s: %.32q is not a decimal; send one such as \"1500.00\"", member, u.sent)
	}
	return u.amount, nil
}

// Schema documents both forms. Read validates them, not the framework, so that all errors have the same words.
func (USD) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Description: "Decimal as text, or a number", Examples: []any{"1500.00", 1500}}
}
