package rest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// checkMembers returns an error for members that inputs or answers must not have: a time.Time in an input, because its
// errors show a Go layout, and a member of an answer that is omitted if it has no value.
func (o *operation) checkMembers() error {
	err := walkMembers(o.input, func(at string, f *reflect.StructField) error {
		if elemType(f.Type) == reflect.TypeFor[time.Time]() {
			return fmt.Errorf(
				"operation %s: %s of its input is a time.Time: make it a rest.Time, which takes dates too", o.ID, at)
		}
		return nil
	})
	if err != nil || o.output == reflect.TypeFor[Raw]() {
		return err
	}
	return walkMembers(o.data(), func(at string, f *reflect.StructField) error {
		if _, options, _ := strings.Cut(f.Tag.Get("json"), ","); strings.Contains(options, "omit") {
			return fmt.Errorf("operation %s: %s of its answer is left out when it has no value: answer null, [] or {}",
				o.ID, at)
		}
		return nil
	})
}

// walkMembers calls visit for each exported field of t and of the structs inside it, with its Go name.
func walkMembers(t reflect.Type, visit func(at string, f *reflect.StructField) error) error {
	seen := map[reflect.Type]bool{}
	var walk func(at string, t reflect.Type) error
	walk = func(at string, t reflect.Type) error {
		if t = elemType(t); t.Kind() != reflect.Struct || seen[t] || t == reflect.TypeFor[Time]() ||
			t == reflect.TypeFor[json.RawMessage]() {
			return nil
		}
		seen[t] = true
		for f := range t.Fields() {
			name := strings.TrimPrefix(at+"."+f.Name, ".")
			if !f.IsExported() || f.Tag.Get("hidden") == "true" || f.Tag.Get("json") == "-" {
				continue
			}
			if err := visit(name, &f); err != nil {
				return err
			}
			if err := walk(name, f.Type); err != nil {
				return err
			}
		}
		return nil
	}
	return walk("", t)
}

// elemType returns the type that t points to or contains.
func elemType(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array ||
		t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}
