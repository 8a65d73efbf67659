package recommender

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/money"
)

// cheaperTarget returns the price of the resource less its price with the settings of the rule's target, at public
// prices, as a share of its cost. It returns unpriced if the price depends on a setting whose value a formula finds.
func (s *subject) cheaperTarget(r *rule.Rule) (amount, condition.Reason) {
	table := s.tables.table(pricing.ProviderRegion{Provider: s.Provider, Region: s.Region})
	if table == nil {
		return amount{}, unpriced
	}
	if table.Stale(s.now) {
		return amount{}, condition.Stale
	}
	if class, why, finds := s.foundClass(r); finds && class == "" {
		return amount{version: table.Version}, why
	}
	if s.Type == cloud.AWSAurora {
		return s.memberTarget(r, table)
	}
	target, priced := s.targetOf(r)
	now, then := pricing.Rate(table, s.priceable()), pricing.Rate(table, target)
	if !priced || !now.OK() || !then.OK() || now.Shared || now.Hourly.IsZero() {
		return amount{}, unpriced
	}
	whole, why := s.wholeCost()
	if why != "" {
		whole = amount{
			gross: now.Hourly.MulInt(pricing.HoursPerMonth), basis: recommendation.Estimated, version: table.Version,
		}
	}
	return whole.scaled(now.Hourly.Sub(then.Hourly), now.Hourly), ""
}

// memberTarget returns the cost of the instances of a cluster less their cost with the class of the rule's target,
// claimed at the instances: the cluster itself costs its storage.
func (s *subject) memberTarget(r *rule.Rule, table *pricing.Table) (amount, condition.Reason) {
	i := slices.IndexFunc(r.Target.Settings, func(set rule.Setting) bool { return set.Name == "class" })
	if i < 0 {
		return amount{}, unpriced
	}
	class, known := s.settingValue(r, r.Target.Settings[i])
	m := s.machine()
	q := sizeQuery{region: m.Region, kind: m.Type, inputs: m.Inputs}
	now, priced := q.hourly(table, m.Class)
	then, offered := q.hourly(table, class)
	if !known || !priced || !offered {
		return amount{}, unpriced
	}
	out := amount{basis: recommendation.Billed, version: table.Version}
	for _, one := range s.parts[s.UID].members {
		c, billed := s.bills.monthly(s.CloudAccountID, one.uid, s.Since())
		if !billed || len(out.claims) == recommendation.MaxClaims {
			return amount{}, unpriced
		}
		saved := amount{gross: c.all, committed: c.committed}.scaled(now.Sub(then), now)
		out.gross, out.committed = out.gross.Add(saved.gross), out.committed.Add(saved.committed)
		out.claims = append(out.claims, recommendation.Claim{
			ResourceID: one.id, USD: positive(saved.gross.Sub(saved.committed)), Cost: positive(c.all),
		})
	}
	return out, ""
}

// priceable returns the fields that the price of the resource depends on.
func (s *subject) priceable() pricing.Resource {
	return pricing.Resource{
		Type: s.Type, Region: s.Region, Class: s.InstanceType, Status: s.Status, Capacity: s.Capacity,
		Inputs: inventory.IndexedFacts(s.Type, s.inputFacts()),
	}
}

// inputFacts returns the facts that prices depend on.
func (s *subject) inputFacts() map[string]any {
	out := map[string]any{}
	s.addInputFacts(out)
	return out
}

// addInputFacts adds the known facts that prices depend on.
func (s *subject) addInputFacts(to map[string]any) {
	for _, name := range inventory.IndexedFactNames(s.Type) {
		if v := s.facts.Value(name); v != nil {
			to[name] = v
		}
	}
}

// targetOf returns the resource with the target's settings. It returns false if a setting that the price depends on has
// no known value.
func (s *subject) targetOf(r *rule.Rule) (pricing.Resource, bool) {
	out, facts, changed := s.priceable(), s.inputFacts(), false
	for _, set := range r.Target.Settings {
		value, known := s.settingValue(r, set)
		switch {
		case set.Name == "class" && known:
			out.Class, changed = value, true
		case set.Name == "class":
			return out, false
		case !slices.Contains(inventory.IndexedFactNames(s.Type), set.Name):
			continue
		case set.Value.Kind == rule.Computed && set.Value.Text == "carried":
			continue // it can do afterwards what it can do now
		case !known:
			return out, false
		default:
			facts[set.Name], changed = typedLike(facts[set.Name], value), true
		}
	}
	out.Inputs = inventory.IndexedFacts(s.Type, facts)
	return out, changed
}

// settingValue returns the text of a setting that the rule itself, a fact or the measured use names, or a formula
// finds.
func (s *subject) settingValue(r *rule.Rule, set rule.Setting) (string, bool) {
	switch {
	case set.Op != "=":
		return "", false
	case set.Value.Kind == rule.FromUse:
		m := s.Statistic(set.Value.Text)
		return rule.SettingText(set.Name, m.Value*set.Value.Factor), m.Reason == ""
	case set.Value.Kind == rule.Computed:
		return s.computedValue(r, set)
	case set.Value.Factor != 1:
		return "", false
	case set.Value.Kind == rule.Literal:
		return set.Value.Text, true
	case set.Value.Kind == rule.FromFact:
		text, is := s.facts.Value(set.Value.Text).(string)
		return text, is && text != ""
	}
	return "", false
}

// typedLike returns a text as a value of the kind of an earlier one.
func typedLike(earlier any, text string) any {
	switch earlier.(type) {
	case bool:
		return strings.EqualFold(text, "true")
	case float64:
		if n, err := money.Parse(text); err == nil {
			return n.Float64()
		}
	}
	return text
}
