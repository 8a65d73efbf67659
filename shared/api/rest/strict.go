package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkStrictJSON refuses JSON that two readers could read differently, before anybody reads it: text after the value, bytes that
// are no UTF-8, halves of surrogate pairs, nesting above MaxDepth, and a member given twice. Where t, the type it will be
// decoded into, is a struct, two members that differ only in case count as one given twice, because encoding/json takes
// either for the field: validation would see one and the handler the other.
func checkStrictJSON(b []byte, t reflect.Type) error {
	switch {
	case !utf8.Valid(b):
		return errors.New("body: not UTF-8")
	case depth(b) > MaxDepth:
		return fmt.Errorf("body: nested deeper than %d levels", MaxDepth)
	case !json.Valid(b):
		return syntax(b)
	}
	w := walker{b: b, known: map[reflect.Type]map[string]reflect.Type{}}
	return w.value(t)
}

// syntax says what is wrong with b and where.
func syntax(b []byte) error {
	var v any
	err := json.Unmarshal(b, &v)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("body: not JSON: %s at byte %d", e.Error(), e.Offset)
	}
	return errors.New("body: not JSON")
}

// depth returns the deepest nesting of b, counted without a stack, so that a megabyte of brackets costs nothing.
func depth(b []byte) int {
	now, most := 0, 0
	for i := 0; i < len(b) && most <= MaxDepth; i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			now++
			most = max(most, now)
		case '}', ']':
			now--
		}
	}
	return most
}

// walker goes through valid JSON.
type walker struct {
	b     []byte
	i     int
	known map[reflect.Type]map[string]reflect.Type // of fields
}

// next skips white space, and any of the separators, and gives the byte that follows.
func (w *walker) next(separators string) byte {
	for w.i < len(w.b) && (w.b[w.i] <= ' ' || strings.IndexByte(separators, w.b[w.i]) >= 0) {
		w.i++
	}
	if w.i == len(w.b) {
		return 0
	}
	return w.b[w.i]
}

func (w *walker) value(t reflect.Type) error {
	t = target(t)
	switch w.next(",:") {
	case '{':
		return w.object(t)
	case '[':
		return w.array(t)
	case '"':
		_, err := w.text()
		return err
	}
	for w.i < len(w.b) && strings.IndexByte(",]} \t\r\n", w.b[w.i]) < 0 {
		w.i++
	}
	return nil
}

func (w *walker) array(t reflect.Type) error {
	var elem reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		elem = t.Elem()
	}
	w.i++
	for w.next(",") != ']' {
		if err := w.value(elem); err != nil {
			return err
		}
	}
	w.i++
	return nil
}

func (w *walker) object(t reflect.Type) error {
	seen := map[string]bool{}
	w.i++
	for w.next(",") != '}' {
		name, err := w.text()
		if err != nil {
			return err
		}
		key, elem := w.member(t, name)
		if seen[key] {
			return fmt.Errorf("body: %.64q is given twice", name)
		}
		seen[key] = true
		if err := w.value(elem); err != nil {
			return err
		}
	}
	w.i++
	return nil
}

// text reads a string. Most hold no escape, and then nothing but the name is copied.
func (w *walker) text() (string, error) {
	from, escaped := w.i, false
	for w.i++; w.b[w.i] != '"'; w.i++ {
		if w.b[w.i] == '\\' {
			escaped = true
			w.i++
		}
	}
	w.i++
	raw := w.b[from:w.i]
	if !escaped {
		return string(raw[1 : len(raw)-1]), nil
	}
	if halfPair(raw) {
		return "", errors.New("body: a string holds half of a surrogate pair")
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// halfPair looks for \ud800–\udfff that stand alone.
func halfPair(raw []byte) bool {
	high := false // the escape before was the first half of a pair
	for i := 0; i < len(raw); i++ {
		n := rune(0)
		if raw[i] == '\\' {
			if i++; raw[i] == 'u' {
				v, _ := strconv.ParseUint(string(raw[i+1:i+5]), 16, 32)
				n, i = rune(v), i+4
			}
		}
		low := n >= 0xdc00 && n <= 0xdfff
		if low != high {
			return true
		}
		high = n >= 0xd800 && n < 0xdc00
	}
	return high
}

// target returns what t decodes an object into, nil when that is t's own affair.
func target(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return nil
	}
	if p, ok := reflect.TypeAssert[interface{ inner() reflect.Type }](reflect.Zero(t)); ok {
		return target(p.inner())
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	return t
}

// member returns the key under which a member of t counts as given, and the type of its value.
func (w *walker) member(t reflect.Type, name string) (string, reflect.Type) {
	switch {
	case t == nil:
		return name, nil
	case t.Kind() == reflect.Map:
		return name, t.Elem()
	case t.Kind() == reflect.Struct:
		key := strings.Map(fold, name)
		return key, w.fields(t)[key]
	}
	return name, nil
}

// fields returns the types of a struct's JSON members, by folded name.
func (w *walker) fields(t reflect.Type) map[string]reflect.Type {
	if m, ok := w.known[t]; ok {
		return m
	}
	m := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		m[strings.Map(fold, name)] = f.Type
	}
	w.known[t] = m
	return m
}

// fold returns one rune for all that differ only in case, as encoding/json compares names.
func fold(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}
