package rule

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
)

// Limits of what an organization writes itself.
const (
	MaxOwnRules = 500
	MaxOwnBytes = 16_000 // of one own rule, and of the overrides of one built-in rule, as JSON without spaces
	maxOwnID    = 80     // characters
	maxOwnTitle = 200    // characters
)

// OwnRule is a rule that an organization wrote itself, as it is sent, exported and stored. Params holds numbers, and
// durations as texts.
type OwnRule struct {
	ID           string         `json:"id" minLength:"1" maxLength:"80" example:"custom-unused-volume" doc:"Begins with custom-"`
	Title        string         `json:"title" minLength:"1" maxLength:"200"`
	ResourceType string         `json:"resourceType" minLength:"1" maxLength:"64" example:"aws-ebs" doc:"A type of resource, or aws-* for every type of a provider"`
	Category     string         `json:"category" enum:"idle,orphan,rightsizing,schedule,discount,governance,compliance,security,reliability"`
	Severity     string         `json:"severity" enum:"info,low,medium,high,critical" doc:"Of a row that saves 100 USD a month or more, or nothing"`
	Condition    string         `json:"condition" minLength:"1" maxLength:"16000" doc:"In CEL, over res, m, p, org and now"`
	Params       map[string]any `json:"params,omitempty" doc:"Numbers, and durations as \"168h\"; the condition reads each as p.<name>"`
	Effort       string         `json:"effort,omitempty" enum:"low,medium,high" doc:"medium by default"`
	Risk         string         `json:"risk,omitempty" enum:"low,medium,high" doc:"medium by default"`
	Remediation  string         `json:"remediation" minLength:"1" maxLength:"2000" doc:"The change in words"`
	Verb         string         `json:"verb,omitempty" maxLength:"20" doc:"The change in machine form; advice by default"`
	Target       string         `json:"target,omitempty" maxLength:"500" doc:"What the verb changes"`
	Savings      string         `json:"savings,omitempty" maxLength:"100" example:"all" doc:"none (by default), all, compute, hours, rate, part:<charge class>, to:<fact> or fact:<name>; bound: before it shows an amount that counts 0"`
	Source       string         `json:"source,omitempty" maxLength:"500" doc:"Where the rule comes from"`
	Enabled      *bool          `json:"enabled,omitempty" doc:"true by default; false: no recommendations"`
	Fixtures     Fixtures       `json:"fixtures" doc:"The condition must be true, false and unknown as they say"`
}

// Example is a set of values to try a condition with.
type Example struct {
	Res      map[string]any     `json:"res,omitempty" doc:"Facts, as JSON has them: times in RFC 3339"`
	M        map[string]float64 `json:"m,omitempty" doc:"Metrics"`
	NoPoints []string           `json:"noPoints,omitempty" maxItems:"50" doc:"Metrics that were queried and have no points"`
	Org      map[string]any     `json:"org,omitempty" doc:"Settings of the organization"`
}

// Fixtures are the examples that show what a condition means. With True it is true. With the values of False in their
// place it is false. Without the values of Unknown ("m.cpu_max_14d") it is unknown, and names them as missing.
type Fixtures struct {
	True    Example  `json:"true" doc:"Values that make the condition true"`
	False   Example  `json:"false" doc:"Values that, in place of those of true, make it false"`
	Unknown []string `json:"unknown" minItems:"1" maxItems:"50" doc:"Values without which it is unknown" example:"[\"m.cpu_max_14d\"]"`
}

// IsOwnID reports whether an ID is one of rules that organizations write themselves.
func IsOwnID(ruleID string) bool { return strings.HasPrefix(ruleID, CustomPrefix) }

// IsEnabled reports whether the rule makes recommendations.
func (o *OwnRule) IsEnabled() bool { return o.Enabled == nil || *o.Enabled }

// Rule returns the rule of a version. It checks everything that needs no CEL. The kind of an error is Invalid.
func (o *OwnRule) Rule(version int) (*Rule, error) {
	r, err := o.Draft(version)
	if err != nil {
		return nil, err
	}
	return r, Check(r)
}

