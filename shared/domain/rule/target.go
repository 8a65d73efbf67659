package rule

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// Target is the change that a verb makes: steps in their order, or the values that facts have after the change. A
// fresh read of the facts shows whether the change was made, and the facts read before it are the way back. Text
// has the grammar
//
//	target  = [ item { " " item } ]
//	item    = step | name ( "=" | "+=" | "-=" ) value | "needs=" need | "restore=start"
//	        | "validate=" duration | "payback=" duration
//	value   = "?" | "''" | "@" formula [ "*" number ] | ( "res." | "m." | "p." | "org." ) name [ "*" number ]
//	        | word { "," word }
type Target struct {
	Steps    []string
	Settings []Setting
	Needs    []string      // what must hold before the change; see Need
	Restore  bool          // the same workflow sets the values back before the resource starts
	Validate time.Duration // how long the change is watched; 0: as long as the verb says
	Payback  time.Duration // the longest time in which the cost of the change is earned back; 0: it costs nothing
}

// Setting is one value after a change.
type Setting struct {
	Name  string // a fact of the type; facts of origin "change" are never read by a condition
	Op    string // "=" sets the value, "+=" adds to a number or a list, "-=" takes from it
	Value Value
}

// ValueKind tells where a value comes from.
type ValueKind string

// The kinds of values.
const (
	Literal   ValueKind = "literal"
	FromFact  ValueKind = "res"
	FromUse   ValueKind = "m"
	FromParam ValueKind = "p"
	FromOrg   ValueKind = "org"
	Computed  ValueKind = "@" // by a formula; see Formula
	Asked     ValueKind = "?" // the request states it
)

// Value is the right side of a setting. Text is the literal, or the name of the fact, metric, parameter or formula.
// Factor multiplies a number: 1 leaves it.
type Value struct {
	Kind   ValueKind
	Text   string
	Factor float64
}

// Formula returns the description of a formula, and whether there is such a formula.
func Formula(name string) (text string, ok bool) {
	text, ok = formulas[name]
	return text, ok
}

// TargetValue returns the name under which the evidence of a recommendation has the value of a setting that a formula
// has found.
func TargetValue(setting string) string { return "target_" + setting }

// IsFound reports whether the evaluation finds the value by a formula, and shows it in the evidence. For other formulas
// a person gives the value.
func (v Value) IsFound() bool {
	return v.Kind == Computed && (v.Text == "sized" || v.Text == "smaller" || v.Text == "half")
}

var formulas = map[string]string{
	"burstable": "the cheapest burstable type that holds the use",
	"carried":   "what the storage can do now, and never less than measured use needs (peak x 1.2)",
	"cheapest":  "the cheapest value that does the same",
	"fixed":     "the type of the same size without credits",
	"half":      "half of the present number",
	"included":  "what the price includes",
	"larger":    "the next larger size",
	"local":     "the same kind without copies in other zones or regions",
	"needed":    "the least that holds the measured use with headroom",
	"newer":     "the same size in the newest generation",
	"newest":    "the newest one that the provider offers",
	"sized":     "the cheapest size that holds the measured use with headroom, within all limits",
	"smaller":   "the next smaller size",
	"smallest":  "the smallest size that holds the measured use",
	"supported": "the nearest version in standard support",
	"used":      "the measured use",
}

// Need returns the description of a precondition, and whether there is such a precondition.
func Need(name string) (text string, ok bool) {
	text, ok = needs[name]
	return text, ok
}

var needs = map[string]string{
	"data_volume":     "it is no boot volume",
	"drivers":         "the hypervisor stays the same, or ENA and NVMe drivers are proven",
	"healthy_targets": "every target is healthy",
	"licence":         "the organization holds the licence",
	"replacement":     "its replacement is in use",
	"stopped":         "the resource, or the machine that uses it, is stopped",
	"unused_access":   "the access that ends was not used for 14 days",
}

// ParseTarget reads a target of a verb in machine form. It checks the grammar; Check knows the names. The kind of an
// error is Invalid.
func ParseTarget(verb Verb, text string) (Target, error) {
	var t Target
	for item := range strings.FieldsSeq(text) {
		if !t.add(verb, item) {
			return Target{}, fault.New(fault.Invalid, "target %q of %s: %q is no step of the verb and no setting: "+
				"give steps, or settings as iops=3000", fault.CleanText(text, 120), verb, fault.CleanText(item, 60))
		}
	}
	if len(t.Steps) == 0 && len(t.Settings) == 0 && verb != VerbAdvice {
		return Target{}, fault.New(fault.Invalid, "target of %s is %q: give steps, or settings as iops=3000", verb,
			fault.CleanText(text, 120))
	}
	return t, nil
}

// add reads one item, and reports whether it is well formed.
func (t *Target) add(verb Verb, item string) bool {
	name, value, is := strings.Cut(item, "=")
	if !is {
		t.Steps = append(t.Steps, item)
		return verb.allows(item)
	}
	if done, ok := t.addCondition(name, value); done {
		return ok
	}
	op := "="
	if i := len(name) - 1; i > 0 && (name[i] == '+' || name[i] == '-') {
		name, op = name[:i], name[i:]+"="
	}
	v, ok := parseValue(value)
	t.Settings = append(t.Settings, Setting{name, op, v})
	return ok && isName(name) && (len(stepsOf[verb]) == 0 || verb == VerbDelete)
}

// addCondition reads an item that is about the change and not about a fact.
func (t *Target) addCondition(name, value string) (done, ok bool) {
	var err error
	switch name {
	case "needs":
		t.Needs = append(t.Needs, value)
		_, ok = Need(value)
		return true, ok
	case "restore":
		t.Restore = true
		return true, value == "start"
	case "validate":
		t.Validate, err = time.ParseDuration(value)
		return true, err == nil && t.Validate > 0
	case "payback":
		t.Payback, err = time.ParseDuration(value)
		return true, err == nil && t.Payback > 0
	}
	return false, false
}

// parseValue reads the right side of a setting, and reports whether it is well formed.
func parseValue(text string) (Value, bool) {
	if text == "?" {
		return Value{Kind: Asked, Factor: 1}, true
	}
	if formula, is := strings.CutPrefix(text, "@"); is {
		return scaled(Computed, formula)
	}
	kind, name, _ := strings.Cut(text, ".")
	switch k := ValueKind(kind); k { //nolint:exhaustive // the others are literals
	case FromFact, FromUse, FromParam, FromOrg:
		return scaled(k, name)
	}
	words := strings.Split(text, ",")
	return Value{Literal, strings.Trim(text, "'"), 1}, text == "''" || !slices.ContainsFunc(words, isNoWord)
}

// scaled reads "name" or "name*1.2".
func scaled(kind ValueKind, text string) (Value, bool) {
	name, by, has := strings.Cut(text, "*")
	v := Value{kind, name, 1}
	if has {
		f, err := strconv.ParseFloat(by, 64)
		if v.Factor = f; err != nil || !(f > 0 && f <= 10) {
			return v, false
		}
	}
	if kind == Computed {
		_, known := Formula(name)
		return v, known
	}
	return v, isName(name)
}

// isNoWord reports whether text has characters that a literal cannot have.
func isNoWord(text string) bool {
	return text == "" || strings.ContainsFunc(text, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("_-./:", c)
	})
}
