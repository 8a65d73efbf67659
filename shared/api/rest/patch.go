package rest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/foundation/fault"
)

// Patch is a field of a partial update. Tag it `json:"name,omitzero"`. Limits (minLength, maximum, enum, …) apply to
// the value. A field that may not be cleared refuses Null (RefuseNull).
type Patch[T any] struct {
	Sent  bool // the field was in the body
	Null  bool // and it was null
	Value T
}

// UnmarshalJSON reads null or a value.
func (p *Patch[T]) UnmarshalJSON(b []byte) error {
	*p = Patch[T]{Sent: true}
	if string(b) == "null" {
		p.Null = true
		return nil
	}
	return json.Unmarshal(b, &p.Value)
}

// MarshalJSON writes the value, or null. With omitzero, a field that was not sent is omitted.
func (p Patch[T]) MarshalJSON() ([]byte, error) {
	if !p.Sent || p.Null {
		return []byte("null"), nil
	}
	return json.Marshal(p.Value)
}

// Set reports whether there is a value to set.
func (p Patch[T]) Set() bool { return p.Sent && !p.Null }

// Apply changes *to: nothing, the zero value, or the value.
func (p Patch[T]) Apply(to *T) {
	if p.Sent {
		*to = p.Value
	}
}

// RefuseNull returns fault.Invalid for the first field, in the order of the names, that was sent as null. The keys are
// the names of the fields that may not be cleared; the values are their Null.
func RefuseNull(fields map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if fields[name] {
			return fault.New(fault.Invalid, "%s: it cannot be null; leave it out to keep it", name)
		}
	}
	return nil
}

// inner returns the type of the value.
func (p Patch[T]) inner() reflect.Type { return reflect.TypeFor[T]() }

// Schema documents the field as its value's type, or null.
func (p Patch[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), false, "")
	s.Nullable = s.Type != "" // a schema without a type permits null already
	return &s
}
