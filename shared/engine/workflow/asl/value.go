package asl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Values are JSON as encoding/json decodes it, except that numbers are json.Number, so that a machine does not change
// their digits. Values are immutable: states share them.

// decodeJSON parses a JSON text.
func decodeJSON(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("decode JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("decode JSON: text after the value")
	}
	return v, nil
}

// encodeJSON returns a value as compact JSON, without HTML escapes, which would count against MaxPayload.
func encodeJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Encode returns v as compact JSON without HTML escapes.
func Encode(v any) (json.RawMessage, error) { return encodeJSON(v) }

// SortMembers returns a JSON text with sorted members of its objects, so that equal values have equal texts.
func SortMembers(raw json.RawMessage) (json.RawMessage, error) {
	v, err := decodeJSON(raw)
	if err != nil {
		return nil, err
	}
	return encodeJSON(v)
}

// measureJSON returns the size of a value as JSON in bytes. It may stop counting when it exceeds limit.
func measureJSON(v any, limit int) int {
	switch x := v.(type) {
	case string:
		return quotedLength(x)
	case json.Number:
		return len(x)
	case bool:
		if x {
			return 4
		}
		return 5
	case []any:
		return sizeArray(x, limit)
	case map[string]any:
		return sizeObject(x, limit)
	}
	return 4
}

func sizeArray(a []any, limit int) int {
	n := 2 + max(0, len(a)-1)
	for _, e := range a {
		if n > limit {
			return n
		}
		n += measureJSON(e, limit-n)
	}
	return n
}

func sizeObject(m map[string]any, limit int) int {
	n := 2 + max(0, len(m)-1)
	for k, e := range m {
		if n > limit {
			return n
		}
		n += quotedLength(k) + 1
		n += measureJSON(e, limit-n)
	}
	return n
}

// quotedLength returns the length of s as a JSON string.
func quotedLength(s string) int {
	n := 2 + len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f':
			n++
		case c < 0x20:
			n += 5
		}
	}
	return n
}

// checkDataLimit returns States.DataLimitExceeded if v is larger than MaxPayload. The message calls v by name.
func checkDataLimit(v any, name string) error {
	if measureJSON(v, MaxPayload) <= MaxPayload {
		return nil
	}
	return newError(errDataLimit, "%s is larger than %d bytes", name, MaxPayload)
}

// toNumber returns the value as a float, and whether it is a number.
func toNumber(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// toInteger returns the value as the nearest integer, and whether it is a number that fits.
func toInteger(v any) (int64, bool) {
	if n, ok := v.(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			return i, true
		}
	}
	f, ok := toNumber(v)
	if !ok || math.IsInf(f, 0) || math.Abs(f) > 1<<62 {
		return 0, false
	}
	return int64(math.Round(f)), true
}

// integerNumber returns n as a JSON number.
func integerNumber(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// compareNumbers compares two numbers exactly: as integers if both are integers, else as rationals if they are short
// enough, else as floats.
func compareNumbers(a, b json.Number) int {
	if x, err := a.Int64(); err == nil {
		if y, err := b.Int64(); err == nil {
			return cmp.Compare(x, y)
		}
	}
	if isPlain(a) && isPlain(b) {
		x, okX := new(big.Rat).SetString(string(a))
		y, okY := new(big.Rat).SetString(string(b))
		if okX && okY {
			return x.Cmp(y)
		}
	}
	x, _ := a.Float64()
	y, _ := b.Float64()
	return cmp.Compare(x, y)
}

// isPlain reports whether n is short and has no exponent, so that its rational is small.
func isPlain(n json.Number) bool { return len(n) < 64 && !strings.ContainsAny(string(n), "eE") }

// equalJSON reports whether two values are the same JSON. It treats 1 and 1.0 as equal.
func equalJSON(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		return ok && compareNumbers(x, y) == 0
	case []any:
		y, ok := b.([]any)
		return ok && equalArrays(x, y)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && equalObjects(x, y)
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

func equalArrays(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equalJSON(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalObjects(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, x := range a {
		y, ok := b[k]
		if !ok || !equalJSON(x, y) {
			return false
		}
	}
	return true
}

// SameJSON reports whether two JSON texts hold the same value, regardless of spacing and the order of members.
func SameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errA := decodeJSON(a)
	y, errB := decodeJSON(b)
	return errA == nil && errB == nil && equalJSON(x, y)
}
