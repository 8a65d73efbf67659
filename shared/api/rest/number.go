package rest

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Number is an exact decimal that is a JSON number in the interface. It is never converted to a binary float.
type Number struct {
	amount money.Amount
	sent   string // the received text
	none   bool   // it is not a number
}

// NumberOf returns a Number with the amount.
func NumberOf(a money.Amount) Number { return Number{amount: a} }

// UnmarshalJSON reads a number. Read returns the error for an invalid one, because it gets the name of the member.
func (n *Number) UnmarshalJSON(b []byte) error { return n.read(string(b)) }

// UnmarshalText reads a number of a query.
func (n *Number) UnmarshalText(b []byte) error { return n.read(string(b)) }

func (n *Number) read(text string) error {
	var err error
	n.amount, err = money.Parse(text)
	n.sent, n.none = text, err != nil
	return nil
}

// MarshalJSON writes the number with all its decimal places, without trailing zeros.
func (n Number) MarshalJSON() ([]byte, error) {
	return json.RawMessage(n.amount.String()), nil
}

// Sent reports whether the member was sent.
func (n Number) Sent() bool { return n.sent != "" }

// Read returns the decimal. It returns fault.Invalid with the name of the member if it is not a number.
func (n Number) Read(member string) (money.Amount, error) {
	if n.none {
		return money.Amount{},
			fault.New(fault.Invalid, "%s: %.32q is not a number; send one such as 3.0", member, n.sent)
	}
	return n.amount, nil
}

// Schema documents it. Read validates it, not the framework, so that all errors have the same words.
func (Number) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Examples: []any{3.0}}
}
