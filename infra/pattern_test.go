package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// filterPattern is a pattern of CloudWatch Logs for lines of JSON. It supports the syntax that template.yaml uses: =,
// != and >= with a text or a number, IS TRUE, && before ||, and parentheses (CloudWatch Logs user guide, "Filter
// pattern syntax"). A comparison with a missing member is false.
type filterPattern struct {
	t      *testing.T
	tokens []string
	line   map[string]any
}

var patternToken = regexp.MustCompile(`&&|\|\||!=|>=|=|[(){}]|"[^"]*"|\$[\w.]+|\w+`)

// matchesLine reports whether a line of the log matches a pattern.
func matchesLine(t *testing.T, pattern, line string) bool {
	t.Helper()
	p := &filterPattern{t: t, tokens: patternToken.FindAllString(pattern, -1)}
	if json.Unmarshal([]byte(line), &p.line) != nil {
		return false
	}
	p.expect("{")
	out := p.either()
	p.expect("}")
	if len(p.tokens) > 0 {
		t.Fatalf("pattern %s: %v is left over", pattern, p.tokens)
	}
	return out
}

func (p *filterPattern) next() string {
	if len(p.tokens) == 0 {
		p.t.Fatal("a pattern ends too soon")
	}
	first := p.tokens[0]
	p.tokens = p.tokens[1:]
	return first
}

func (p *filterPattern) expect(token string) {
	p.t.Helper()
	if got := p.next(); got != token {
		p.t.Fatalf("a pattern has %q where %q belongs", got, token)
	}
}

func (p *filterPattern) either() bool {
	out := p.both()
	for p.tokens[0] == "||" {
		p.next()
		out = p.both() || out
	}
	return out
}

func (p *filterPattern) both() bool {
	out := p.one()
	for p.tokens[0] == "&&" {
		p.next()
		out = p.one() && out
	}
	return out
}

func (p *filterPattern) one() bool {
	first := p.next()
	if first == "(" {
		out := p.either()
		p.expect(")")
		return out
	}
	value, op, want := p.member(first), p.next(), p.next()
	if text, quoted := strings.CutPrefix(want, `"`); quoted && op == "=" {
		return value == strings.TrimSuffix(text, `"`)
	}
	if op == "IS" && want == "TRUE" {
		return value == true
	}
	number, ok := value.(float64)
	limit, err := strconv.ParseFloat(want, 64)
	if err != nil {
		p.t.Fatalf("a pattern compares %s %s %s", first, op, want)
	}
	return ok && map[string]bool{"=": number == limit, "!=": number != limit, ">=": number >= limit}[op]
}

// member returns the line's value at a path such as "$.record.status", or nil.
func (p *filterPattern) member(path string) any {
	var v any = p.line
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "$."), ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// matchesEvent reports whether an event matches a pattern of EventBridge. It supports the syntax that template.yaml
// uses: values, prefix, anything-but, exists and $or (EventBridge user guide, "Comparison operators").
func matchesEvent(t *testing.T, pattern, event map[string]any) bool {
	t.Helper()
	for name, want := range pattern {
		have, there := event[name]
		switch want := want.(type) {
		case map[string]any:
			inner, _ := have.(map[string]any)
			if !matchesEvent(t, want, inner) {
				return false
			}
		case []any:
			if name == "$or" {
				if !slices.ContainsFunc(want, func(p any) bool { return matchesEvent(t, p.(map[string]any), event) }) {
					return false
				}
				continue
			}
			if !slices.ContainsFunc(want, func(m any) bool { return matchesValue(t, m, have, there) }) {
				return false
			}
		default:
			t.Fatalf("the pattern of %s is %v", name, want)
		}
	}
	return true
}

func matchesValue(t *testing.T, want, have any, there bool) bool {
	t.Helper()
	text, isText := have.(string)
	m, ok := want.(map[string]any)
	if !ok {
		return there && want == have
	}
	for op, v := range m {
		switch op {
		case "prefix":
			return isText && strings.HasPrefix(text, literal(v))
		case "anything-but":
			return there && (!isText || v != text)
		case "exists":
			return v == there
		}
	}
	t.Fatalf("a pattern wants %v", want)
	return false
}

// literal returns a value of the template as a text, with the deployment's own values in it.
func literal(v any) string {
	if m, ok := v.(map[string]any); ok {
		if sub, ok := m["Fn::Sub"].(string); ok {
			return strings.NewReplacer("${AWS::Partition}", "aws", "${AWS::Region}", "eu-west-1", "${AWS::AccountId}",
				"123456789012").Replace(sub)
		}
		return fmt.Sprint(v)
	}
	return fmt.Sprint(v)
}
