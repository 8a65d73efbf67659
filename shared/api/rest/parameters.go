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

// parameter is what a query parameter of an operation may be.
type parameter struct {
	wanted   string // what an empty value is not, "" where any text is one
	list     bool   // several values, behind commas or in several parameters
	repeated bool   // several values in several parameters, because a comma belongs to a value
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
		out[name] = parameter{wanted(&f), several && option == "", several && option != ""}
	}
	return out
}

// inputFields returns the fields of an input and of what is embedded in it, with their places in it. reflect.VisibleFields leaves
// out Page.Page, which the name of the embedded struct hides.
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

// wanted returns what a parameter has to be, in words; "" where any text will do.
func wanted(f *reflect.StructField) string {
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

// query refuses what cannot be decoded, characters that no parameter of ours holds, an empty value where one of a type is
// wanted, and a second value where there can be one only: two readers could take different ones. Of a list in several
// parameters it makes one behind commas, as the framework reads it.
func (x *exchange) query() error {
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
		err := textual(name, vs)
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

func textual(name string, values []string) error {
	for _, v := range values {
		if !utf8.ValidString(v) || strings.IndexByte(v, 0) >= 0 {
			return fmt.Errorf("%.64q: the value is not text", name)
		}
	}
	return nil
}

// check refuses values that the parameter cannot have, whatever its type.
func (p parameter) check(name string, values []string) error {
	if len(values) > 1 && !p.list && !p.repeated {
		return fmt.Errorf("%s: it is given %d times, and has one value", name, len(values))
	}
	for _, v := range values {
		if v == "" && p.wanted != "" {
			return fmt.Errorf("%s: it is empty: give %s, or leave it out", name, p.wanted)
		}
	}
	if joined := strings.Join(values, ","); p.list && joined != "" && strings.Contains(","+joined+",", ",,") {
		return fmt.Errorf("%s: one of its values is empty", name)
	}
	return nil
}

// describeLists says of the parameters that have several values how to give them.
func describeLists(hop *huma.Operation, params map[string]parameter) {
	for _, p := range hop.Parameters {
		if p.In == "query" && params[p.Name].list {
			p.Description = strings.TrimPrefix(p.Description+". Several values behind commas, or in several parameters",
				". ")
		}
	}
}

// Among reports whether a value is one of those that a filter lists; a filter that lists none takes all.
func Among[T comparable](listed []T, value T) bool {
	return len(listed) == 0 || slices.Contains(listed, value)
}
