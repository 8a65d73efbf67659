package recommender

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule/condition"
)

// youngest is the age below which rules about money skip a resource.
const youngest = 7 * day

// recreators are the controllers that recreate or revert their resources: a change must be made at the controller.
// Tools of infrastructure as code are none: their resources get a patch.
var recreators = []string{"asg", "eks", "gke", "aks", "operator", "backup"}

// evaluator evaluates the rules of resources of one type. One goroutine uses it, for one resource after another.
type evaluator struct {
	*inputs
	org      *orgRules
	rules    []compiledRule
	settings map[settingKey]*setting
	subject  *condition.Subject
	rollups  condition.Rollups
	derived  []*derivation // of the facts that the conditions read

	// of the resource under evaluation; their memory is used again for the next one
	current subject
	missing []recommendation.Missing
	asks    []string // the metrics that must be confirmed
}

// newEvaluator returns the evaluator of a type, or nil if no rules are about it.
func (in *inputs) newEvaluator(org *orgRules, kind string) (*evaluator, error) {
	rules, err := org.rulesOf(kind)
	if err != nil || len(rules) == 0 || !isKnownType(kind) {
		return nil, err
	}
	return in.evaluatorFor(org, kind, rules)
}

// evaluatorFor returns an evaluator of some rules of a type.
func (in *inputs) evaluatorFor(org *orgRules, kind string, rules []compiledRule) (*evaluator, error) {
	e := &evaluator{
		inputs: in, org: org, rules: rules, settings: map[settingKey]*setting{},
		derived: derivedFacts(kind, rules, org),
	}
	var err error
	if e.subject, err = org.compiler.catalogue.NewSubject(kind); err != nil {
		return nil, err
	}
	e.subject.Now = in.now
	for name, value := range in.settings {
		e.subject.Org.Set(name, value)
	}
	e.rollups.Kind = kind
	return e, nil
}

// derivedFacts returns the derivations of facts that conditions, or the guards of rules about money, read.
func derivedFacts(kind string, rules []compiledRule, org *orgRules) []*derivation {
	names := []string{"managed_by", environmentFact}
	for i := range rules {
		if c := rules[i].condition; c != nil {
			names = append(names, c.Facts...)
		}
		for _, c := range org.excludesOf(rules[i].Rule) {
			names = append(names, c.Facts...)
		}
		names = append(names, rules[i].Savings.Names...)
	}
	slices.Sort(names)
	var out []*derivation
	for _, name := range slices.Compact(names) {
		if d := derivationOf(kind, name); d != nil {
			out = append(out, d)
		}
	}
	return out
}

// begin makes a resource the one that is evaluated: it reads the facts of its stored record and derives the others.
func (e *evaluator) begin(r *record, stored []byte, usage func(string) measurement.Use) (*subject, error) {
	e.current = subject{
		inputs: e.inputs, Resource: r.Resource, facts: e.subject.Facts, usage: usage, rollups: &e.rollups,
		end: e.end,
	}
	s := &e.current
	e.asks = e.asks[:0]
	if err := s.facts.ReadRecord(stored); err != nil {
		return nil, fmt.Errorf("evaluate %s: %w", r.UID, err)
	}
	e.subject.Metrics.Reset(s)
	for _, d := range e.derived {
		if d.fact != "tags" && s.facts.Known(d.fact) {
			continue
		}
		if v, why := d.derive(s); why == "" {
			s.facts.Set(d.fact, v)
		} else {
			s.facts.Miss(d.fact, why, "")
		}
	}
	return s, nil
}

// decided is the outcome of a rule's condition for the subject. The missing facts hold until the next decision.
type decided struct {
	*compiledRule
	as      *setting
	outcome recommendation.Outcome
	missing []recommendation.Missing
}

// decideRule decides the condition of a rule.
func (e *evaluator) decideRule(r *compiledRule, s *subject) (decided, error) {
	as, err := e.settingOf(r, s)
	if err != nil {
		return decided{}, err
	}
	outcome, missing := e.decide(r, as)
	return decided{r, as, outcome, missing}, nil
}

