package rest

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Number is an exact decimal that the interface has as a JSON number: it is read as it is written, and never becomes a binary float.
type Number struct {
	amount money.Amount
	sent   string // what was sent
	none   bool   // and is no number
}

// NumberOf returns the decimal as a body has it.
func NumberOf(a money.Amount) Number { return Number{amount: a} }

// UnmarshalJSON reads a number. What is none, Read refuses: it is told the name of the member.
func (n *Number) UnmarshalJSON(b []byte) error { return n.read(string(b)) }

// UnmarshalText reads a number of a query.
func (n *Number) UnmarshalText(b []byte) error { return n.read(string(b)) }

func (n *Number) read(text string) error {
	var err error
	n.amount, err = money.Parse(text)
	n.sent, n.none = text, err != nil
	return nil
}

// MarshalJSON writes the number with all its places, and no zeros at the end.
func (n Number) MarshalJSON() ([]byte, error) {
	return json.RawMessage(n.amount.String()), nil
}

// Sent reports whether there is one.
func (n Number) Sent() bool { return n.sent != "" }

// Read returns the decimal; fault.Invalid names the member that is none.
func (n Number) Read(member string) (money.Amount, error) {
	if n.none {
		return money.Amount{}, fault.New(fault.Invalid, "%s: %.32q is no number; send one such as 3.0", member, n.sent)
	}
	return n.amount, nil
}

// Schema documents it. Read alone holds it to that, so that every error has the same words.
func (Number) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Examples: []any{3.0}}
}
