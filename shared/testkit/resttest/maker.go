package resttest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// nasty are texts that have broken services before.
var nasty = []string{
	"", " ", "0", "-1", "1e309", "NaN", "9223372036854775808", "null", "true", "latest", "bulk", "__proto__",
	"constructor",
	"../../etc/passwd", "%2e%2e%2f", "a/b", "a%2Fb", "ORG#other#x", "#", "|", ":", "' OR 1=1--", "{{7*7}}", "${jndi:x}",
	"<b>&amp;",
	"\u202eabc", "\u0000", "e\u0301", "\U0001F600", "\ufeff", "a\r\nX: y", "=HYPERLINK(1)", strings.Repeat("A", 3000),
	"org_01hzzzzzzzzzzzzzzzzzzzzzzz", "act_01hzzzzzzzzzzzzzzzzzzzzzzz", "2026-13-45", "2026-01-31T09:00:00Z",
}

// maker makes random values.
type maker struct {
	*rand.Rand
	known map[string][]string
	fixed map[string]any
}

func (m maker) nasty() string { return nasty[m.IntN(len(nasty))] }

// makeParameter returns a value, and whether to send it if it is optional.
func (m maker) makeParameter(p *openapi3.Parameter) (string, bool) {
	if v := m.existing(p.Name); v != "" {
		return v, true
	}
	if m.IntN(3) == 0 {
		return m.nasty(), true
	}
	v := m.value(p.Schema, 0)
	if list, ok := v.([]any); ok && p.In == "query" && len(list) > 0 { // separated by commas
		texts := make([]string, len(list))
		for i := range list {
			texts[i] = fmt.Sprint(list[i])
		}
		v = strings.Join(texts, ",")
	}
	s, isText := v.(string)
	if !isText {
		b, _ := json.Marshal(v) //nolint:errchkjson // it consists of plain values
		s = string(b)
	}
	return s, p.Required || m.IntN(2) == 0
}

// makeBody returns a body: usually valid, sometimes nearly valid, sometimes anything else.
func (m maker) makeBody(ref *openapi3.RequestBodyRef) string {
	if ref == nil {
		return ""
	}
	media := ref.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return m.nasty()
	}
	switch m.IntN(10) {
	case 0:
		return broken[m.IntN(len(broken))]
	case 1:
		return ""
	}
	b, err := json.Marshal(m.value(media.Schema, 0))
	if err != nil {
		return "{}"
	}
	return string(b)
}

var broken = []string{
	"{", "null", "[]", `"x"`, "1", `{"a":1}{"a":2}`, `{"a":1,"a":2}`, "\ufeff{}", `{"a":NaN}`, `{"a":1e999}`,
	`{"a":"\ud800"}`,
	"{\"a\":\"\xff\"}", strings.Repeat("[", 5000), strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "// {}",
	`{"__proto__":{}}`,
}

// value returns a value for a schema; one of eight does not match.
func (m maker) value(ref *openapi3.SchemaRef, depth int) any {
	if ref == nil || ref.Value == nil || depth > 6 {
		return m.nasty()
	}
	s := ref.Value
	switch {
	case m.IntN(8) == 0:
		return m.wrong()
	case len(s.Enum) > 0:
		return s.Enum[m.IntN(len(s.Enum))]
	case len(s.Examples) > 0 && m.IntN(2) == 0:
		return s.Examples[m.IntN(len(s.Examples))]
	case len(s.AnyOf) > 0:
		return m.value(s.AnyOf[m.IntN(len(s.AnyOf))], depth)
	}
	return m.typed(s, depth)
}

func (m maker) wrong() any {
	return []any{nil, m.nasty(), -1, 1.5, 1e300, true, []any{}, map[string]any{}, []any{nil}}[m.IntN(9)]
}

func (m maker) typed(s *openapi3.Schema, depth int) any {
	kinds := s.Type.Slice()
	if len(kinds) == 0 {
		return m.wrong()
	}
	switch kinds[m.IntN(len(kinds))] {
	case openapi3.TypeObject:
		return m.object(s, depth)
	case openapi3.TypeArray:
		out := make([]any, m.IntN(4))
		for i := range out {
			out[i] = m.value(s.Items, depth+1)
		}
		return out
	case openapi3.TypeInteger:
		return m.IntN(120)
	case openapi3.TypeNumber:
		return m.Float64() * 100
	case openapi3.TypeBoolean:
		return m.IntN(2) == 0
	case openapi3.TypeNull:
		return nil
	}
	return m.text(s)
}

func (m maker) object(s *openapi3.Schema, depth int) any {
	out := map[string]any{}
	for _, name := range slices.Sorted(sortedKeys(s.Properties)) {
		if slices.Contains(s.Required, name) || m.IntN(2) == 0 {
			out[name] = m.member(name, s.Properties[name], depth+1)
		}
	}
	if m.IntN(4) == 0 {
		out[m.nasty()] = m.wrong()
	}
	return out
}

// existing returns the ID of an existing record, or "" if none is known, or if another value is wanted.
func (m maker) existing(name string) string {
	if vs := m.known[name]; len(vs) > 0 && m.IntN(4) > 0 {
		return vs[m.IntN(len(vs))]
	}
	return ""
}

func (m maker) member(name string, ref *openapi3.SchemaRef, depth int) any {
	if v, fixed := m.fixed[name]; fixed {
		return v
	}
	v := m.existing(name)
	switch {
	case v == "":
		return m.value(ref, depth)
	case ref.Value.Type.Includes(openapi3.TypeArray):
		return []any{v}
	}
	return v
}

func (m maker) text(s *openapi3.Schema) string {
	if m.IntN(4) == 0 {
		return m.nasty()
	}
	v := "v" + strconv.Itoa(m.IntN(1000))
	switch s.Format {
	case "date-time":
		return "2026-01-31T09:00:00Z"
	case "email":
		return v + "@example.com"
	case "uri":
		return "https://example.com/" + v
	}
	for uint64(len(v)) < s.MinLength {
		v += v
	}
	return v
}
