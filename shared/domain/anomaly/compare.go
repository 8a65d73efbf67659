package anomaly

import (
	"math"
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// comparison is how a day that may be above similar days compares with them.
type comparison struct {
	baseline
	unusual bool // the day is 30 % above the baseline, above the noise, and its cost has not recurred
}

// dayComparison is a comparison and its day.
type dayComparison struct {
	day int
	comparison
}

// compareFrom compares the days of a resource from an index on with similar days, once for all scopes that it is in.
func (s *Series) compareFrom(r *Rules, from int) {
	s.unusual, s.upTo = s.unusual[:0], 0
	if s.Type != Resource || !r.WeekdayBaseline {
		return
	}
	for i := max(from, s.firstDay()+leastAge); i < s.Days.Len(); i++ {
		if c := s.compare(r, i); c != nil {
			s.unusual = append(s.unusual, dayComparison{i, *c})
		}
	}
	s.from, s.upTo = from, s.Days.Len()
}

// compared returns the comparison of a day. It returns nil for a typical day.
func (s *Series) compared(r *Rules, i int) *comparison {
	if i < s.from || i >= s.upTo {
		return s.compare(r, i)
	}
	n := slices.IndexFunc(s.unusual, func(d dayComparison) bool { return d.day == i })
	if n < 0 {
		return nil
	}
	return &s.unusual[n].comparison
}

// compare compares a day with similar days. It returns nil for a typical day. The day is at least 14 days after the
// first cost.
func (s *Series) compare(r *Rules, i int) *comparison {
	cost := s.Days.At(i)
	if cost.Sign() <= 0 || cost.Cmp(r.MinUSD) < 0 || isTypical(&s.Days, i) {
		return nil
	}
	first := s.firstDay()
	h := newHistory(&s.Days, max(first, i-comparedDays), i)
	c := comparison{baseline: s.baselineOn(r, i, h)}
	e := excess{h, c.mean().Float64(), c.excess(cost)}
	c.unusual = isUnusual(cost, &c.baseline) && !(r.NoiseBand && e.amount < h.noise()) &&
		!e.isOrdinary(i-first, r.MinimumHistory)
	return &c
}

// baselineOn returns the baseline of a day: the typical cost, or the median of the same weekday or of the interval at
// which costs recur if it is higher. For a resource the interval counts too if it is clearly lower; the sum of many
// resources seems to have intervals by chance. A lower baseline that is too small to judge by does not count.
func (s *Series) baselineOn(r *Rules, i int, h *history) baseline {
	typical := s.typicalOn(r, i, h)
	similar := medianBack(&s.Days, i, h.similarBack())
	isLower := s.Type == Resource && h.interval > 0 && !r.tooSmall(&similar) && isUnusual(typical.mean(), &similar)
	if isLower || similar.isAbove(&typical) {
		return similar
	}
	return typical
}

// typicalOn returns the typical cost of a day: the median of the nine days before, or that of the 21 days before if it
// is lower and costs do not recur at an interval. So a slow rise is found.
func (s *Series) typicalOn(r *Rules, i int, h *history) baseline {
	recent := medianBack(&s.Days, i, typicalBack).notNegative()
	if h.interval > 0 || len(h.cost) < slowDays || medianOf(h.cost[len(h.cost)-slowDays:]) >= h.typical[len(h.cost)] {
		return recent
	}
	if slow := medianBack(&s.Days, i, slowBack); recent.isAbove(&slow) && !r.tooSmall(&slow) {
		return slow
	}
	return recent
}

// isUnusual reports whether a cost is 30 % above a baseline.
func isUnusual(cost money.Amount, base *baseline) bool {
	return severityOf(scaledExcess(cost, base), base.sum) != ""
}

// isTypical reports whether a day is clearly below 130 % of each cost that could become its baseline: the medians of
// nine and of 21 days before, and that of the days at any interval that is clearly lower. It compares ranks, and so
// excludes most days at little expense.
func isTypical(days *money.Series, i int) bool {
	cost := days.At(i)
	rank := cost.Rank()
	if rank == math.MaxInt64 { // it is larger than ranks are
		return false
	}
	low := int64(float64(rank) / 1.299)
	var ranks [longestInterval*repetitions + 1]int64 // by days back; a day that is not known has none
	for n := 1; n < len(ranks) && n <= i; n++ {
		earlier := days.At(i - n)
		ranks[n] = earlier.Rank()
	}
	if !mostAbove(ranks[1:typicalDays+1], low) || !mostAbove(ranks[1:slowDays+1], low) {
		return false
	}
	for n := shortestInterval; n <= longestInterval; n++ {
		repeated := middle(ranks[n], ranks[2*n], ranks[3*n])
		if repeated <= low && mostAbove(ranks[1:typicalDays+1], int64(1.299*float64(repeated))) {
			return false
		}
	}
	return true
}

// mostAbove reports whether most numbers, and so their median, are above low.
func mostAbove(of []int64, low int64) bool {
	n := 0
	for _, x := range of {
		if x > low {
			n++
		}
	}
	return n > len(of)/2
}

// notNegative returns the baseline, or 0 for one that refunds have made negative.
func (b baseline) notNegative() baseline {
	if b.sum.Sign() < 0 {
		return baseline{n: 1}
	}
	return b
}
