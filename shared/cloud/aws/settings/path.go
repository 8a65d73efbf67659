package settings

import (
	"fmt"
	"slices"
	"strings"
)

// find returns the value at a path of names with dots between them, nil if there is none. Of a list, it takes the first
// element, or the one that a step selects: "Attributes[Key=idle.timeout].Value".
func find(v any, path string) any {
	if path == "" {
		return nil
	}
	for path != "" && v != nil {
		var name, selector string
		name, selector, path = cutStep(path)
		m, _ := firstOf(v).(map[string]any)
		if v = m[name]; selector != "" {
			v = selected(v, selector)
		}
	}
	return v
}

// cutStep splits a path into its first name, the selector of that name, and the rest.
func cutStep(path string) (name, selector, rest string) {
	end := strings.IndexAny(path, ".[")
	switch {
	case end < 0:
		return path, "", ""
	case path[end] == '.':
		return path[:end], "", path[end+1:]
	}
	name = path[:end]
	selector, rest, _ = strings.Cut(path[end+1:], "]")
	return name, selector, strings.TrimPrefix(rest, ".")
}

func firstOf(v any) any {
	if list, is := v.([]any); is && len(list) > 0 {
		return list[0]
	}
	return v
}

// listOf returns the elements of a list; a single value is a list of one.
func listOf(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	case string:
		if v == "" { // an empty element of XML
			return nil
		}
	}
	return []any{v}
}

// selected returns the element whose field has the value of a selector: "Key=idle.timeout".
func selected(v any, selector string) any {
	field, want, _ := strings.Cut(selector, "=")
	for _, e := range listOf(v) {
		if m, _ := e.(map[string]any); m != nil && textOf(m[field]) == want {
			return e
		}
	}
	return nil
}

func textOf(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// textsOf returns the texts of a list, or those of a field of its elements, in their order.
func textsOf(v any, field string) []string {
	var out []string
	for _, e := range listOf(v) {
		if field != "" {
			e = find(e, field)
		}
		if text := textOf(e); text != "" {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}
