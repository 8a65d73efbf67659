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

	// Members holds Back of each resource whose excess makes up that of the scope; other costs count as expected. It is
	// nil for a scope that is compared with its own past.
	Members map[string][]int
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
	weekBack    = daysBack(week)
	typicalBack = daysBack(typicalDays)
	slowBack    = daysBack(slowDays)
)

// daysBack returns the numbers from 1 to n.
func daysBack(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i + 1
	}
	return out
}

// baseline is a mean before the division, for exact comparisons.
type baseline struct {
	sum  money.Amount
	n    int64
	back []int
}

// Judge judges the day i of a scope's series, which has one amount for each day. Days before the first cost do not
// count.
func (r *Rules) Judge(of ScopeType, days money.Series, i int) (Spike, bool) {
	if days.At(i).Sign() <= 0 {
		return Spike{}, false
	}
	s := Series{Scope: Scope{Type: of}, Days: days}
	return r.judgeOwn(&s, i)
}

// judgeOwn judges a day of a series by the days before it. Its cost is above 0.
func (r *Rules) judgeOwn(s *Series, i int) (Spike, bool) {
	first, least := s.firstDay(), leastDays
	if r.MinimumHistory {
		least = leastAge
	}
	age := i - first
	if first < 0 || age < least {
		return r.newSpend(s.Type, s.Days.At(i), i)
	}
	if r.WeekdayBaseline && age >= leastAge {
		return r.judgeSimilar(s, i)
	}
	base := mean(&s.Days, i, weekBack[:min(trailing, age)])
	if r.tooSmall(&base) {
		return r.newSpend(s.Type, s.Days.At(i), i)
	}
	before := history{cost: floatsOf(&s.Days, max(first, i-bandDays), i)}
	if above := base.excess(s.Days.At(i)); r.NoiseBand && above < before.noise() {
		return Spike{}, false
	}
	return r.spikeAbove(s.Type, s.Days.At(i), &base)
}

// tooSmall reports whether a baseline cannot be judged by.
func (r *Rules) tooSmall(b *baseline) bool {
	return b.sum.Sign() <= 0 || b.sum.Cmp(r.MinUSD.MulInt(b.n)) < 0
}

// judgeSimilar compares a day with similar days.
func (r *Rules) judgeSimilar(s *Series, i int) (Spike, bool) {
	c := s.compared(r, i)
	if c == nil {
		return Spike{}, false
	}
	if r.tooSmall(&c.baseline) {
		return r.newSpend(s.Type, s.Days.At(i), i)
	}
	if !c.unusual {
		return Spike{}, false
	}
	return r.spikeAbove(s.Type, s.Days.At(i), &c.baseline)
}

// spikeAbove returns the spike of a cost above its baseline. It returns false if the excess is too small.
func (r *Rules) spikeAbove(of ScopeType, cost money.Amount, base *baseline) (Spike, bool) {
	excess := scaledExcess(cost, base)
	severity := severityOf(excess, base.sum)
	if severity == "" || r.belowFloor(of, excess, base.n) {
		return Spike{}, false
	}
	return Spike{Cost: cost, Baseline: base.mean(), Severity: severity, Back: base.back}, true
}

// scaledExcess returns the excess of a cost above its baseline, times the number of days of the baseline.
func scaledExcess(cost money.Amount, base *baseline) money.Amount {
	return cost.MulInt(base.n).Sub(base.sum)
}

// excess returns how far a cost is above a baseline.
func (b *baseline) excess(cost money.Amount) float64 {
	excess := scaledExcess(cost, b)
	return excess.Float64() / float64(b.n)
}

// mean returns the baseline, rounded at the last place of an Amount.
func (b baseline) mean() money.Amount { return b.sum.DivInt(b.n) }

// isAbove compares the means of two baselines.
func (b *baseline) isAbove(other *baseline) bool {
	return b.sum.MulInt(other.n).Cmp(other.sum.MulInt(b.n)) > 0
}

// medianBack returns the median of past days, named by how many days they lie back: one day, or the mean of two.
func medianBack(days *money.Series, i int, back []int) baseline {
	var room [slowDays]int
	sorted := append(room[:0], back...)
	slices.SortFunc(sorted, func(a, b int) int { return days.At(i - a).Cmp(days.At(i - b)) })
	n := len(sorted)
	return mean(days, i, slices.Clone(sorted[(n-1)/2:n/2+1]))
}

func mean(days *money.Series, i int, back []int) baseline {
	b := baseline{n: int64(len(back)), back: back}
	for _, n := range back {
		cost := days.At(i - n)
		b.sum.Increase(&cost)
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

// newSpend judges the cost of day i, which has no baseline, if the settings ask for it.
func (r *Rules) newSpend(of ScopeType, cost money.Amount, i int) (Spike, bool) {
	if !r.NewSpend || of == Org || i >= len(r.OrgDays) {
		return Spike{}, false
	}
	least := money.FromInt(50)
	if share := r.OrgDays[i].MulInt(5).DivInt(100); share.Cmp(least) > 0 {
		least = share
	}
	return Spike{Cost: cost, Severity: Warning, NewSpend: true}, cost.Cmp(least) >= 0
}
