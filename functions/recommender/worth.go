package recommender

import (
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/money"
)

// leastSaving is the smallest saving of a recommendation, in USD a month.
var leastSaving = money.FromInt(1)

// worthwhile reports whether a saving is at least 1 USD a month or computed later, or the rule is not about money that
// counts. A snapshot that is kept for a month does not matter: the months after it save everything.
func worthwhile(r *rule.Rule, s *recommendation.Savings) bool {
	saves := s.Gross
	if s.Copy != nil {
		saves = saves.Add(s.Copy.USD)
	}
	return !r.Savings.Counts() || s.Later || saves.Cmp(leastSaving) >= 0
}

// severityOf returns the severity of a finding. An amount that is computed later lowers it then.
func severityOf(r *rule.Rule, given rule.Severity, s *recommendation.Savings) recommendation.Severity {
	if s.Later {
		return recommendation.Severity(given.String())
	}
	return recommendation.Severity(r.SeverityAt(given, s.Net).String())
}
