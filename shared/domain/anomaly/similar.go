package anomaly

import (
	"math"
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// The numbers of days that a day is compared with.
const (
	comparedDays = 42 // the days before it that count at all
	typicalDays  = 9  // its typical cost is their median: it holds at least five working days
	slowDays     = 21 // or the median of these, if it is lower
	leastSettled = 4  // with fewer days before it, a day has no typical cost
	aMonth       = 31 // a younger scope may have a day of the month that it has not had before
)

// The intervals, in days, at which costs may recur: jobs every few days, and the week.
const (
	shortestInterval, longestInterval = 2, 10
	week                              = 7
	repetitions                       = 3 // of an interval: the expected cost is their median
)

// The limits of recognizing a pattern and recurring costs. They were measured: docs/decisions/060.
const (
	patternDays    = 28   // days over which the deviations of patterns are compared
	leastPattern   = 14   // of these, days that an interval must predict
	ignoredDays    = 2    // of these, the largest deviations, which may be anomalies themselves
	worthPattern   = 0.8  // an interval is chosen if it deviates less than this share of the typical cost's deviation
	clearlyBetter  = 0.9  // a longer interval must deviate less than this share of a shorter one
	unevenShare    = 0.05 // of the mean: a series that deviates less has no pattern worth a search
	noiseDeviation = 4 * 1.4826
)

// history is the cost of the days before a judged day, oldest first. It only decides which days are compared; the
// baseline is the exact cost of these. Refunds, which make a day negative, count as no cost.
type history struct {
	cost    []float64
	typical []float64 // by day, and one more for the judged day: the median of the days before it

	interval   int       // in days; 0 for a series that does not recur at one
	deviations []float64 // of the recent days from the pattern, absolute

	room [2*comparedDays + 1 + 2*patternDays]float64 // for the numbers above
}

// newHistory returns the history of the days from … to upTo, without the latter.
func newHistory(days *money.Series, from, upTo int) *history {
	h := &history{}
	n := upTo - from
	h.cost, h.typical = h.room[:n], h.room[n:2*n+1]
	setFloats(h.cost, days, from)
	h.setTypical()
	h.findInterval(h.room[2*n+1:2*n+1:2*n+1+patternDays], h.room[2*n+1+patternDays:2*n+1+patternDays])
	return h
}

// setTypical sets the typical costs. It keeps the days before a day sorted.
func (h *history) setTypical() {
	var room [typicalDays]float64
	sorted := room[:0]
	for i, cost := range h.cost {
		h.typical[i] = middleOf(sorted)
		at := len(sorted) // the place of a new number, or of the oldest one
		if at < typicalDays {
			sorted = sorted[:at+1]
		} else {
			at = slices.Index(sorted, h.cost[i-typicalDays])
		}
		for ; at > 0 && sorted[at-1] > cost; at-- {
			sorted[at] = sorted[at-1]
		}
		for ; at+1 < len(sorted) && sorted[at+1] < cost; at++ {
			sorted[at] = sorted[at+1]
		}
		sorted[at] = cost
	}
	h.typical[len(h.cost)] = middleOf(sorted)
}

// middleOf returns the median of sorted numbers; 0 of none.
func middleOf(sorted []float64) float64 {
	n := len(sorted)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// floatsOf returns the costs of the days from … to upTo, without the latter, as floats; refunds are 0.
func floatsOf(days *money.Series, from, upTo int) []float64 {
	out := make([]float64, upTo-from)
	setFloats(out, days, from)
	return out
}

// setFloats sets out to the costs of the days from an index on; refunds are 0.
func setFloats(out []float64, days *money.Series, from int) {
	for i := range out {
		cost := days.At(from + i)
		out[i] = max(approximate(&cost), 0)
	}
}

// rankUnit is the amount of one rank.
const rankUnit = (1 << 64) / 1e30

// approximate returns an amount to about ten decimal places, many times as fast as Float64.
func approximate(a *money.Amount) float64 {
	rank := a.Rank()
	if rank == math.MaxInt64 {
		return a.Float64()
	}
	return float64(rank) * rankUnit
}

// similarBack returns how many days the days lie back that are similar to the judged one: by the interval at which
// costs recur, or else of the same weekday.
func (h *history) similarBack() (back []int) {
	interval := h.interval
	if interval == 0 {
		interval = week
	}
	for n := interval; n <= len(h.cost) && len(back) < repetitions; n += interval {
		back = append(back, n)
	}
	return back
}

// medianOf returns the median of numbers without changing them; 0 of none.
func medianOf(of []float64) float64 {
	var room [comparedDays]float64
	sorted := append(room[:0], of...)
	sortFew(sorted)
	return middleOf(sorted)
}

// sortFew sorts some ten numbers faster than slices.Sort.
func sortFew(of []float64) {
	for i, x := range of {
		for ; i > 0 && of[i-1] > x; i-- {
			of[i] = of[i-1]
		}
		of[i] = x
	}
}

// findInterval finds the interval that explains the recent days best, if it explains them much better than the typical
// cost does. It uses the memory of best and next.
func (h *history) findInterval(best, next []float64) {
	for i := h.firstRecent(); i < len(h.cost); i++ {
		best = append(best, math.Abs(h.cost[i]-h.typical[i]))
	}
	h.deviations = best
	least := trimmedMean(best)
	if least <= unevenShare*mean64(h.cost[max(0, len(h.cost)-patternDays):]) {
		return
	}
	least *= worthPattern
	for interval := shortestInterval; interval <= longestInterval; interval++ {
		if _, known := h.repeated(len(h.cost), interval); !known {
			continue
		}
		next = h.deviationsBy(interval, next[:0])
		mean := trimmedMean(next)
		if better := mean < least || h.interval == 0 && mean <= least; better && len(next) >= leastPattern {
			least, h.interval = mean*clearlyBetter, interval
			h.deviations, next = next, h.deviations
		}
	}
}

// firstRecent returns the first day whose cost shows the pattern.
func (h *history) firstRecent() int { return max(week, len(h.cost)-patternDays) }

// deviationsBy appends the differences between the costs of the recent days and those that an interval predicts.
func (h *history) deviationsBy(interval int, to []float64) []float64 {
	for i := h.firstRecent(); i < len(h.cost); i++ {
		if e, known := h.repeated(i, interval); known {
			to = append(to, math.Abs(h.cost[i]-e))
		}
	}
	return to
}

// repeated returns the cost of a day by an interval: the median of the days one, two and three intervals before. It
// returns false if fewer than two of these are known.
func (h *history) repeated(day, interval int) (float64, bool) {
	if day < 2*interval {
		return 0, false
	}
	a, b := h.cost[day-interval], h.cost[day-2*interval]
	if day < repetitions*interval {
		return (a + b) / 2, true
	}
	return middle(a, b, h.cost[day-repetitions*interval]), true
}

// middle returns the median of three numbers.
func middle[T float64 | int64](a, b, c T) T { return max(min(a, b), min(max(a, b), c)) }

func mean64(of []float64) float64 {
	sum := 0.0
	for _, x := range of {
		sum += x
	}
	return sum / float64(max(len(of), 1))
}

// trimmedMean returns the mean without the two largest numbers.
func trimmedMean(of []float64) float64 {
	if len(of) <= ignoredDays {
		return 0
	}
	sum, largest, second := 0.0, 0.0, 0.0
	for _, x := range of {
		sum += x
		if x > largest {
			x, largest = largest, x
		}
		second = max(second, x)
	}
	return (sum - largest - second) / float64(len(of)-ignoredDays)
}

// noise returns the excess that the scope's ordinary variation reaches.
func (h *history) noise() float64 {
	if h.interval > 0 {
		return noiseDeviation * medianOf(h.deviations)
	}
	recent := h.cost[max(0, len(h.cost)-bandDays):]
	middle := medianOf(recent)
	var room [bandDays]float64
	deviations := room[:0]
	for _, c := range recent {
		deviations = append(deviations, math.Abs(c-middle))
	}
	return noiseDeviation * medianOf(deviations)
}
