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
}

func newHistory(days []money.Amount) *history {
	h := &history{cost: floatsOf(days), typical: make([]float64, len(days)+1)}
	for i := range h.typical {
		h.typical[i] = medianOf(h.cost[max(0, i-typicalDays):i])
	}
	h.findInterval()
	return h
}

// floatsOf returns costs as floats; refunds are 0.
func floatsOf(days []money.Amount) []float64 {
	out := make([]float64, len(days))
	for i := range days {
		out[i] = max(days[i].Float64(), 0)
	}
	return out
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
	slices.Sort(sorted)
	n := len(sorted)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// findInterval finds the interval that explains the recent days best, if it explains them much better than the typical
// cost does.
func (h *history) findInterval() {
	typical := h.deviationsOf(func(i int) (float64, bool) { return h.typical[i], true })
	h.deviations = typical
	least := trimmedMean(typical)
	if least <= unevenShare*mean64(h.cost[max(0, len(h.cost)-patternDays):]) {
		return
	}
	least *= worthPattern
	for interval := shortestInterval; interval <= longestInterval; interval++ {
		if _, known := h.repeated(len(h.cost), interval); !known {
			continue
		}
		got := h.deviationsOf(func(i int) (float64, bool) { return h.repeated(i, interval) })
		mean := trimmedMean(got)
		if better := mean < least || h.interval == 0 && mean <= least; better && len(got) >= leastPattern {
			least, h.interval, h.deviations = mean*clearlyBetter, interval, got
		}
	}
}

// deviationsOf returns the differences between the costs of the recent days and the costs that a pattern predicts.
func (h *history) deviationsOf(expected func(day int) (float64, bool)) []float64 {
	out := make([]float64, 0, patternDays)
	for i := max(week, len(h.cost)-patternDays); i < len(h.cost); i++ {
		if e, known := expected(i); known {
			out = append(out, math.Abs(h.cost[i]-e))
		}
	}
	return out
}

// repeated returns the cost of a day by an interval: the median of the days one, two and three intervals before. It
// returns false if fewer than two of these are known.
func (h *history) repeated(day, interval int) (float64, bool) {
	var room [repetitions]float64
	before := room[:0]
	for i := day - interval; i >= 0 && len(before) < repetitions; i -= interval {
		before = append(before, h.cost[i])
	}
	return medianOf(before), len(before) > 1
}

func mean64(of []float64) float64 {
	sum := 0.0
	for _, x := range of {
		sum += x
	}
	return sum / float64(max(len(of), 1))
}

// trimmedMean returns the mean without the largest numbers.
func trimmedMean(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return mean64(sorted[:max(0, len(sorted)-ignoredDays)])
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
