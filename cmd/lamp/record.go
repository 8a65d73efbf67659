package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// record is a record as the service sends it.
type record struct {
	raw     json.RawMessage
	members map[string]any // numbers are json.Number, so that they stay exact
}

func parseRecord(raw json.RawMessage) (record, error) {
	r := record{raw: raw}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&r.members); err != nil {
		return r, fmt.Errorf("read a record: %w", err)
	}
	return r, nil
}

// newRecord returns a record that lamp makes itself.
func newRecord(members map[string]any) record {
	raw, _ := json.Marshal(members) //nolint:errchkjson // texts, numbers and lists of them
	return record{raw: raw, members: members}
}

// text returns a member as text, also of a member: "rackRateUSD.monthly". It is "" if the member has no value. The last
// part of a path may contain dots, as keys of tags do.
func (r record) text(path string) string { return textOf(find(r.members, path)) }

func find(members map[string]any, path string) any {
	if v, ok := members[path]; ok {
		return v
	}
	first, rest, more := strings.Cut(path, ".")
	if inner, ok := members[first].(map[string]any); ok && more {
		return find(inner, rest)
	}
	return nil
}

func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = textOf(e)
		}
		return strings.Join(parts, ",")
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, k+"="+textOf(v[k]))
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(v)
}

// cleanText replaces control characters, which a terminal would obey: names and tags come from clouds, and may hold
// escape sequences or characters that reverse the direction of text.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return '·'
		}
		return r
	}, s)
}

// cleanLine is cleanText without line breaks and tabs.
func cleanLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, cleanText(s))
}
