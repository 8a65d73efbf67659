package remediation

import (
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/rule"
)

// Means is how a rule is carried out on resources of a type.
type Means struct {
	Executable bool
	Verb       rule.Verb
	Why        string   // why it cannot be carried out; empty if it can
	Undo       string   // how the change is given back; empty if it cannot be carried out
	Needs      []string // parameters that the request must give
}

// ScheduleParameter is the parameter of the verb schedule: the schedule to attach.
const ScheduleParameter = "scheduleID"

// MeansOf returns how a rule is carried out on resources of a type of a provider. A nil rule is one that is not in the
// table any more, or an organization's own rule.
func MeansOf(r *rule.Rule, provider, kind string) Means {
	if r == nil {
		return Means{Why: "the rule is not built in: what it recommends is done by people"}
	}
	m := Means{Verb: r.Verb}
	switch {
	case r.Verb.ForPeople():
		m.Why = "what it recommends is done by people"
	case UsesActions(r.Verb) && len(r.Target.Needs) > 0:
		m.Why = "it needs what cannot be checked yet: " + strings.Join(r.Target.Needs, ", ")
	case r.Verb == rule.VerbSchedule:
		m.Why, m.Undo = unactionable(provider, kind), "the schedule is detached again"
		m.Needs = []string{ScheduleParameter}
	case r.Verb == rule.VerbStop:
		m.Why, m.Undo = stopProblem(r, provider, kind), "it is started again, with the size that it had"
	case r.Verb == rule.VerbScale:
		m.Why, m.Undo = scaleProblem(r, kind), "the captured sizes are set again"
		m.Needs = askedSizes(r, kind)
	default:
		m.Why = changeProblem(r, kind)
		of, _ := cloud.ChangeOf(kind, cloud.ChangeVerb(r.Verb))
		m.Undo, m.Needs = of.Undo, askedValues(r)
	}
	if m.Executable = m.Why == ""; !m.Executable {
		m.Undo, m.Needs = "", nil
	}
	return m
}

// UsesActions reports whether existing code carries a verb out: actions, attachments and scalings. A cloud.Changer
// carries out the others.
func UsesActions(v rule.Verb) bool {
	return v == rule.VerbSchedule || v == rule.VerbStop || v == rule.VerbScale
}

func unactionable(provider, kind string) string {
	if k, known := cloud.KindOf(kind); known && k.Actionable {
		return ""
	}
	return provider + " resources of type " + kind + " cannot be started or stopped"
}

// stopProblem returns why a stop cannot be carried out: only the resource itself is stopped.
func stopProblem(r *rule.Rule, provider, kind string) string {
	if !slices.Equal(r.Target.Steps, []string{"self"}) {
		return "its steps are " + strings.Join(r.Target.Steps, ", ") +
			": only a stop of the resource itself is carried out"
	}
	return unactionable(provider, kind)
}

// Bound names a size of a group.
type Bound string

// The sizes of a group.
const (
	MinBound     Bound = "min"
	MaxBound     Bound = "max"
	DesiredBound Bound = "desired"
)

// bounds says which fact of a type is which size of its group. Other facts are not set by the verb scale.
var bounds = map[string]map[string]Bound{
	cloud.AWSASG:               {"min_size": MinBound, "max_size": MaxBound, "desired": DesiredBound},
	cloud.AWSECS:               {"min_capacity": MinBound, "desired": DesiredBound},
	cloud.AzureVMSS:            {"autoscale_min": MinBound, "capacity": DesiredBound},
	cloud.GCPMIG:               {"min_replicas": MinBound, "target_size": DesiredBound},
	cloud.KubernetesDeployment: {"hpa_min": MinBound, "hpa_max": MaxBound, "replicas": DesiredBound},
}

func scaleProblem(r *rule.Rule, kind string) string {
	known := bounds[kind]
	if known == nil {
		return "groups of type " + kind + " are not scaled"
	}
	for _, s := range r.Target.Settings {
		if known[s.Name] == "" || s.Op != "=" {
			return "it sets " + s.Name + ", which the verb scale does not: add an autoscaler policy instead"
		}
	}
	return ""
}

// askedSizes returns the facts whose new values the request must give, because the rule has a formula for them.
func askedSizes(r *rule.Rule, kind string) []string {
	var out []string
	for _, s := range r.Target.Settings {
		if bounds[kind][s.Name] != "" && s.Value.Kind != rule.Literal {
			out = append(out, s.Name)
		}
	}
	return out
}

// SizesOf returns the sizes that a rule sets on groups of a type: those of the rule, and those of the parameters.
func SizesOf(r *rule.Rule, kind string, parameters map[string]string) (map[Bound]int64, error) {
	out := map[Bound]int64{}
	for _, s := range r.Target.Settings {
		text, from := s.Value.Text, "rule "+r.ID
		if s.Value.Kind != rule.Literal {
			text, from = parameters[s.Name], "parameters."+s.Name
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 0 {
			return nil, errParameter(from, text, "give a whole number of 0 or more")
		}
		out[bounds[kind][s.Name]] = n
	}
	return out, nil
}

// CheckParameters returns fault.Invalid for parameters that the means of a target do not take, or lack.
func CheckParameters(m Means, parameters map[string]string) error {
	for name, value := range parameters {
		if !slices.Contains(m.Needs, name) {
			return errParameter("parameters."+name, value,
				"leave it out: the verb "+string(m.Verb)+describeNeeds(m.Needs))
		}
	}
	for _, name := range m.Needs {
		if parameters[name] == "" {
			return errParameter("parameters."+name, "", "send it: the verb "+string(m.Verb)+describeNeeds(m.Needs))
		}
	}
	return nil
}

func describeNeeds(names []string) string {
	if len(names) == 0 {
		return " takes no parameters here"
	}
	return " takes " + strings.Join(names, ", ")
}
