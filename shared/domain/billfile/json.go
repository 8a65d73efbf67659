package billfile

import (
	"bytes"
	"encoding/json"
	"io"

	"lamplighter.dev/shared/foundation/fault"
)

// jsonTable is a sequence of JSON objects, on separate lines or not. Members of nested objects are columns too:
// "project" with an "id" in it is the columns "project" and "project.id".
type jsonTable struct {
	decoder  *json.Decoder
	limit    *io.LimitedReader
	held     map[string][]byte // the first row, read to get its columns
	names    []string
	bindings []binding
	row      map[string][]byte // by plainName
}

func newJSONTable(r io.Reader) (table, error) {
	limit := &io.LimitedReader{R: r}
	t := &jsonTable{decoder: json.NewDecoder(limit), limit: limit, row: map[string][]byte{}}
	if err := t.read(); err != nil {
		return nil, err
	}
	t.held = t.row
	return t, nil
}

func (t *jsonTable) columns() ([]string, bool) { return t.names, true }

func (t *jsonTable) bind(bindings []binding) error {
	t.bindings = bindings
	return nil
}

func (t *jsonTable) next() error {
	if t.held == nil {
		if err := t.read(); err != nil {
			return err
		}
	}
	t.held = nil
	for i := range t.bindings {
		if err := t.set(&t.bindings[i]); err != nil {
			return fault.New(fault.Invalid, "column %.100q: %s", t.bindings[i].names[0], fault.Message(err))
		}
	}
	return nil
}

func (t *jsonTable) set(b *binding) error {
	for _, name := range b.plain() {
		if value, found := t.row[name]; found {
			return b.set(value)
		}
	}
	return b.set(nil)
}

// read reads the next object. The decoder reads ahead, but a single value is limited to the size of a row.
func (t *jsonTable) read() error {
	t.limit.N = MaxRowBytes
	var object map[string]json.RawMessage
	err := t.decoder.Decode(&object)
	if t.limit.N == 0 && err != nil {
		return fault.New(fault.Invalid, "a JSON object of more than %d bytes", MaxRowBytes)
	}
	if err != nil {
		return err
	}
	clear(t.row)
	t.names = t.names[:0]
	return t.flatten("", object)
}

func (t *jsonTable) flatten(prefix string, object map[string]json.RawMessage) error {
	for name, raw := range object {
		if len(t.names) == MaxColumns {
			return fault.New(fault.Invalid, "a JSON object of more than %d members", MaxColumns)
		}
		t.names = append(t.names, prefix+name)
		t.row[plainName(prefix+name)] = plainValue(raw)
		if raw[0] != '{' {
			continue
		}
		var inner map[string]json.RawMessage
		if err := json.Unmarshal(raw, &inner); err != nil {
			return err
		}
		if err := t.flatten(prefix+name+".", inner); err != nil {
			return err
		}
	}
	return nil
}

// plainValue returns a value in the form of CSV: a string without its quotes.
func plainValue(raw json.RawMessage) []byte {
	if raw[0] != '"' {
		return bytes.TrimSpace(raw)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return raw
	}
	return []byte(s)
}
