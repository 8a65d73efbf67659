package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxDepth limits the nesting of decoded JSON.
const maxDepth = 64

// decodeJSON decodes one JSON text: objects as map[string]any, numbers unchanged. It refuses texts that two readers
// could read differently: text that is not UTF-8, a duplicate member, text after the end.
func decodeJSON(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something behind its end")
	}
	return v, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, malformed(err)
	}
	bracket, ok := t.(json.Delim)
	switch {
	case !ok:
		return t, nil
	case depth == maxDepth:
		return nil, fmt.Errorf("it nests deeper than %d levels", maxDepth)
	case bracket == '{':
		return decodeObject(d, depth+1)
	}
	list := []any{}
	for d.More() {
		v, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, readEnd(d)
}

func decodeObject(d *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, malformed(err)
		}
		name, _ := t.(string) // the decoder allows only strings here
		if _, twice := object[name]; twice {
			return nil, fmt.Errorf("the member %.64q comes twice", name)
		}
		if object[name], err = decodeValue(d, depth); err != nil {
			return nil, err
		}
	}
	return object, readEnd(d)
}

// malformed returns the error of the decoder. An unexpected end of the text must not look like io.EOF.
func malformed(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("it is not JSON: %w", err)
}

// readEnd reads a closing bracket.
func readEnd(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return malformed(err)
	}
	return nil
}

// appendCanonical appends v, which decodeJSON returned, in the only form that is hashed: members sorted by the bytes of
// their names, no white space, numbers unchanged, and strings escaped only as required, as in RFC 8785.
func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		return canonicalObject(b, v)
	case []any:
		b = append(b, '[')
		for i := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, v[i])
		}
		return append(b, ']')
	case string:
		return canonicalText(b, v)
	case json.Number:
		return append(b, v...)
	case json.RawMessage:
		return append(b, v...)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case bool:
		return strconv.AppendBool(b, v)
	default:
		return append(b, "null"...)
	}
}

func canonicalObject(b []byte, object map[string]any) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(canonicalText(b, name), ':')
		b = appendCanonical(b, object[name])
	}
	return append(b, '}')
}

// escapes are the short escapes of JSON.
var escapes = [' ']byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

func canonicalText(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ':
			b = append(b, c)
		case escapes[c] != 0:
			b = append(b, '\\', escapes[c])
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	return append(b, '"')
}
