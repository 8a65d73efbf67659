package budgeting

import (
	"math"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// The number of past days that a forecast uses.
const (
	TrailingDays = 28 // four of each weekday: their means are expected
	HistoryDays  = 3 * TrailingDays
	profileDays  = 14 // with fewer days, all weekdays have the same mean
)

// likely is the half-width of the interval in standard deviations: four of five periods end within it.
const likely = 1.2816

// Range is the forecast of a period's cost: Mean is expected, and in four of five cases the cost is between Low and
// High.
type Range struct{ Low, Mean, High money.Amount }

// Trail holds the data of a forecast.
type Trail struct {
	Spent money.Amount   // so far in the period, all charges
	Usage []money.Amount // the usage cost of the last complete days, oldest first: at most HistoryDays of them
	Other []money.Amount // the other charges of the last complete days, oldest first: two whole months and more
	Last  time.Time      // the last complete day
	From  time.Time      // the begin of the period
	To    time.Time      // the end of the period, exclusive
}

// Forecast returns the expected cost at the end of the period: the spent cost, and for each remaining day the mean of
// its weekday and the charges that recur on it. The interval is that of the seasonal mean method: with the standard
// deviation s of the days from their weekday's mean over n days, h remaining days deviate by s × √(h + h²/n), since
// both the days and their mean vary. Source: Hyndman and Athanasopoulos, Forecasting: Principles and Practice, 3rd
// ed., sections 5.2 and 5.5. s is taken over up to three times four weeks, so that it includes rare expensive days.
func (t *Trail) Forecast() Range {
	sum, half := t.Spent, 0.0
	days := t.Days()
	for _, d := range days {
		sum = sum.Add(d)
	}
	if n, h := float64(len(t.recent())), float64(len(days)); n > 1 {
		half = likely * t.deviation() * math.Sqrt(h+h*h/n)
	}
	spread, err := money.FromFloat(half)
	if err != nil {
		spread = money.Amount{} // for amounts that a float cannot hold
	}
	spread = spread.Round(2)
	low := sum.Sub(spread)
	if low.Cmp(t.Spent) < 0 && sum.Cmp(t.Spent) >= 0 {
		low = t.Spent // the spent amount cannot decrease
	}
	return Range{low, sum, sum.Add(spread)}
}

// Days returns the expected cost of each remaining day of the period.
func (t *Trail) Days() []money.Amount {
	profile, charges := t.profileOf(t.recent(), t.Last), recurring{t.Other, t.Last}
	var out []money.Amount
	for d := t.Last.AddDate(0, 0, 1); d.Before(t.To); d = d.AddDate(0, 0, 1) {
		if !d.Before(t.From) {
			out = append(out, profile[d.Weekday()].Add(charges.on(d)))
		}
	}
	return out
}

// recent returns the usage of the days whose means are expected.
func (t *Trail) recent() []money.Amount { return t.Usage[max(0, len(t.Usage)-TrailingDays):] }

// profileOf returns the mean of each weekday of days that end on the day last.
func (t *Trail) profileOf(days []money.Amount, last time.Time) (out [7]money.Amount) {
	n := len(days)
	if n == 0 {
		return out
	}
	if n < profileDays {
		mean := money.Sum(days...).DivInt(int64(n))
		for i := range out {
			out[i] = mean
		}
		return out
	}
	var count [7]int64
	for i, a := range days {
		w := weekdayOf(i, n, last)
		out[w] = out[w].Add(a)
		count[w]++
	}
	for w := range out {
		out[w] = out[w].DivInt(count[w])
	}
	return out
}

// weekdayOf returns the weekday of the i-th of n days that end on the day last.
func weekdayOf(i, n int, last time.Time) time.Weekday { return last.AddDate(0, 0, i-n+1).Weekday() }

// deviation returns the standard deviation of the days from the means of their weekdays. Each four weeks have their own
// means, so that growth is no deviation. It uses floats, because it only estimates the quality of the forecast and is
// part of no sum.
func (t *Trail) deviation() float64 {
	squares, free := t.squares(t.recent(), t.Last)
	for end := len(t.Usage) - TrailingDays; end >= TrailingDays; end -= TrailingDays {
		more, moreFree := t.squares(t.Usage[end-TrailingDays:end], t.Last.AddDate(0, 0, end-len(t.Usage)))
		squares, free = squares+more, free+moreFree
	}
	return math.Sqrt(squares / float64(max(free, 1)))
}

// squares returns the sum of the squared deviations of days that end on the day last, and their degrees of freedom.
func (t *Trail) squares(days []money.Amount, last time.Time) (sum float64, free int) {
	profile, known := t.profileOf(days, last), 1
	if len(days) >= profileDays {
		known = len(profile)
	}
	for i, a := range days {
		e := a.Sub(profile[weekdayOf(i, len(days), last)]).Float64()
		sum += e * e
	}
	return sum, len(days) - known
}
