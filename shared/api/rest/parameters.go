package rest

import (
	"encoding"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// parameter describes the values of a query parameter.
type parameter struct {
	wanted   string // description of a valid value for errors; "" if any text is valid
	list     bool   // several values, separated by commas or in several parameters
	repeated bool   // several values in several parameters, because values may contain commas
}

// parametersOf returns the query parameters of an input by name.
func parametersOf(input reflect.Type) map[string]parameter {
	out := map[string]parameter{}
	for f := range inputFields(input) {
		name, option, _ := strings.Cut(f.Tag.Get("query"), ",")
		if name == "" {
			continue
		}
		several := f.Type.Kind() == reflect.Slice
		out[name] = parameter{describeValue(&f), several && option == "", several && option != ""}
	}
	return out
}

// inputFields returns the fields of an input and of its embedded structs, with their indexes in it.
// reflect.VisibleFields would leave out Page.Page, which has the name of the embedded struct.
func inputFields(input reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for f := range input.Fields() {
			if !yield(f) {
				return
			}
			if !f.Anonymous || f.Type.Kind() != reflect.Struct {
				continue
			}
			for inner := range inputFields(f.Type) {
				inner.Index = slices.Concat(f.Index, inner.Index)
				if !yield(inner) {
					return
				}
			}
		}
	}
}

// describeValue returns the description of a parameter's valid values, or "" if any text is valid.
func describeValue(f *reflect.StructField) string {
	t := f.Type
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[Time]():
		return "a time"
	case f.Tag.Get("enum") != "":
		return "one of " + strings.ReplaceAll(f.Tag.Get("enum"), ",", ", ")
	case f.Tag.Get("query") == "sort_by":
		return "the field to sort by"
	case f.Tag.Get("query") == "sort_order":
		return "asc or desc"
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return "a value"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return ""
	default:
		return "a number"
	}
}

// checkQuery returns an error for a query that cannot be decoded, for characters that are not text, for an empty value
// of a typed parameter, and for several values of a parameter that has only one, because readers could choose different
// ones. It joins lists in several parameters with commas, as the framework expects.
func (x *exchange) checkQuery() error {
	if x.r.URL.RawQuery == "" {
		return nil
	}
	values, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return errors.New("the query is not well-formed")
	}
	joined := false
	for name, vs := range values {
		p, known := x.route.query[name]
		err := checkText(name, vs)
		if err == nil && known {
			err = p.check(name, vs)
		}
		if err != nil {
			return err
		}
		if p.list && len(vs) > 1 {
			values[name], joined = []string{strings.Join(vs, ",")}, true
		}
	}
	if joined {
		u := *x.r.URL
		u.RawQuery = values.Encode()
		x.r.URL = &u
	}
	return nil
}

func checkText(name string, values []string) error {
	for _, v := range values {
		if !utf8.ValidString(v) || strings.IndexByte(v, 0) >= 0 {
			return fmt.Errorf("%.64q: the value is not text", name)
		}
	}
	return nil
}

// check returns an error for values that the parameter cannot have.
func (p parameter) check(name string, values []string) error {
	if len(values) > 1 && !p.list && !p.repeated {
		return fmt.Errorf("%s: it is given %d times, but may have only one value", name, len(values))
	}
	for _, v := range values {
		if v == "" && p.wanted != "" {
			return fmt.Errorf("%s: it is empty: send %s, or leave it out", name, p.wanted)
		}
	}
	if joined := strings.Join(values, ","); p.list && joined != "" && strings.Contains(","+joined+",", ",,") {
		return fmt.Errorf("%s: one of its values is empty", name)
	}
	return nil
}

// describeLists documents how to send parameters with several values.
func describeLists(hop *huma.Operation, params map[string]parameter) {
	for _, p := range hop.Parameters {
		if p.In == "query" && params[p.Name].list {
			p.Description = strings.TrimPrefix(p.Description+
				". Separate several values by commas, or repeat the parameter",
				". ")
		}
	}
}

// Among reports whether a filter contains a value. An empty filter contains all.
func Among[T comparable](listed []T, value T) bool {
	return len(listed) == 0 || slices.Contains(listed, value)
}
