package table

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// row is an item as an engine found it; an expired item counts as absent. Its fields are parsed at their first use.
type row struct {
	exists  bool
	data    []byte
	expires time.Time
	parsed  fields
	split   bool
}

// parseFields returns the item's top-level members, or none if it is absent.
func (r *row) parseFields() (fields, error) {
	if !r.exists || r.split {
		return r.parsed, nil
	}
	fs, err := parseFields(r.data)
	r.parsed, r.split = fs, err == nil
	return fs, err
}

// meetsAll reports whether all conditions hold.
func (r *row) meetsAll(conds []Cond) (bool, error) {
	for i := range conds {
		if ok, err := r.holdsCond(&conds[i]); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// meetsAny reports whether at least one condition holds.
func (r *row) meetsAny(conds []Cond) (bool, error) {
	for i := range conds {
		if ok, err := r.holdsCond(&conds[i]); err != nil || ok {
			return ok, err
		}
	}
	return false, nil
}

// holdsCond reports whether c holds.
func (r *row) holdsCond(c *Cond) (bool, error) {
	switch c.Op {
	case AbsentOp:
		return !r.exists, nil
	case ExistsOp:
		return r.exists, nil
	case AnyOp:
		return r.meetsAny(c.Any)
	default:
		return r.meetsField(c)
	}
}

// meetsField reports whether c holds, which is a condition on a field.
func (r *row) meetsField(c *Cond) (bool, error) {
	fs, err := r.parseFields()
	if err != nil {
		return false, err
	}
	raw, has := fs.get(c.Field)
	switch c.Op {
	case HasOp:
		return has, nil
	case LacksOp:
		return !has, nil
	default:
	}
	order, alike, err := compareValue(raw, has, c.Value)
	return satisfies(c.Op, order, alike), err
}

// satisfies reports whether the result of a comparison satisfies op. Values of different types satisfy only NotEqualOp.
func satisfies(op CondOp, order int, alike bool) bool {
	if !alike {
		return op == NotEqualOp
	}
	switch op {
	case EqualOp:
		return order == 0
	case NotEqualOp:
		return order != 0
	case LessOp:
		return order < 0
	case LessEqualOp:
		return order <= 0
	case GreaterOp:
		return order > 0
	case GreaterEqualOp:
		return order >= 0
	default:
		return false
	}
}

// compareValue compares a field's JSON with a condition's value.
func compareValue(raw []byte, has bool, v any) (order int, alike bool, err error) {
	if !has || len(raw) == 0 {
		return 0, false, nil
	}
	want, err := encodeOperand(v)
	if err != nil {
		return 0, false, err
	}
	switch {
	case want[0] == '"' && raw[0] == '"':
		return compareText(raw, want)
	case isNumber(want) && isNumber(raw):
		return compareNumbers(raw, want), true, nil
	default:
		return 0, bytes.Equal(raw, want), nil
	}
}

// encodeOperand returns the JSON of a condition's value, which is a string, a number or a bool.
func encodeOperand(v any) ([]byte, error) {
	switch x := v.(type) {
	case int:
		return strconv.AppendInt(nil, int64(x), 10), nil
	case int64:
		return strconv.AppendInt(nil, x, 10), nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "condition value %v cannot be compared", v)
	}
	if raw[0] == '{' || raw[0] == '[' || raw[0] == 'n' {
		return nil, fault.New(
			fault.Invalid, "condition value %s cannot be compared; use a string, a number or a bool", raw)
	}
	return raw, nil
}

// isNumber reports whether the JSON value raw is a number.
func isNumber(raw []byte) bool { return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' }

// compareText compares two JSON strings by the bytes of their text.
func compareText(a, b []byte) (order int, alike bool, err error) {
	s, err := unquoteString(a)
	if err != nil {
		return 0, false, err
	}
	t, err := unquoteString(b)
	return strings.Compare(s, t), true, err
}

// compareNumbers compares two JSON numbers exactly.
func compareNumbers(a, b []byte) int {
	i, err := strconv.ParseInt(string(a), 10, 64)
	j, err2 := strconv.ParseInt(string(b), 10, 64)
	if err == nil && err2 == nil {
		return cmp.Compare(i, j)
	}
	x, _ := parseDecimal(a)
	y, _ := parseDecimal(b)
	return x.compareTo(y)
}
