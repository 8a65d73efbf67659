// Package awswire compares the clients of shared/cloud/aws/wire with those of the AWS SDK. It fills requests and
// responses with fixed values and writes results in a form that is the same for both. The recorder (record/) and the
// tests of shared/cloud/aws/wire use it.
package awswire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Moment is the time that Fill writes. Its fraction fits all formats of AWS.
var Moment = time.Date(2024, 5, 6, 7, 8, 9, 125_000_000, time.UTC)

// unset are fields that Fill leaves empty: clients fill in the token themselves.
var unset = map[string]bool{"ClientRequestToken": true}

// FillFields writes a value into each field that v points to: two elements into each list, one into each map.
func FillFields(v any) { fill(reflect.ValueOf(v).Elem(), "") }

func fill(v reflect.Value, name string) {
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`[{"Key":"team","Value":"data"}]`))
	case IsTime(v.Type()):
		v.FieldByName("Time").Set(reflect.ValueOf(Moment))
	case v.Kind() == reflect.Struct:
		for f, field := range v.Fields() {
			if !unset[f.Name] {
				fill(field, f.Name)
			}
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), name+"1")
		fill(v.Index(1), name+"2")
	case v.Kind() == reflect.Map:
		member := reflect.New(v.Type().Elem()).Elem()
		fill(member, name)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), member)
	default:
		fillSimple(v, name)
	}
}

func fillSimple(v reflect.Value, name string) {
	switch {
	case v.Kind() == reflect.String && name == "AccountId":
		v.SetString("111122223333")
	case v.Kind() == reflect.String:
		v.SetString(name + " a/b+c&d%é")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(7)
	case v.CanFloat():
		v.SetFloat(12.5)
	default:
		panic(fmt.Sprintf("a field %s of type %s cannot be filled", name, v.Type()))
	}
}

// IsTime reports whether t is a struct around a time, as wire.Time is.
func IsTime(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return false
	}
	f, ok := t.FieldByName("Time")
	return ok && f.Anonymous && f.Type == reflect.TypeFor[time.Time]()
}

// ConvertToPlain returns the fields that the type has, from v, as maps, lists and texts. An absent list becomes an
// empty one. v may be of another type with fields of the same names.
func ConvertToPlain(v reflect.Value, as reflect.Type) any {
	if as.Kind() == reflect.Pointer {
		as = as.Elem()
	}
	if v.Kind() == reflect.Pointer && as != reflect.TypeFor[json.RawMessage]() {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch {
	case as == reflect.TypeFor[json.RawMessage]():
		return document(v)
	case IsTime(as):
		return timeIn(v).UTC().Format(time.RFC3339Nano)
	case as.Kind() == reflect.Struct:
		return plainStruct(v, as)
	case as.Kind() == reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = ConvertToPlain(v.Index(i), as.Elem())
		}
		return list
	case as.Kind() == reflect.Map:
		members := map[string]any{}
		for _, k := range v.MapKeys() {
			members[k.String()] = ConvertToPlain(v.MapIndex(k), as.Elem())
		}
		return members
	}
	return fmt.Sprint(v.Interface())
}

func plainStruct(v reflect.Value, as reflect.Type) map[string]any {
	members := map[string]any{}
	for f := range as.Fields() {
		if unset[f.Name] {
			continue
		}
		members[f.Name] = ConvertToPlain(v.FieldByName(f.Name), f.Type)
	}
	return members
}

func timeIn(v reflect.Value) time.Time {
	if IsTime(v.Type()) {
		v = v.FieldByName("Time")
	}
	return v.Interface().(time.Time)
}

// document returns the value of a document field: JSON in this repository, a smithy document in the SDK.
func document(v reflect.Value) any {
	if raw, ok := reflect.TypeAssert[json.RawMessage](v); ok {
		return decodeDocument(func(to any) error { return json.Unmarshal(raw, to) }, len(raw) == 0)
	}
	if v.IsNil() {
		return nil
	}
	d := v.Interface().(interface{ UnmarshalSmithyDocument(any) error })
	return decodeDocument(d.UnmarshalSmithyDocument, false)
}

func decodeDocument(decode func(any) error, absent bool) any {
	if absent {
		return nil
	}
	var all []struct{ Key, Value string }
	if err := decode(&all); err != nil {
		return "not a list of tags"
	}
	out := []any{}
	for _, t := range all {
		out = append(out, strings.Join([]string{t.Key, t.Value}, "="))
	}
	return out
}