// Draft returns the rule of a version, and an error of kind Invalid if a field has no such value. It does not check the
// rule (Check): package condition names the place of a wrong name, so its errors come first.
func (o *OwnRule) Draft(version int) (*Rule, error) {
	if err := o.checkSize(); err != nil {
		return nil, err
	}
	provider, _, _ := strings.Cut(o.ResourceType, "-")
	r := &Rule{
		ID: o.ID, Provider: provider, Type: o.ResourceType, Title: o.Title, Condition: o.Condition,
		Source: cmp.Or(o.Source, "a rule of the organization"), Remediation: o.Remediation,
		Category: Category(o.Category), Effort: Level(cmp.Or(o.Effort, string(Medium))),
		Risk: Level(cmp.Or(o.Risk, string(Medium))), Version: version, Verb: Verb(cmp.Or(o.Verb, string(VerbAdvice))),
	}
	if !slices.Contains(verbs, r.Verb) {
		return nil, fault.New(fault.Invalid, "rule %s: verb %q is not one of %v", o.ID,
			fault.CleanText(o.Verb, 20), verbs)
	}
	var errs [4]error
	r.Severity, errs[0] = ParseSeverity(o.Severity)
	r.Params, errs[1] = newParams(o.Params)
	r.Target, errs[2] = ParseTarget(r.Verb, o.Target)
	r.Savings, errs[3] = ParseSavings(cmp.Or(o.Savings, string(SavesNothing)))
	for _, err := range errs {
		if err != nil {
			return nil, fault.New(fault.Invalid, "rule %s: %s", o.ID, fault.Message(err))
		}
	}
	return r, nil
}

// checkSize refuses an ID that a built-in rule could have, and a rule that is too long.
func (o *OwnRule) checkSize() error {
	shown := fault.CleanText(o.ID, maxOwnID)
	if err := CheckOwnID(o.ID); err != nil {
		return err
	}
	if len(o.Title) > maxOwnTitle*4 || len(o.ID) > maxOwnID {
		return fault.New(fault.Invalid, "rule %s: the id has at most %d characters, the title %d", shown, maxOwnID,
			maxOwnTitle)
	}
	b, err := json.Marshal(o)
	if err != nil {
		return fault.NewWithCause(fault.Invalid, err, "rule %s cannot be written as JSON", shown)
	}
	if len(b) > MaxOwnBytes {
		return fault.New(fault.Invalid, "rule %s has %d bytes as JSON: at most %d are allowed; shorten its texts, or "+
			"split it into several rules", shown, len(b), MaxOwnBytes)
	}
	return nil
}

// CheckOwnID returns an error of kind Invalid for an ID that an own rule cannot have, or nil.
func CheckOwnID(ruleID string) error {
	shown := fault.CleanText(ruleID, maxOwnID)
	switch {
	case ByID(ruleID) != nil:
		return fault.New(fault.Invalid, "id: %s is a built-in rule; give another id, as %s%[1]s, or change the "+
			"built-in rule by an override", shown, CustomPrefix)
	case !IsOwnID(ruleID) || !idForm.MatchString(ruleID):
		return fault.New(fault.Invalid, "id: %q is no id of an own rule; give %s and lower-case words with hyphens "+
			"between them, as %[2]sidle-in-test", shown, CustomPrefix)
	}
	return nil
}

// newParams returns the parameters of an own rule by name.
func newParams(values map[string]any) ([]Param, error) {
	texts, err := paramTexts(values)
	if err != nil {
		return nil, err
	}
	out := make([]Param, 0, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		kind, ok := paramKind(texts[name])
		if _, quoted := values[name].(string); !ok || quoted != (kind == DurationParam) || !isName(name) {
			return nil, fault.New(fault.Invalid, "parameter %s is %v: give a number, or a duration as \"168h\"",
				fault.CleanText(name, 40), fault.CleanText(texts[name], 40))
		}
		out = append(out, Param{name, kind, texts[name]})
	}
	return out, nil
}

// paramTexts returns values of parameters as texts.
func paramTexts(values map[string]any) (map[string]string, error) {
	out := make(map[string]string, len(values))
	for name, value := range values {
		switch v := value.(type) {
		case string:
			out[name] = v
		case float64:
			out[name] = strconv.FormatFloat(v, 'f', -1, 64)
		case int64: // Param.Value
			out[name] = strconv.FormatInt(v, 10)
		default:
			return nil, fault.New(fault.Invalid, "parameter %s is %s: give a number, or a duration as \"168h\"",
				fault.CleanText(name, 40), fault.CleanText(fmt.Sprint(value), 40))
		}
	}
	return out, nil
}
