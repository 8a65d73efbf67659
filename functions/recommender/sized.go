package recommender

import (
	"math"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/domain/sizing"
	"lamplighter.dev/shared/foundation/money"
)

// sizedAfter is the age, in days, from which a machine may get a smaller size: the window of its use.
const sizedAfter = 14

// The reasons why a target is unknown.
const (
	unlisted  condition.Reason = "sizes_unread"   // no discovery has read the machine types of the region
	unlimited condition.Reason = "limits_unknown" // cheaper types exist, but nobody knows whether they hold the use
)

// classSetting is the setting of a rule that names a machine type.
const classSetting = "class"

// The formulas that find a size.
const (
	formulaSized   = "sized"
	formulaSmaller = "smaller"
	formulaLarger  = "larger"
)

// classFormula returns the formula by which a rule finds a class, or "".
func classFormula(r *rule.Rule) string {
	for _, set := range r.Target.Settings {
		if set.Name == classSetting && set.Op == "=" && set.Value.Kind == rule.Computed {
			return set.Value.Text
		}
	}
	return ""
}

// isSized reports whether the sizer finds targets of resources of a type.
func isSized(kind string) bool { return cloud.IsSized(kind) || kind == cloud.GCPCloudSQL }

// lowersClass reports whether a rule finds a smaller machine type, for which the use must be known in fine points.
func lowersClass(r *rule.Rule, kind string) bool {
	f := classFormula(r)
	return isSized(kind) && (f == formulaSized || f == formulaSmaller)
}

// confirmedMetrics returns the metrics that a confirmation of a rule asks for: those of the rule, and the use that a
// target must hold.
func confirmedMetrics(r *compiledRule, kind string) []string {
	out := r.Confirm
	if lowersClass(r.Rule, kind) {
		out = slices.Clone(out)
		for _, m := range cloud.UseMetricsOf(kind) {
			out = append(out, m.Name)
		}
	}
	return out
}

// sizeTarget is the machine type that a rule finds for the subject, with what it must have; or why there is none.
type sizeTarget struct {
	sizing.Choice
	rule string           // that it was found for
	fine bool             // by confirmed points
	why  condition.Reason // why it is unknown; "" if it is known, or known that there is none
}

// foundClass returns the class that a rule finds, "" if none is cheaper and holds the use, or why it is unknown. It
// returns false for a rule that finds no lower class, or one for a type whose sizes nobody knows.
func (s *subject) foundClass(r *rule.Rule) (class string, why condition.Reason, finds bool) {
	switch f := classFormula(r); {
	case lowersClass(r, s.Type):
		t := s.sizedTarget(r)
		return t.Class, t.why, true
	case f == formulaSmaller && sizing.HasSteps(s.Type):
		class, known := sizing.StepDown(s.Type, s.InstanceType, s.stepUse())
		if !known {
			return "", unsized, true
		}
		return class, "", true
	}
	return "", "", false
}

// stepUse returns the measured use of a service that sells steps.
func (s *subject) stepUse() (u sizing.StepUse) {
	for _, name := range []string{"dtu_p99_14d", "cpu_p99_14d"} {
		if v, known := s.known(name); known {
			u.Units = max(u.Units, v*shareUnit(s.Type, name))
		}
	}
	if v, known := s.known("mem_p99_14d"); known {
		u.Memory = v * shareUnit(s.Type, "mem_p99_14d")
	}
	u.GB, _ = s.facts.Value("max_gb").(float64)
	return u
}

// computedValue returns the text of a setting that a formula finds, false if the formula is none of those, or finds
// nothing.
func (s *subject) computedValue(r *rule.Rule, set rule.Setting) (string, bool) {
	switch f := set.Value.Text; {
	case f == "half":
		n, is := s.facts.Value(set.Name).(float64)
		return rule.SettingText(set.Name, n/2), is
	case set.Name != classSetting:
		return "", false
	case f == formulaLarger && isSized(s.Type):
		class := s.sizedTarget(r).Class
		return class, class != ""
	case f == formulaLarger:
		class := sizing.StepUp(s.Type, s.InstanceType)
		return class, class != ""
	}
	class, _, _ := s.foundClass(r)
	return class, class != ""
}

