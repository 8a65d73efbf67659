package billfile

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
)

// parseTags parses tags in the forms of bills: a JSON object, an object without its braces (Azure's enterprise
// agreements), or a list of keys and values (Google).
func parseTags(b []byte) ([]bill.Tag, error) {
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0 || bytes.EqualFold(b, []byte("null")):
		return nil, nil
	case b[0] == '[':
		return parseTagList(b)
	case b[0] != '{':
		b = slices.Concat([]byte("{"), b, []byte("}"))
	}
	var values map[string]any
	if err := json.Unmarshal(b, &values); err != nil {
		return nil, fault.New(fault.Invalid, "%.64q is not a JSON object of tags", b)
	}
	out := make([]bill.Tag, 0, len(values))
	for key, value := range values {
		out = append(out, bill.Tag{Key: key, Value: tagValue(value)})
	}
	return sortTags(out), nil
}

// listedTag is a label or a tag of Google's export. The namespace of a tag is a part of its name.
type listedTag struct {
	Namespace string `json:"namespace"`
	Key       string `json:"key"`
	Value     any    `json:"value"`
}

func parseTagList(b []byte) ([]bill.Tag, error) {
	var list []listedTag
	if err := json.Unmarshal(pythonToJSON(b), &list); err != nil {
		return nil, fault.New(fault.Invalid, "%.64q is not a JSON list of keys and values", b)
	}
	out := make([]bill.Tag, 0, len(list))
	for _, t := range list {
		if t.Namespace != "" {
			t.Key = t.Namespace + "/" + t.Key
		}
		out = append(out, bill.Tag{Key: t.Key, Value: tagValue(t.Value)})
	}
	return sortTags(out), nil
}

func tagValue(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return ""
	default:
		b, _ := json.Marshal(v) // cannot fail: it was JSON before
		return string(b)
	}
}

// sortTags sorts by key and keeps the last of equal keys. The user's own tags lose their prefix, which only AWS adds.
func sortTags(in []bill.Tag) []bill.Tag {
	for i := range in {
		in[i].Key = strings.TrimPrefix(strings.TrimSpace(in[i].Key), "user:")
	}
	slices.SortStableFunc(in, func(a, b bill.Tag) int { return strings.Compare(a.Key, b.Key) })
	out := in[:0]
	for i := range in {
		if in[i].Key != "" && (i+1 == len(in) || in[i+1].Key != in[i].Key) {
			out = append(out, in[i])
		}
	}
	return out
}
