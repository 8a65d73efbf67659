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

// checkStrictJSON returns an error for JSON that two readers could read differently: text after the value, bytes that
// are not UTF-8, halves of surrogate pairs, nesting above MaxDepth, and duplicate members. If t, the type it is decoded
// into, is a struct, members that differ only in case count as duplicates, because encoding/json uses either for the
// field: validation could check one and the handler use the other.
func checkStrictJSON(b []byte, t reflect.Type) error {
	switch {
	case !utf8.Valid(b):
		return errors.New("body: not UTF-8")
	case nestingDepth(b) > MaxDepth:
		return fmt.Errorf("body: nested deeper than %d levels", MaxDepth)
	case !json.Valid(b):
		return syntaxError(b)
	}
	w := walker{b: b, known: map[reflect.Type]map[string]reflect.Type{}}
	return w.checkValue(t)
}

// syntaxError returns the reason and the position of invalid JSON.
func syntaxError(b []byte) error {
	var v any
	err := json.Unmarshal(b, &v)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("body: not JSON: %s at byte %d", e.Error(), e.Offset)
	}
	return errors.New("body: not JSON")
}

// nestingDepth returns the deepest nesting of b. It uses no stack, so that a megabyte of brackets costs nothing.
func nestingDepth(b []byte) int {
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

// walker scans valid JSON.
type walker struct {
	b     []byte
	i     int
	known map[reflect.Type]map[string]reflect.Type // of fields
}

// nextByte skips white space and the separators, and returns the following byte.
func (w *walker) nextByte(separators string) byte {
	for w.i < len(w.b) && (w.b[w.i] <= ' ' || strings.IndexByte(separators, w.b[w.i]) >= 0) {
		w.i++
	}
	if w.i == len(w.b) {
		return 0
	}
	return w.b[w.i]
}

func (w *walker) checkValue(t reflect.Type) error {
	t = decodeTarget(t)
	switch w.nextByte(",:") {
	case '{':
		return w.checkObject(t)
	case '[':
		return w.checkArray(t)
	case '"':
		_, err := w.text()
		return err
	}
	for w.i < len(w.b) && strings.IndexByte(",]} \t\r\n", w.b[w.i]) < 0 {
		w.i++
	}
	return nil
}

func (w *walker) checkArray(t reflect.Type) error {
	var elem reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		elem = t.Elem()
	}
	w.i++
	for w.nextByte(",") != ']' {
		if err := w.checkValue(elem); err != nil {
			return err
		}
	}
	w.i++
	return nil
}

func (w *walker) checkObject(t reflect.Type) error {
	seen := map[string]bool{}
	w.i++
	for w.nextByte(",") != '}' {
		name, err := w.text()
		if err != nil {
			return err
		}
		key, elem := w.memberOf(t, name)
		if seen[key] {
			return fmt.Errorf("body: %.64q is given twice", name)
		}
		seen[key] = true
		if err := w.checkValue(elem); err != nil {
			return err
		}
	}
	w.i++
	return nil
}

// text reads a string. Most contain no escapes, and then only the name is copied.
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
	if hasHalfPair(raw) {
		return "", errors.New("body: a string holds half of a surrogate pair")
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// hasHalfPair reports whether raw contains \ud800–\udfff without its other half.
func hasHalfPair(raw []byte) bool {
	high := false // the previous escape was the first half of a pair
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

// decodeTarget returns the type that t decodes an object into, or nil if t decodes it itself.
func decodeTarget(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return nil
	}
	if p, ok := reflect.TypeAssert[interface{ inner() reflect.Type }](reflect.Zero(t)); ok {
		return decodeTarget(p.inner())
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	return t
}

// memberOf returns the normalized name of a member of t, and the type of its value.
func (w *walker) memberOf(t reflect.Type, name string) (string, reflect.Type) {
	switch {
	case t == nil:
		return name, nil
	case t.Kind() == reflect.Map:
		return name, t.Elem()
	case t.Kind() == reflect.Struct:
		key := strings.Map(foldRune, name)
		return key, w.fieldTypes(t)[key]
	}
	return name, nil
}

// fieldTypes returns the types of a struct's JSON members, by normalized name.
func (w *walker) fieldTypes(t reflect.Type) map[string]reflect.Type {
	if m, ok := w.known[t]; ok {
		return m
	}
	m := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		m[strings.Map(foldRune, name)] = f.Type
	}
	w.known[t] = m
	return m
}

// foldRune returns one rune for all runes that differ only in case, as encoding/json compares names.
func foldRune(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}
