package asl

import (
	"encoding/json"
	"strings"
	"time"
)

// typeTests are the tests for the type of a value. IsPresent is evaluated without the value.
var typeTests = map[string]func(v any) bool{
	"IsPresent":   func(any) bool { return true },
	"IsNull":      func(v any) bool { return v == nil },
	"IsString":    isString,
	"IsNumeric":   isNumber,
	"IsBoolean":   func(v any) bool { _, ok := v.(bool); return ok },
	"IsTimestamp": isTimestamp,
}

func isString(v any) bool { _, ok := v.(string); return ok }
func isNumber(v any) bool { _, ok := toNumber(v); return ok }

func isTimestamp(v any) bool {
	s, ok := v.(string)
	if ok {
		_, ok = parseTimestamp(s)
	}
	return ok
}

// parseTimestamp parses the profile of RFC 3339 that the language uses, with T and Z in upper case.
func parseTimestamp(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil && !strings.ContainsAny(s, "tz")
}

// ordering compares two values of the same type. The result for values of another type is false.
type ordering struct {
	accepts func(v any) bool
	holds   func(v, want any) bool
}

// comparisons are the comparisons that have a Path variant, and StringMatches.
var comparisons = func() map[string]ordering {
	out := map[string]ordering{
		"BooleanEquals": {
			accepts: typeTests["IsBoolean"],
			holds:   func(v, want any) bool { b, ok := v.(bool); return ok && b == want },
		},
		"StringMatches": {accepts: isString, holds: func(v, want any) bool {
			s, ok := v.(string)
			pattern, _ := want.(string)
			return ok && matchGlob(pattern, s)
		}},
	}
	relations := map[string]func(c int) bool{
		"Equals":            func(c int) bool { return c == 0 },
		"LessThan":          func(c int) bool { return c < 0 },
		"LessThanEquals":    func(c int) bool { return c <= 0 },
		"GreaterThan":       func(c int) bool { return c > 0 },
		"GreaterThanEquals": func(c int) bool { return c >= 0 },
	}
	types := map[string]struct {
		accepts func(any) bool
		compare func(v, want any) int
	}{
		"String": {isString, func(v, want any) int {
			return strings.Compare(v.(string), want.(string)) //nolint:forcetypeassert // both accepted
		}},
		"Numeric": {isNumber, func(v, want any) int {
			return compareNumbers(v.(json.Number), want.(json.Number)) //nolint:forcetypeassert // both accepted
		}},
		"Timestamp": {isTimestamp, compareTimes},
	}
	for name, t := range types {
		for rel, meets := range relations {
			out[name+rel] = ordering{t.accepts, func(v, want any) bool {
				return t.accepts(v) && t.accepts(want) && meets(t.compare(v, want))
			}}
		}
	}
	return out
}()

func compareTimes(v, want any) int {
	a, _ := parseTimestamp(v.(string))    //nolint:forcetypeassert // both accepted
	b, _ := parseTimestamp(want.(string)) //nolint:forcetypeassert // both accepted
	return a.Compare(b)
}

// matchGlob reports whether s matches a StringMatches pattern: * matches any text, \* a star, \\ a backslash.
func matchGlob(pattern, s string) bool {
	var parts []string // the texts between the stars
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '*':
			parts = append(parts, b.String())
			b.Reset()
		case pattern[i] == '\\' && i+1 < len(pattern):
			i++
			b.WriteByte(pattern[i])
		default:
			b.WriteByte(pattern[i])
		}
	}
	last := b.String()
	if len(parts) == 0 {
		return s == last
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok || len(s) < len(last) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[:len(s)-len(last)]
	for _, p := range parts[1:] {
		if _, s, ok = strings.Cut(s, p); !ok {
			return false
		}
	}
	return true
}
