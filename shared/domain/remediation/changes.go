package remediation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/rule"
)

// changeProblem returns why a rule is not carried out by a change of its resource's values, or its removal.
func changeProblem(r *rule.Rule, kind string) string {
	of, known := cloud.ChangeOf(kind, cloud.ChangeVerb(r.Verb))
	switch {
	case !known:
		return fmt.Sprintf("no executor carries out the verb %s for %s: make the change by hand, and mark it applied",
			r.Verb, kind)
	case r.Target.Restore || r.Target.Payback > 0:
		return "it depends on what happens later, which is not checked: make the change by hand, and mark it applied"
	}
	for _, need := range r.Target.Needs {
		if !slices.Contains(of.Holds, need) {
			return "it needs what cannot be checked yet: " + need
		}
	}
	if of.Verb.RemovesResource() {
		return stepsProblem(r, &of)
	}
	return settingsProblem(r, &of)
}

// usedInPlan are the rules of resources that are in use by their own condition: the plan of a removal refuses them.
var usedInPlan = []string{"aws-eip-on-detached-interface", "azure-appserviceplan-all-stopped"}

// stepsProblem returns why the steps of a removal are not carried out.
func stepsProblem(r *rule.Rule, of *cloud.KindChange) string {
	switch {
	case slices.Contains(usedInPlan, r.ID):
		return "its resource is still attached to another one: detach it by hand first"
	case of.Verb == cloud.Delete && strings.Contains(r.Condition, "m."):
		return "only metrics show that it is unused, which no read before the deletion proves: delete it by hand"
	}
	for _, step := range r.Target.Steps {
		if step != cloud.StepSelf && step != cloud.StepMark && (step != cloud.StepCopy || !of.Copies) {
			return "its step " + step + " is not carried out: make the change by hand, and mark it applied"
		}
	}
	if len(r.Target.Settings) > 0 {
		return "it sets " + r.Target.Settings[0].Name + " beside its steps, which is not carried out"
	}
	return ""
}

// settingsProblem returns why the settings of a rule are not carried out.
func settingsProblem(r *rule.Rule, of *cloud.KindChange) string {
	for _, s := range r.Target.Settings {
		switch {
		case !slices.Contains(of.Sets, s.Name):
			return "it sets " + s.Name + ", which is not changed for " + of.Type
		case s.Op == "-=" && s.Value.Kind == rule.Literal && slices.Contains(of.Takes, s.Name):
		case s.Op == "+=" && slices.Contains(of.Adds, s.Name):
		case s.Op != "=":
			return "it adds to " + s.Name + ", which is not carried out"
		case s.Value.Kind == rule.FromOrg:
			return "it takes " + s.Name + " from the settings of the organization, which is not carried out"
		}
	}
	return ""
}

// askedValues returns the settings whose values the request must give: those with a formula whose value the evidence
// does not have, those that the rule leaves open, and those of a metric that the condition does not read, so that no
// evidence has it.
func askedValues(r *rule.Rule) []string {
	var out []string
	for _, s := range r.Target.Settings {
		if isAsked(r, s.Value) {
			out = append(out, s.Name)
		}
	}
	return out
}

func isAsked(r *rule.Rule, v rule.Value) bool {
	switch v.Kind { //nolint:exhaustive // the others are the rule's, or the evidence has them
	case rule.Asked:
		return true
	case rule.Computed:
		return "@"+v.Text != cloud.Carried && !v.IsFound()
	case rule.FromUse:
		return !strings.Contains(r.Condition, "m."+v.Text)
	}
	return false
}

// Observed is the stored evidence of a recommendation: values and thresholds by name.
type Observed struct{ Values, Thresholds map[string]any }

// ValuesOf returns the values that a rule sets: its own, those of the evidence, and those of the request. The kind of
// an error is Invalid.
func ValuesOf(r *rule.Rule, seen Observed, parameters map[string]string) (cloud.Values, error) {
	out := cloud.Values{}
	for _, s := range r.Target.Settings {
		text, err := valueOf(s, seen)
		if isAsked(r, s.Value) {
			text, err = givenText(s.Name, parameters)
		}
		if err != nil {
			return nil, err
		}
		if out[s.Name] = text; s.Op == "+=" {
			out[s.Name] = cloud.Added + text
		}
	}
	return out, nil
}

// valueOf returns a value that the request does not give.
func valueOf(s rule.Setting, seen Observed) (string, error) {
	switch v := s.Value; v.Kind { //nolint:exhaustive // FromOrg is not carried out
	case rule.Literal:
		if s.Op == "-=" {
			return cloud.Taken + v.Text, nil
		}
		return v.Text, nil
	case rule.Computed:
		if v.IsFound() {
			s.Value = rule.Value{Kind: rule.FromFact, Text: rule.TargetValue(s.Name), Factor: 1}
			break
		}
		return cloud.Carried, nil
	case rule.FromParam:
		return evidenceText(s, seen.Thresholds)
	}
	return evidenceText(s, seen.Values)
}

// givenText returns a value that the request gives.
func givenText(name string, parameters map[string]string) (string, error) {
	text := parameters[name]
	if text == "" || len(text) > 100 || strings.ContainsFunc(text, isControl) {
		return "", errParameter("parameters."+name, text, "give the new value as a text of 1 to 100 characters")
	}
	return text, nil
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// evidenceText returns a value of the evidence as a text. A number is multiplied by the factor of the setting and
// rounded up: the change gives no less than what was measured.
func evidenceText(s rule.Setting, values map[string]any) (string, error) {
	switch v := values[s.Value.Text].(type) {
	case string:
		if v != "" {
			return v, nil
		}
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return rule.SettingText(s.Name, v*s.Value.Factor), nil
	case int:
		return rule.SettingText(s.Name, float64(v)*s.Value.Factor), nil
	}
	return "", errParameter("evidence."+s.Value.Text, "",
		"the stored evidence has no such value: wait for the next evaluation, or make the change by hand")
}

// WaitBeforeDelete returns how long a marked resource waits for its deletion.
func (t *Target) WaitBeforeDelete() time.Duration {
	switch {
	case cloud.IsSnapshot(t.ResourceType):
		return cloud.DeleteWaitSnapshot
	case !t.NonProduction:
		return cloud.DeleteWaitProduction
	}
	return cloud.DeleteWait
}
