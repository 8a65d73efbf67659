package anomaly

import (
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// Rules are the settings of an organization and the other parameters of judging.
type Rules struct {
	Settings
	MinUSD  money.Amount   // a baseline below it is never judged: the organization's anomalyMinUSD
	OrgDays []money.Amount // the organization's series; new spend is compared with it
	change  int            // change number of the settings when they were read
}

// Spike is a cost above the baseline on a day.
type Spike struct {
	Cost     money.Amount
	Baseline money.Amount // the mean cost of the days of Back, rounded at the last place of an Amount
	Severity Severity
	NewSpend bool  // there is no baseline that could be judged by
	Back     []int // how many days before the day those lie that the baseline is made of
}

// Excess returns the cost above the baseline.
func (s *Spike) Excess() money.Amount { return s.Cost.Sub(s.Baseline) }

// Percent returns the excess in percent of the baseline, rounded down to a tenth, so that no warning reads 100 %. It
// returns false without a baseline.
func (s *Spike) Percent() (money.Amount, bool) {
	if s.NewSpend || s.Baseline.Sign() <= 0 {
		return money.Amount{}, false
	}
	p := s.Excess().MulDiv(money.FromInt(100), s.Baseline)
	shown := p.Round(1)
	if shown.Cmp(p) > 0 {
		shown = shown.Sub(money.FromScaled(1, 1))
	}
	return shown, true
}

var (
	weekBack    = []int{1, 2, 3, 4, 5, 6, 7}
	typicalBack = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
)

// baseline is a mean before the division, for exact comparisons.
type baseline struct {
	sum  money.Amount
	n    int64
	back []int
}

// Judge judges the day i of a scope's series, which has one amount for each day. Days before the first cost do not
// count.
func (r *Rules) Judge(of ScopeType, days []money.Amount, i int) (Spike, bool) {
	if days[i].Sign() <= 0 {
		return Spike{}, false
	}
	return r.judge(of, days, i, firstDay(days))
}

func firstDay(days []money.Amount) int {
	return slices.IndexFunc(days, func(a money.Amount) bool { return !a.IsZero() })
}

// judge is Judge with the index of the first day that cost anything.
func (r *Rules) judge(of ScopeType, days []money.Amount, i, first int) (Spike, bool) {
	age, least := i-first, leastDays
	if r.MinimumHistory {
		least = leastAge
	}
	if first < 0 || age < least {
		return r.newSpend(of, days, i)
	}
	if r.WeekdayBaseline && age >= leastAge {
		return r.judgeSimilar(of, days, i, first)
	}
	base := mean(days, i, weekBack[:min(trailing, age)])
	if r.tooSmall(&base) {
		return r.newSpend(of, days, i)
	}
	return r.spikeAbove(of, days[i], &base, func(excess float64) bool {
		before := history{cost: floatsOf(days[max(first, i-bandDays):i])}
		return r.NoiseBand && excess < before.noise()
	})
}

// tooSmall reports whether a baseline cannot be judged by.
func (r *Rules) tooSmall(b *baseline) bool {
	return b.sum.Sign() <= 0 || b.sum.Cmp(r.MinUSD.MulInt(b.n)) < 0
}

// judgeSimilar compares a day with similar days: the baseline is the median of the nine days before, or that of the
// same weekday or of the interval at which costs recur when it is higher.
func (r *Rules) judgeSimilar(of ScopeType, days []money.Amount, i, first int) (Spike, bool) {
	base := medianBack(days, i, typicalBack)
	if excess := scaledExcess(days[i], &base); !r.tooSmall(&base) && severityOf(excess, base.sum) == "" {
		return Spike{}, false // for a higher baseline, too
	}
	h := newHistory(days[max(first, i-comparedDays):i])
	if similar := medianBack(days, i, h.similarBack()); similar.isAbove(&base) {
		base = similar
	}
	if r.tooSmall(&base) {
		return r.newSpend(of, days, i)
	}
	return r.spikeAbove(of, days[i], &base, func(above float64) bool {
		e := excess{h, base.sum.Float64() / float64(base.n), above}
		return r.NoiseBand && above < h.noise() || e.isOrdinary(i-first, r.MinimumHistory)
	})
}

// spikeAbove returns the spike of a cost above its baseline. It returns false if the excess is too small, or ordinary.
func (r *Rules) spikeAbove(of ScopeType, cost money.Amount, base *baseline, ordinary func(float64) bool) (Spike, bool) {
	excess := scaledExcess(cost, base)
	severity := severityOf(excess, base.sum)
	if severity == "" || r.belowFloor(of, excess, base.n) || ordinary(excess.Float64()/float64(base.n)) {
		return Spike{}, false
	}
	return Spike{Cost: cost, Baseline: base.sum.DivInt(base.n), Severity: severity, Back: base.back}, true
}

// scaledExcess returns the excess of a cost above its baseline, times the number of days of the baseline.
func scaledExcess(cost money.Amount, base *baseline) money.Amount {
	return cost.MulInt(base.n).Sub(base.sum)
}

// isAbove compares the means of two baselines.
func (b *baseline) isAbove(other *baseline) bool {
	return b.sum.MulInt(other.n).Cmp(other.sum.MulInt(b.n)) > 0
}

// medianBack returns the median of past days, named by how many days they lie back: one day, or the mean of two.
func medianBack(days []money.Amount, i int, back []int) baseline {
	var room [typicalDays]int
	sorted := append(room[:0], back...)
	slices.SortFunc(sorted, func(a, b int) int { return days[i-a].Cmp(days[i-b]) })
	n := len(sorted)
	return mean(days, i, slices.Clone(sorted[(n-1)/2:n/2+1]))
}

func mean(days []money.Amount, i int, back []int) baseline {
	b := baseline{n: int64(len(back)), back: back}
	for _, n := range back {
		b.sum.Increase(&days[i-n])
	}
	return b
}

// severityOf compares an excess with a baseline; both are scaled by the same number. The comparison is exact, and
// thresholds are inclusive.
func severityOf(excess, base money.Amount) Severity {
	ten := excess.MulInt(10)
	for _, t := range tenths {
		if ten.Cmp(base.MulInt(t.tenths)) >= 0 {
			return t.severity
		}
	}
	return ""
}

func (r *Rules) belowFloor(of ScopeType, excess money.Amount, n int64) bool {
	return r.Floors && excess.Cmp(r.FloorsUSD[of].MulInt(n)) < 0
}

// newSpend judges a day without a baseline, if the settings ask for it.
func (r *Rules) newSpend(of ScopeType, days []money.Amount, i int) (Spike, bool) {
	if !r.NewSpend || of == Org || i >= len(r.OrgDays) {
		return Spike{}, false
	}
	least := money.FromInt(50)
	if share := r.OrgDays[i].MulInt(5).DivInt(100); share.Cmp(least) > 0 {
		least = share
	}
	return Spike{Cost: days[i], Severity: Warning, NewSpend: true}, days[i].Cmp(least) >= 0
}
