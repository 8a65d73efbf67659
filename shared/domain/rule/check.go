package rule

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
)

var idForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+){1,12}$`)

// Check returns what is wrong with a rule, or nil: an unknown category, level or verb, a name that its type does not
// declare, a parameter that the condition does not read or lacks, savings that the target does not bring about. It
// does not compile the condition (package condition does). The kind of an error is Invalid.
func Check(r *Rule) error {
	for _, check := range []func(*Rule) string{
		checkWords, checkCondition, checkParams, checkTarget, checkSavings, checkConfirm,
	} {
		if problem := check(r); problem != "" {
			return fault.New(fault.Invalid, "rule %s: %s", fault.CleanText(r.ID, 80), problem)
		}
	}
	return nil
}

// CheckAll returns what is wrong with the first wrong rule of a list, or nil. An ID that occurs twice is wrong.
func CheckAll(rules []Rule) error {
	had := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		if had[r.ID] {
			return fault.New(fault.Invalid, "rule %s: the ID occurs twice", fault.CleanText(r.ID, 80))
		}
		had[r.ID] = true
		if err := Check(r); err != nil {
			return err
		}
	}
	return nil
}

func checkWords(r *Rule) string {
	switch {
	case !idForm.MatchString(r.ID):
		return "the ID is not made of lower-case words with hyphens between them"
	case !strings.HasPrefix(r.Type, r.Provider+"-"):
		return fmt.Sprintf("type %q is no type of provider %q", fault.CleanText(r.Type, 60),
			fault.CleanText(r.Provider, 20))
	case !slices.Contains(categories, r.Category):
		return fmt.Sprintf("category %q is not one of %v", fault.CleanText(string(r.Category), 20), categories)
	case !slices.Contains(levels, r.Effort) || !slices.Contains(levels, r.Risk):
		return "effort and risk are not low, medium or high"
	case !slices.Contains(verbs, r.Verb):
		return fmt.Sprintf("verb %q is not one of %v", fault.CleanText(string(r.Verb), 20), verbs)
	case r.Title == "" || r.Remediation == "" || r.Source == "":
		return "title, remediation or source is empty"
	case r.Version < 1:
		return "the version is not 1 or more"
	case r.Autonomous && (r.Verb.ForPeople() || r.Risk != Low):
		return "a rule of a risk above low, or of a verb that nothing carries out, cannot be autonomous"
	}
	return ""
}

func checkCondition(r *Rule) string {
	refs := ReferencesOf(r.Condition)
	for _, name := range refs.Facts {
		if f, ok := FactOf(r.Type, name); !ok || f.Origin == OfChange {
			return fmt.Sprintf("res.%s is no fact of %s%s", name, r.Type, nearest(name, factNames(r.Type)))
		}
	}
	for _, name := range refs.Metrics {
		if _, ok := MetricOf(r.Type, name); !ok {
			return fmt.Sprintf("m.%s is no metric of %s%s", name, r.Type, nearest(name, metricNames(r.Type)))
		}
	}
	for _, name := range refs.Settings {
		if !slices.Contains(orgSettings, name) {
			return fmt.Sprintf("org.%s is no setting of an organization%s", name, nearest(name, orgSettings))
		}
	}
	if len(refs.Facts)+len(refs.Metrics)+len(refs.Settings) == 0 {
		return "the condition reads no fact and no metric"
	}
	return ""
}

func checkParams(r *Rule) string {
	used := ReferencesOf(r.Condition).Params
	for _, p := range r.Params {
		if !slices.Contains(used, p.Name) {
			return fmt.Sprintf("the condition does not read parameter %s: remove it, or read p.%s", p.Name, p.Name)
		}
	}
	for _, name := range used {
		if _, ok := r.Param(name); !ok {
			return fmt.Sprintf("the condition reads p.%s, which the parameters lack", name)
		}
	}
	return ""
}

func checkTarget(r *Rule) string {
	for _, s := range r.Target.Settings {
		if _, ok := FactOf(r.Type, s.Name); !ok {
			return fmt.Sprintf("the target sets %s, which is no fact of %s%s", s.Name, r.Type,
				nearest(s.Name, factNames(r.Type)))
		}
		if !r.declares(s.Value) {
			return fmt.Sprintf("the target reads %s.%s, which %s does not declare", s.Value.Kind, s.Value.Text, r.Type)
		}
	}
	return ""
}

// declares reports whether the rule or its type declares what a value reads.
func (r *Rule) declares(v Value) (ok bool) {
	switch v.Kind {
	case FromFact:
		_, ok = FactOf(r.Type, v.Text)
	case FromUse:
		_, ok = MetricOf(r.Type, v.Text)
	case FromParam:
		_, ok = r.Param(v.Text)
	case FromOrg:
		ok = slices.Contains(orgSettings, v.Text)
	default:
		ok = true
	}
	return ok
}

func checkSavings(r *Rule) string {
	switch s := r.Savings; s.Form {
	case SavesTo:
		if _, ok := FactOf(r.Type, s.Names[0]); !ok || !r.Target.changes(s.Names[0]) {
			return fmt.Sprintf("savings are %s, but the target does not set %s", s, s.Names[0])
		}
	case SavesFact:
		if unit := r.unitOf(s.Names[0]); unit != "USD" && unit != "GB" {
			return fmt.Sprintf("savings are %s, which is no fact and no metric in USD or GB of %s", s, r.Type)
		}
	case SavesNothing:
	default:
		if !r.Category.IsCost() && !slices.Contains([]Category{Governance, Reliability}, r.Category) {
			return fmt.Sprintf("savings are %s, but the category is %s", s, r.Category)
		}
	}
	return ""
}

// changes reports whether the target sets a fact, or sets another one to its value.
func (t Target) changes(fact string) bool {
	return slices.ContainsFunc(t.Settings, func(s Setting) bool {
		return s.Name == fact || s.Value.Kind == FromFact && s.Value.Text == fact
	})
}

// unitOf returns the unit of a fact or metric; "" without one.
func (r *Rule) unitOf(name string) string {
	if f, ok := FactOf(r.Type, name); ok {
		return f.Unit
	}
	m, _ := MetricOf(r.Type, name)
	return m.Unit
}

func checkConfirm(r *Rule) string {
	read := ReferencesOf(r.Condition).Metrics
	for _, name := range r.Confirm {
		if !slices.Contains(read, name) {
			return fmt.Sprintf("metric %s confirms the rule, but the condition does not read it", name)
		}
	}
	return ""
}