// sizedTarget returns the target of a rule that finds a machine type. It is found once for a rule and its points.
func (s *subject) sizedTarget(r *rule.Rule) *sizeTarget {
	if t := s.target; t != nil && t.rule == r.ID && t.fine == s.fine {
		return t
	}
	t := s.findTarget(r)
	t.rule, t.fine = r.ID, s.fine
	s.target = &t
	return s.target
}

// findTarget chooses a machine type.
func (s *subject) findTarget(r *rule.Rule) sizeTarget {
	types, why := s.machineTypes()
	if why != "" {
		return sizeTarget{why: why}
	}
	m := s.machine()
	if s.now.Sub(s.Since()) < sizedAfter*day {
		return sizeTarget{} // its use in the window is not that of a whole one
	}
	if classFormula(r) == formulaLarger {
		return sizeTarget{Choice: sizing.Choice{Class: types.Larger(m.Class)}}
	}
	table := s.tables.table(pricing.ProviderRegion{Provider: s.Provider, Region: s.Region})
	switch {
	case table == nil:
		return sizeTarget{why: unpriced}
	case table.Stale(s.now):
		return sizeTarget{why: condition.Stale}
	}
	q := sizeQuery{region: m.Region, kind: m.Type, inputs: m.Inputs}
	if _, priced := q.hourly(table, m.Class); !priced {
		return sizeTarget{why: unpriced}
	}
	env := environmentOf(s.allTags())
	c := types.Choose(sizing.Question{
		Class: m.Class, Zone: s.Zone, Use: s.measuredUse(types, m.Class), Disks: float64(len(s.parts[s.UID].disks)),
		OneStep:  env != nonproduction || classFormula(r) == formulaSmaller,
		DiskFree: s.Type == cloud.AWSAurora || s.Type == "aws-elasticache",
		Price:    func(class string) (money.Amount, bool) { return q.hourly(table, class) },
	})
	return sizeTarget{Choice: c, why: map[sizing.Reason]condition.Reason{
		sizing.Unlisted: unsized, sizing.Unlimited: unlimited,
	}[c.Why]}
}

// machineTypes returns the machine types of the subject's region, or why they are unknown.
func (s *subject) machineTypes() (*sizing.Catalogue, condition.Reason) {
	if s.Type == cloud.GCPCloudSQL {
		return sizing.NewTiers(s.machine().Class), ""
	}
	l := s.sizes.list(pricing.ProviderRegion{Provider: s.Provider, Region: s.Region}, vendorOf(s.Type))
	switch {
	case l == nil:
		return nil, unlisted
	case l.stale:
		return nil, condition.Stale
	}
	return l.types, ""
}

// addTargets adds the values that formulas have found to the evidence of a finding, so that a change sets what was
// found. For a machine type, it adds what the type must have and what it has.
func (s *subject) addTargets(r *rule.Rule, values map[string]any) {
	for _, set := range r.Target.Settings {
		found := set.Value.IsFound() || set.Value.Kind == rule.Computed && set.Value.Text == formulaLarger
		if text, known := s.settingValue(r, set); found && known && text != "" {
			values[rule.TargetValue(set.Name)] = text
		}
	}
	if !lowersClass(r, s.Type) {
		return
	}
	t := s.sizedTarget(r)
	for _, one := range []struct {
		name        string
		need, limit float64
	}{
		{"vcpu", t.Need.VCPU, t.Size.VCPU},
		{"gib", t.Need.GiB, t.Size.GiB},
		{"iops", t.Need.IOPS, t.Size.IOPS},
		{"mibps", t.Need.MiBps, t.Size.MiBps},
		{"mbps", t.Need.Mbps, t.Size.Mbps},
	} {
		if one.need > 0 {
			values["need_"+one.name] = math.Ceil(one.need*100) / 100
		}
		if one.limit > 0 {
			values["limit_"+one.name] = math.Floor(one.limit*100) / 100
		}
	}
}
