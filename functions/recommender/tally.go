package recommender

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/money"
)

// ruleTally counts the findings of a plan for one rule.
type ruleTally struct {
	recommendation.RulePlanResult
	counts  recommendation.RuleCount // of the missing facts
	samples map[string]int           // by effect
	days    map[string]*recommendation.PlanDay
	billed  map[string]billedMatch // by native id
}

// billedMatch is the saving of a match, and the cost of its resource, in USD a month.
type billedMatch struct{ saves, costs money.Amount }

func newTally(
	id string, base *recommendation.RuleSet, next *recommendation.RuleDefinition,
) *ruleTally {
	out := &ruleTally{
		samples: map[string]int{}, days: map[string]*recommendation.PlanDay{}, billed: map[string]billedMatch{},
	}
	_, there := base.Definitions[id]
	out.RuleID = id
	switch {
	case next == nil:
		out.Change = recommendation.PlanRemoves
	case there:
		out.Change = recommendation.PlanChanges
	default:
		out.Change = recommendation.PlanAdds
	}
	return out
}

// add counts a resource: the findings of the rule in force and of the change, nil where there is no rule.
func (t *ruleTally) add(before, after *planFinding) {
	t.Evaluated++
	if isTrue(before) {
		t.Before++
		t.SavedUSD.Before = t.SavedUSD.Before.Add(before.Savings.Net)
	}
	if isTrue(after) {
		t.After++
		t.SavedUSD.After = t.SavedUSD.After.Add(after.Savings.Net)
		t.keepBilled(after)
	}
	if after != nil && after.Outcome == recommendation.Unknown {
		t.Unknown++
		for _, m := range after.Missing {
			t.counts.Miss(m, 1)
		}
		return // it closes nothing
	}
	t.addEffect(before, after)
}

// addEffect counts the effect of the change on a resource. The rule is not unknown for it.
func (t *ruleTally) addEffect(before, after *planFinding) {
	switch was, is := isTrue(before), isTrue(after); {
	case is && !was:
		t.Opened++
		t.sample(recommendation.SampleOpened, after)
	case was && !is:
		t.Closed++
		t.sample(recommendation.SampleClosed, before)
	case was && showsOther(before, after):
		t.Changed++
		t.sample(recommendation.SampleChanged, after)
	case was:
		t.sample(recommendation.SampleSame, after)
	}
}

func isTrue(f *planFinding) bool { return f != nil && f.Outcome == recommendation.True }

// showsOther reports whether two true findings show another severity or saving.
func showsOther(a, b *planFinding) bool {
	return a.Severity != b.Severity || a.Savings.Net.Cmp(b.Savings.Net) != 0 ||
		a.Savings.Gross.Cmp(b.Savings.Gross) != 0 || a.Title != b.Title
}

// keepBilled notes a match for the backtest over bills.
func (t *ruleTally) keepBilled(f *planFinding) {
	if len(t.billed) < recommendation.MaxBilled {
		t.billed[f.Resource.ResourceUID] = billedMatch{f.Savings.Net, f.Savings.Cost}
	}
}

// sample keeps the first findings of an effect.
func (t *ruleTally) sample(effect string, f *planFinding) {
	if t.samples[effect] >= recommendation.MaxSamples {
		return
	}
	t.samples[effect]++
	f.explain()
	t.Samples = append(t.Samples, recommendation.PlanSample{
		Effect: effect, ResourceID: f.Resource.ResourceID, ResourceUID: f.Resource.ResourceUID,
		ResourceName: f.Resource.ResourceName, AccountID: f.Resource.CloudAccountID, Severity: f.Severity,
		Reason: f.Reason, Values: f.Evidence.Values, Thresholds: f.Evidence.Thresholds, NetUSD: f.Savings.Net,
	})
}

// results returns the results by rule, and sums them up in the plan.
func (r *planRun) results() []recommendation.RulePlanResult {
	out := make([]recommendation.RulePlanResult, 0, len(r.tallies))
	sum := &r.plan.Totals
	for _, id := range r.change.IDs() {
		t := r.tallies[id]
		t.Missing = t.counts.MostMissing()
		for _, day := range r.plan.Backtest.Days {
			if d := t.days[day]; d != nil {
				t.Days = append(t.Days, *d)
			}
		}
		slices.SortStableFunc(t.Samples, func(a, b recommendation.PlanSample) int {
			return strings.Compare(a.Effect, b.Effect)
		})
		sum.Rules++
		sum.Opened, sum.Closed, sum.Changed = sum.Opened+t.Opened, sum.Closed+t.Closed, sum.Changed+t.Changed
		sum.Unknown += t.Unknown
		sum.Before, sum.After = sum.Before.Add(t.SavedUSD.Before), sum.After.Add(t.SavedUSD.After)
		out = append(out, t.RulePlanResult)
	}
	return out
}
