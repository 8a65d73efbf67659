package iampolicy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// comparison compares a value of the request with a value of the policy.
type comparison func(want, have string) bool

// comparisons are the known operators without their prefixes and suffixes. A negated one holds if no value of the
// policy matches.
var comparisons = map[string]struct {
	compare comparison
	negated bool
}{
	"StringEquals":              {compare: func(want, have string) bool { return want == have }},
	"StringNotEquals":           {compare: func(want, have string) bool { return want == have }, negated: true},
	"StringEqualsIgnoreCase":    {compare: strings.EqualFold},
	"StringNotEqualsIgnoreCase": {compare: strings.EqualFold, negated: true},
	"StringLike":                {compare: matches},
	"StringNotLike":             {compare: matches, negated: true},
	"ArnEquals":                 {compare: matchesARN},
	"ArnLike":                   {compare: matchesARN},
	"ArnNotEquals":              {compare: matchesARN, negated: true},
	"ArnNotLike":                {compare: matchesARN, negated: true},
	"Bool":                      {compare: strings.EqualFold},
}

// evaluate reports whether a condition holds: an operator with a key's values in the policy and in the request.
func evaluate(operator string, want, have []string) (bool, error) {
	if operator == "Null" { // whether the key is absent
		return len(want) == 1 && want[0] == strconv.FormatBool(len(have) == 0), nil
	}
	set, name := splitOperator(operator)
	name, ifExists := strings.CutSuffix(name, "IfExists")
	c, known := comparisons[name]
	if !known || !slices.Contains([]string{"", "ForAllValues", "ForAnyValue"}, set) {
		return false, fmt.Errorf("the condition operator %q is unknown here", operator)
	}
	holds := func(v string) bool {
		return slices.ContainsFunc(want, func(w string) bool { return c.compare(w, v) }) != c.negated
	}
	switch {
	case set == "ForAllValues": // holds for a key that is absent
		return !slices.ContainsFunc(have, func(v string) bool { return !holds(v) }), nil
	case set == "ForAnyValue":
		return slices.ContainsFunc(have, holds) || ifExists && len(have) == 0, nil
	case len(have) == 0:
		return ifExists || c.negated, nil
	case len(have) > 1:
		return false, fmt.Errorf("the key of %s has %d values: write ForAllValues or ForAnyValue", operator, len(have))
	}
	return holds(have[0]), nil
}

// splitOperator returns the set that an operator is qualified by, or "", and its name.
func splitOperator(operator string) (set, name string) {
	set, name, qualified := strings.Cut(operator, ":")
	if !qualified {
		return "", operator
	}
	return set, name
}

// matchesARN compares ARNs part by part: a * matches within a part, and in the last one to its end.
func matchesARN(want, have string) bool {
	const parts = 6
	w, h := strings.SplitN(want, ":", parts), strings.SplitN(have, ":", parts)
	return slices.EqualFunc(w, h, matches)
}
