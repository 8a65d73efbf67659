package table

import (
	"bytes"
	"encoding/json"

	"lamplighter.dev/shared/foundation/fault"
)

// field is a top-level member of an item's data; raw is its JSON.
type field struct {
	name string
	raw  []byte
}

// fields are the members of an item's data in their order.
type fields []field

// parseFields splits the outermost object of data. The values are slices of data.
func parseFields(data []byte) (fields, error) {
	s := scanner{data: data}
	if s.skipSpace(); s.peekByte() != '{' {
		return nil, fault.New(fault.Invalid, "item data is not a JSON object")
	}
	var fs fields
	err := s.scanMembers('}', 0, func() error {
		start := s.at
		if _, err := s.skipName(); err != nil {
			return err
		}
		name, err := s.unquoteName(start)
		if err != nil {
			return err
		}
		start = s.at
		if _, err = s.skipValue(1); err != nil {
			return err
		}
		fs.set(name, data[start:s.at])
		return nil
	})
	return fs, err
}

// unquoteName decodes the name that starts at start and ends before the scanner's position.
func (s *scanner) unquoteName(start int) (string, error) {
	end := start + bytes.LastIndexByte(s.data[start:s.at], '"') + 1
	return unquoteString(s.data[start:end])
}

// unquoteString decodes a JSON string.
func unquoteString(raw []byte) (string, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	var v string
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", fault.NewWithCause(fault.Invalid, err, "item data has a malformed string %.50q", raw)
	}
	return v, nil
}

// get returns a field's value.
func (fs fields) get(name string) ([]byte, bool) {
	for i := range fs {
		if fs[i].name == name {
			return fs[i].raw, true
		}
	}
	return nil, false
}

// set sets a field. An existing field keeps its position.
func (fs *fields) set(name string, raw []byte) {
	for i := range *fs {
		if (*fs)[i].name == name {
			(*fs)[i].raw = raw
			return
		}
	}
	*fs = append(*fs, field{name, raw})
}

// remove removes a field.
func (fs *fields) remove(name string) {
	for i := range *fs {
		if (*fs)[i].name == name {
			*fs = append((*fs)[:i], (*fs)[i+1:]...)
			return
		}
	}
}

// encodeObject returns the fields as a JSON object.
func (fs fields) encodeObject() []byte {
	b := []byte{'{'}
	for i, f := range fs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, f.name), ':')
		b = append(b, f.raw...)
	}
	return append(b, '}')
}

// appendString appends s as JSON, without HTML escapes.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return append(b, quoteString(s)...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// quoteString encodes strings that need escapes.
func quoteString(s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // strings can always be encoded
	return bytes.TrimRight(buf.Bytes(), "\n")
}
