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
	Baseline money.Amount // the mean over the days of Back, rounded at the last place of an Amount
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
	weekdayBack = []int{7, 14}
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
	base := r.baseline(days, i, age)
	if base.sum.Sign() <= 0 || base.sum.Cmp(r.MinUSD.MulInt(base.n)) < 0 {
		return r.newSpend(of, days, i)
	}
	excess := days[i].MulInt(base.n).Sub(base.sum) // scaled by n
	severity := severityOf(excess, base.sum)
	if severity == "" || r.belowFloor(of, excess, base.n) || r.NoiseBand &&
		inNoise(days[max(first, i-bandDays):i], excess, base.n) {
		return Spike{}, false
	}
	return Spike{Cost: days[i], Baseline: base.sum.DivInt(base.n), Severity: severity, Back: base.back}, true
}

// baseline returns the mean of the days before, or that of the same weekday when it is higher.
func (r *Rules) baseline(days []money.Amount, i, age int) baseline {
	week := mean(days, i, weekBack[:min(trailing, age)])
	if !r.WeekdayBaseline || age < trailing {
		return week
	}
	weekday := mean(days, i, weekdayBack[:min(age/trailing, len(weekdayBack))])
	if weekday.sum.MulInt(week.n).Cmp(week.sum.MulInt(weekday.n)) > 0 {
		return weekday
	}
	return week
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

// inNoise reports whether an excess, scaled by n, is below 3 × 1.4826 × the median absolute deviation of the days
// before.
func inNoise(before []money.Amount, excess money.Amount, n int64) bool {
	var room [2 * bandDays]money.Amount // not on the heap: this is done for each series
	sorted := append(room[:0:bandDays], before...)
	middle := median(sorted)
	for i := range sorted {
		sorted[i] = sorted[i].Sub(middle).Abs()
	}
	return excess.MulInt(10_000).Cmp(median(sorted).MulInt(44_478*n)) < 0
}

// median sorts amounts.
func median(of []money.Amount) money.Amount {
	slices.SortFunc(of, money.Amount.Cmp)
	n := len(of)
	if n%2 == 1 {
		return of[n/2]
	}
	return of[n/2-1].Add(of[n/2]).DivInt(2)
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
