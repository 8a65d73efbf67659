package table

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// NewItem returns the item with the struct v under k.
func NewItem(k Key, v any) (Item, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return Item{}, fmt.Errorf("encode %s %s: %w", k.PK, k.SK, err)
	}
	return Item{Key: k, Data: b}, nil
}

// Decode decodes an item's data into a T.
func Decode[T any](it Item) (T, error) {
	var v T
	if err := json.Unmarshal(it.Data, &v); err != nil {
		return v, fmt.Errorf("decode %s %s: %w", it.PK, it.SK, &DamageError{it.Key, err})
	}
	return v, nil
}

// DamageError says that a stored item is not as it was written.
type DamageError struct {
	Key Key
	Err error
}

// Error returns the reason.
func (e *DamageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Err }

// Read reads the item under k as a T. It returns fault.NotFound if it is absent.
func Read[T any](ctx context.Context, s Store, k Key) (T, error) {
	it, err := s.Get(ctx, k)
	if err != nil {
		var zero T
		return zero, err
	}
	return Decode[T](it)
}

// ReadPage reads a page of q, and returns the cursor of the next page, or "" after the last. One round trip.
func ReadPage[T any](ctx context.Context, s Store, q Query) (values []T, next string, err error) {
	page, err := s.Query(ctx, q)
	if err != nil {
		return nil, "", fmt.Errorf("query %s: %w", q.PK, err)
	}
	values, err = DecodeAll[T](page.Items)
	return values, page.Next, err
}

// DecodeAll decodes the data of items.
func DecodeAll[T any](items []Item) ([]T, error) {
	out := make([]T, 0, len(items))
	for _, it := range items {
		v, err := Decode[T](it)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// PutFields returns the write that stores the struct v under k without removing members of the item that v's type does
// not have. An older version of the service must not drop the members that a newer one has added. Use it for items that
// are read, changed and stored as a whole. It does not change the expiry.
func PutFields(k Key, v any, conds ...Cond) (Write, error) {
	b, err := json.Marshal(v)
	var values map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(b, &values)
	}
	if err != nil {
		return Write{}, fmt.Errorf("encode %s %s: %w", k.PK, k.SK, err)
	}
	var changes []Change
	for _, name := range memberNames(reflect.TypeOf(v)) {
		if value, set := values[name]; set {
			changes = append(changes, Set(name, value))
		} else {
			changes = append(changes, Remove(name))
		}
	}
	return Update(k, changes, conds...), nil
}

// memberNames returns the JSON names of a struct's members.
func memberNames(t reflect.Type) []string {
	var out []string
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" || !f.IsExported() || name == "-" {
			continue
		}
		out = append(out, cmp.Or(name, f.Name))
	}
	return out
}
