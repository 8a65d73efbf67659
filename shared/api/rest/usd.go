package rest

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// USD is an amount in a body: a decimal as text, which is exact, or as a number, which is read as it is written.
type USD struct {
	amount money.Amount
	sent   string // what was sent
	none   bool   // and is no amount
}

// USDOf returns the amount as a body has it.
func USDOf(a money.Amount) USD { return USD{amount: a} }

// UnmarshalJSON reads an amount. What is none, Read refuses: it is told the name of the member.
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

// Read returns the amount; fault.Invalid names the member that is none.
func (u USD) Read(member string) (money.Amount, error) {
	if u.none {
		return money.Amount{},
			fault.New(fault.Invalid, "%s: %.32q is no decimal; send one such as \"1500.00\"", member, u.sent)
	}
	return u.amount, nil
}

// Schema documents both forms. Read alone holds an amount to them, so that every error has the same words.
func (USD) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Description: "A decimal as text, or a number", Examples: []any{"1500.00", 1500}}
}
