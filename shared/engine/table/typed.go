package table

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// NewItem makes the item that holds v, a struct, under k.
func NewItem(k Key, v any) (Item, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return Item{}, fmt.Errorf("encode %s %s: %w", k.PK, k.SK, err)
	}
	return Item{Key: k, Data: b}, nil
}

// Decode reads an item's data into a T.
func Decode[T any](it Item) (T, error) {
	var v T
	if err := json.Unmarshal(it.Data, &v); err != nil {
		return v, fmt.Errorf("decode %s %s: %w", it.PK, it.SK, err)
	}
	return v, nil
}

// Read gets the item under k as a T; fault.NotFound when absent.
func Read[T any](ctx context.Context, s Store, k Key) (T, error) {
	it, err := s.Get(ctx, k)
	if err != nil {
		var zero T
		return zero, err
	}
	return Decode[T](it)
}

// ReadPage reads a page of what q selects, and the cursor of the page behind it, "" behind the last: one round trip.
func ReadPage[T any](ctx context.Context, s Store, q Query) (values []T, next string, err error) {
	page, err := s.Query(ctx, q)
	if err != nil {
		return nil, "", fmt.Errorf("query %s: %w", q.PK, err)
	}
	values, err = DecodeAll[T](page.Items)
	return values, page.Next, err
}

// DecodeAll reads the data of items.
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

// PutFields returns the write that stores v, a struct, under k, and leaves the members of the item alone that v's type does not
// have: a version of the service that is about to be replaced, or came back, must not drop what the next one has added. Use it
// for items that are read, changed and stored as a whole. Its expiry stays as it is.
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

// memberNames returns the names of the members that a struct can have in JSON.
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
