package recommender

import (
	"context"
	"slices"

	"lamplighter.dev/shared/domain/recommendation"
)

// countKey identifies a count: a rule and an account.
type countKey struct{ rule, account string }

// keep counts a finding, and keeps it if it may change a row. known are the rules with a row that a false condition may
// change.
func (e *evaluation) keep(f *recommendation.Finding, known []string) {
	e.count(f.RuleID, f.Resource.CloudAccountID, f.Outcome, f.Missing)
	if f.Outcome == recommendation.True || mayChange(f.Outcome, f.RuleID, known) {
		e.findings = append(e.findings, *f)
	}
}

// mayChange reports whether an outcome that is not true may change a row of a rule. An unknown condition changes none.
func mayChange(outcome recommendation.Outcome, ruleID string, known []string) bool {
	return outcome != recommendation.Unknown && slices.Contains(known, ruleID)
}

// count counts the outcome of a rule for a resource. A rule that is off for the resource was not evaluated.
func (e *evaluation) count(
	ruleID, account string, outcome recommendation.Outcome, missing []recommendation.Missing,
) {
	if outcome == recommendation.Off {
		return
	}
	k := countKey{ruleID, account}
	c := e.counts[k]
	if c == nil {
		c = &recommendation.RuleCount{RuleID: k.rule, AccountID: k.account}
		e.counts[k] = c
	}
	c.Evaluated++
	switch outcome {
	case recommendation.True:
		c.True++
	case recommendation.False:
		c.False++
	case recommendation.Unknown, recommendation.Gone, recommendation.Off, recommendation.Booked:
		c.Unknown++
		e.settled.Unknown++
	}
	for _, m := range missing {
		c.Miss(m, 1)
	}
}

// writeCounts stores the counts of a part by rule and account.
func (e *evaluation) writeCounts(ctx context.Context, part int) error {
	counts := make([]recommendation.RuleCount, 0, len(e.counts))
	for _, c := range e.counts {
		counts = append(counts, *c)
	}
	return e.rows.WriteCounts(ctx, e.org, part, counts)
}