// complete returns the finding of a rule whose condition is decided. A true one gets its saving and its evidence.
func (e *evaluator) complete(d *decided, s *subject, content content) recommendation.Finding {
	f := newFinding(d.compiledRule, s, content)
	if f.Outcome, f.Missing = d.outcome, d.missing; f.Outcome != recommendation.True {
		return f
	}
	if e.verify(d.compiledRule, d.as, s, &f); f.Outcome == recommendation.True {
		e.explain(d.compiledRule, d.as, s, &f)
	}
	if s.fine {
		e.readFine(s, false)
	}
	return f
}

// isTrue reports whether the condition of a rule is true.
func (e *evaluator) isTrue(r *compiledRule, s *subject) (bool, error) {
	as, err := e.settingOf(r, s)
	if err != nil {
		return false, err
	}
	outcome, _ := e.decide(r, as)
	return outcome == recommendation.True, nil
}

// rewind lets conditions read the metrics as of some days before the last one.
func (e *evaluator) rewind(s *subject, days int) {
	s.rewind(days)
	e.subject.Metrics.Reset(s)
}

func newFinding(r *compiledRule, s *subject, content content) recommendation.Finding {
	return recommendation.Finding{
		RuleID: r.ID, RuleVersion: r.Version, Resource: resourceOf(s, content), Metrics: r.window > 0,
		Category: string(r.Category), Effort: string(r.Effort), Risk: string(r.Risk), Title: r.Title,
	}
}

// decide returns the outcome of a rule's condition. Without the facts of an exclude, a true condition is unknown.
func (e *evaluator) decide(r *compiledRule, as *setting) (recommendation.Outcome, []recommendation.Missing) {
	switch {
	case !as.enabled:
		return recommendation.Off, nil
	case r.condition == nil:
		return recommendation.Unknown, []recommendation.Missing{{Fact: "condition", Reason: invalidRule}}
	}
	e.missing = e.missing[:0]
	undecided := false
	for _, exclude := range as.excludes {
		result := e.subject.Evaluate(exclude, exclude.Default())
		switch result.Truth {
		case condition.True:
			return recommendation.Off, nil
		case condition.Unknown:
			undecided, e.missing = true, appendMissing(e.missing, result.Missing)
		case condition.False:
		}
	}
	result := e.subject.Evaluate(r.condition, as.params)
	switch {
	case result.Truth == condition.False:
		return recommendation.False, nil
	case result.Truth == condition.Unknown || undecided:
		e.missing = appendMissing(e.missing, result.Missing)
		return recommendation.Unknown, e.missing
	}
	return recommendation.True, nil
}

// verify completes the finding of a true condition with its saving. Rules about money skip young resources and those
// that a controller recreates, and are false below 1 USD a month.
func (e *evaluator) verify(r *compiledRule, as *setting, s *subject, f *recommendation.Finding) {
	f.Outcome = recommendation.False
	if r.Category.IsCost() && e.skips(s) {
		return
	}
	if len(r.Confirm) > 0 && !e.confirm(r, as, s, f) {
		return
	}
	f.Outcome = recommendation.False
	savings, version, why := s.savingsOf(r.Rule)
	if why != "" {
		f.Outcome = recommendation.Unknown
		f.Missing = []recommendation.Missing{{Fact: "savings", Reason: string(why)}}
		return
	}
	if !worthwhile(r.Rule, &savings) {
		return
	}
	f.Outcome, f.Savings, f.Evidence.PriceVersion = recommendation.True, savings, version
	f.Commitment, f.Code = s.committed(r.Rule), s.code()
	f.Severity = severityOf(r.Rule, as.severity, &savings)
}

// explain adds the evidence and the reason to a true finding.
func (e *evaluator) explain(r *compiledRule, as *setting, s *subject, f *recommendation.Finding) {
	version := f.Evidence.PriceVersion
	f.Evidence = e.evidence(r, as, s)
	f.Evidence.PriceVersion, f.Reason = version, reasonOf(r, f.Evidence.Values)
}

