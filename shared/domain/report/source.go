package report

import (
	"slices"
	"time"

	"lamplighter.dev/shared/domain/cost"
)

// The sources of a cost.
const (
	EstimatedCost = "estimated"
	ActualCost    = "actual"
)

// settling is the number of days until the bills of a day are complete, if the provider is in time.
const settling = 2

// CostSource returns the source of an answer's cost. It is actual if every settled day of the question is billed:
// today and yesterday are never billed, so their estimates do not count. If no day of the question is settled, it is
// actual if none is estimated.
func CostSource(q *cost.Question, a *cost.Answer, now time.Time) string {
	days := a.Estimated[:min(len(a.Estimated), DaysBetween(q.From, q.To))]
	if settled := DaysBetween(q.From, Midnight(now)) - settling + 1; settled > 0 && settled < len(days) {
		days = days[:settled]
	}
	if slices.Contains(days, true) {
		return EstimatedCost
	}
	return ActualCost
}
