// Package definition reads and sets values in the JSON definitions of resources, for providers whose changes are one
// call with a part of the definition: Azure's resource manager and the APIs of Google Cloud.
package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// Document is a decoded definition.
type Document map[string]any

// Decode decodes a definition. Numbers keep their spelling.
func Decode(raw []byte) (Document, error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var out Document
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("decode the definition of a resource: %w", err)
	}
	return out, nil
}

// At returns the value at a path of names with dots between them, nil if there is none. The case of names is ignored:
// the services of a provider do not agree on it.
func (d Document) At(path string) any {
	var v any = map[string]any(d)
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = nil
		for key, under := range m {
			if strings.EqualFold(key, name) {
				v = under
			}
		}
	}
	return v
}

// Text returns the text at a path, "" if there is none.
func (d Document) Text(path string) string {
	s, _ := d.At(path).(string)
	return s
}

// Tags returns the texts of an object, such as tags or labels.
func (d Document) Tags(path string) map[string]string {
	m, _ := d.At(path).(map[string]any)
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k], _ = v.(string)
	}
	return out
}

// Put sets the value at a path, and makes the objects on its way.
func (d Document) Put(path string, v any) {
	names := strings.Split(path, ".")
	m := map[string]any(d)
	for _, name := range names[:len(names)-1] {
		next, is := m[name].(map[string]any)
		if !is || next == nil {
			next = map[string]any{}
			m[name] = next
		}
		m = next
	}
	m[names[len(names)-1]] = v
}

// Without returns the definition without its fields of some names at the top and below an object, for a restore.
func (d Document) Without(below string, names ...string) Document {
	out := maps.Clone(d)
	drop := func(m map[string]any) {
		maps.DeleteFunc(m, func(k string, _ any) bool { return slices.Contains(names, k) })
	}
	drop(out)
	if inner, is := out[below].(map[string]any); is {
		inner = maps.Clone(inner)
		drop(inner)
		out[below] = inner
	}
	return out
}

// Value says where a value of a change lies in a definition, and how it is written there.
type Value struct {
	Name  string // the fact of rules
	Path  string
	Write string // the path in a call, if it is another one
	// On and Off are the words of a value that is "true" or "false" for rules; a value with neither is a JSON bool if
	// Bool is set.
	On, Off string
	Bool    bool
	Not     bool // the JSON bool is the opposite
	Number  bool
	// Unit is the factor from the unit of rules to that of the provider, for a number; 0 is 1.
	Unit float64
	Or   string // the value of a definition that does not name it
}

// In returns the value in a definition, as a text.
func (v Value) In(d Document) string {
	at := d.At(v.Path)
	switch {
	case at == nil:
		return v.Or
	case v.On != "":
		text, _ := at.(string)
		return strconv.FormatBool(strings.EqualFold(text, v.On))
	case v.Number:
		return v.numberText(at)
	}
	switch at := at.(type) {
	case bool:
		return strconv.FormatBool(at != v.Not)
	case string:
		return lastPart(at)
	case json.Number:
		return at.String()
	}
	return ""
}

// lastPart returns the name at the end of a URL, as Google writes types; other texts stay.
func lastPart(text string) string {
	if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "projects/") {
		return text[strings.LastIndex(text, "/")+1:]
	}
	return text
}

func (v Value) numberText(at any) string {
	text, is := at.(string)
	if n, isNumber := at.(json.Number); isNumber {
		text, is = n.String(), true
	}
	n, err := strconv.ParseFloat(text, 64)
	if !is || err != nil {
		return v.Or
	}
	return strconv.FormatFloat(n/v.unit(), 'f', -1, 64)
}

func (v Value) unit() float64 {
	if v.Unit == 0 {
		return 1
	}
	return v.Unit
}

// Encode returns a text as it is written in a definition. The error is class Invalid.
func (v Value) Encode(text string) (any, error) {
	switch {
	case v.Number:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n < 0 && text != v.Or {
			return nil, cloud.ErrInvalid("%s %.40q is no number of 0 or more", v.Name, text)
		}
		return json.Number(strconv.FormatFloat(n*v.unit(), 'f', -1, 64)), nil
	case v.Bool || v.On != "":
		on, err := strconv.ParseBool(text)
		if err != nil {
			return nil, cloud.ErrInvalid("%s %.40q is neither true nor false", v.Name, text)
		}
		if v.Bool {
			return on != v.Not, nil
		}
		if on {
			return v.On, nil
		}
		return v.Off, nil
	case text == "":
		return nil, cloud.ErrInvalid("%s is empty: give its new value", v.Name)
	}
	return text, nil
}

// PathInCall returns the path at which a call writes the value.
func (v Value) PathInCall() string {
	if v.Write != "" {
		return v.Write
	}
	return v.Path
}

// Users returns what uses a resource, by the paths of its definition that name users: a text, an object with an id or a
// name, a list of such, or a number above 0.
func (d Document) Users(paths []string) []string {
	var out []string
	for _, path := range paths {
		list, last, nested := strings.Cut(path, "[].")
		if !nested {
			out = append(out, usersIn(path, d.At(path))...)
			continue
		}
		items, _ := d.At(list).([]any)
		for _, item := range items {
			m, _ := item.(map[string]any)
			out = append(out, usersIn(last, Document(m).At(last))...)
		}
	}
	return out
}

func usersIn(path string, v any) []string {
	name := path[strings.LastIndex(path, ".")+1:]
	switch v := v.(type) {
	case string:
		if v != "" {
			return []string{name + " " + v}
		}
	case json.Number:
		if v.String() != "0" {
			return []string{v.String() + " " + name}
		}
	case map[string]any:
		if id := Document(v).Text("id"); id != "" {
			return []string{name + " " + id}
		}
		return []string{name}
	case []any:
		var out []string
		for _, item := range v {
			out = append(out, usersIn(path, item)...)
		}
		return out
	}
	return nil
}