// skips reports whether rules about money skip a resource.
func (e *evaluator) skips(s *subject) bool {
	controller, _ := e.subject.Facts.Value("managed_by").(string)
	return e.now.Sub(s.Since()) < youngest || slices.Contains(recreators, controller)
}

// evidence returns the values that a condition was decided on.
func (e *evaluator) evidence(r *compiledRule, as *setting, s *subject) recommendation.Evidence {
	out := recommendation.Evidence{
		Values: map[string]any{}, Thresholds: as.thresholds, Rule: r.ID, RuleVersion: r.Version, At: e.now,
	}
	for _, name := range r.condition.Facts {
		if v := e.subject.Facts.Value(name); v != nil {
			out.Values[name] = shownValue(v)
		}
	}
	for _, name := range r.condition.Metrics {
		if m := e.subject.Metrics.Value(name); m.Reason == "" {
			out.Values[name] = m.Value
		}
	}
	s.addTargets(r.Rule, out.Values)
	if env := e.subject.Facts.Value(environmentFact); r.Autonomous && env != nil { // says whether it may run alone
		out.Values[environmentFact] = env
	}
	if r.window > 0 {
		out.Window, out.Points = fmt.Sprintf("%dd", r.window), s.pointsOf(r.condition.Metrics)
	}
	if s.fine {
		out.Confirmed = s.confirmation.Day
	}
	return out
}

// pointsOf returns the smallest number of hours with a value of collected metrics.
func (s *subject) pointsOf(metrics []string) (least int) {
	for _, m := range cloud.MetricsOf(s.Type) {
		if !slices.Contains(metrics, m.Name) {
			continue
		}
		if points := s.countPoints(m); least == 0 || points < least {
			least = points
		}
	}
	return least
}

// countPoints counts the hours of a metric's window in which its first measure has a value. In an hour of a collected
// day without a point, a count is 0.
func (s *subject) countPoints(m cloud.Metric) (points int) {
	days := s.measurements().Days(m.Of[0])
	for ago := 1; ago <= m.Days; ago++ {
		switch values := days.Hours(ago); {
		case values == nil:
		case m.Of[0].IsCount():
			points += len(values)
		default:
			points += countValues(values)
		}
	}
	return points
}

// shownValue returns a value as evidence stores it.
func shownValue(v any) any {
	if t, is := v.(time.Time); is {
		return t.UTC().Format(time.RFC3339)
	}
	return v
}

// longestReason limits the text of a finding's reason, in bytes.
const longestReason = 400

// reasonOf returns the values that decided, in the order in which the condition reads them.
func reasonOf(r *compiledRule, values map[string]any) string {
	var b strings.Builder
	for _, name := range slices.Concat(r.condition.Facts, r.condition.Metrics) {
		v, there := values[name]
		text := fmt.Sprintf("%s is %v", name, v)
		if !there || b.Len()+len(text) > longestReason {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(text)
	}
	return b.String()
}

// resourceOf identifies the subject in a finding.
func resourceOf(s *subject, c content) recommendation.Resource {
	return recommendation.Resource{
		ResourceID: s.ID, ResourceUID: s.UID, ResourceName: s.Name, ResourceType: s.Type, Provider: s.Provider,
		CloudAccountID: s.CloudAccountID, Region: s.Region, ResourceVersion: int64(c),
	}
}

// appendMissing appends the missing names of a result.
func appendMissing(out []recommendation.Missing, missing []condition.Missing) []recommendation.Missing {
	for _, m := range missing {
		one := recommendation.Missing{Fact: m.Name, Reason: string(m.Reason)}
		if m.Reason == condition.Denied {
			one.Permission, _, _ = strings.Cut(m.Detail, ": ")
		}
		out = append(out, one)
	}
	return out
}

// isState reports whether a rule reads no metrics, and so can be decided when a discovery has changed a resource.
func (r *compiledRule) isState() bool { return r.window == 0 }

var _ condition.Source = (*subject)(nil)

// isTerminated reports whether a resource has ended in its cloud.
func (r *record) isTerminated() bool { return r.Status == cloud.Terminated }
