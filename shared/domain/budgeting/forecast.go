package budgeting

import (
	"math"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// The number of past days that a forecast uses.
const (
	TrailingDays = 28 // four of each weekday
	profileDays  = 14 // with fewer days, all weekdays have the same mean
)

// likely is the half-width of the interval in standard deviations: four of five periods end within it.
const likely = 1.2816

// Range is the forecast of a period's cost: Mean is expected, and in four of five cases the cost is between Low and
// High.
type Range struct{ Low, Mean, High money.Amount }

// Trail holds the data of a forecast.
type Trail struct {
	Spent money.Amount // so far in the period, all charges
	// the usage cost of the last complete days, oldest first: at most TrailingDays of them
	Usage []money.Amount
	Last  time.Time    // the day of the last of them
	To    time.Time    // the end of the period, exclusive
	Fees  money.Amount // non-usage charges of a month, expected again in each month that has not begun
}

// Forecast returns the expected cost at the end of the period: the spent cost, the mean of its weekday for each
// remaining day, and the fees of each month that has not begun. The interval is that of the seasonal mean method: with
// the standard deviation s of the days from their weekday's mean over n days, h remaining days deviate by s × √(h +
// h²/n), since both the days and their mean vary. Source: Hyndman and Athanasopoulos, Forecasting: Principles and
// Practice, 3rd ed., sections 5.2 and 5.5.
func (t *Trail) Forecast() Range {
	sum, half := t.Spent, 0.0
	days := t.Days()
	for _, d := range days {
		sum = sum.Add(d)
	}
	if n, h := float64(len(t.Usage)), float64(len(days)); n > 1 {
		half = likely * t.deviation() * math.Sqrt(h+h*h/n)
	}
	sum = sum.Add(t.Fees.MulInt(int64(t.monthsAhead())))
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

// Days returns the expected usage cost of each remaining day.
func (t *Trail) Days() []money.Amount {
	profile := t.profile()
	var out []money.Amount
	for d := t.Last.AddDate(0, 0, 1); d.Before(t.To); d = d.AddDate(0, 0, 1) {
		out = append(out, profile[d.Weekday()])
	}
	return out
}

// profile returns the mean of each weekday.
func (t *Trail) profile() (out [7]money.Amount) {
	n := len(t.Usage)
	if n == 0 {
		return out
	}
	if n < profileDays {
		mean := money.Sum(t.Usage...).DivInt(int64(n))
		for i := range out {
			out[i] = mean
		}
		return out
	}
	var count [7]int64
	for i, a := range t.Usage {
		w := t.weekday(i)
		out[w] = out[w].Add(a)
		count[w]++
	}
	for w := range out {
		out[w] = out[w].DivInt(count[w])
	}
	return out
}

func (t *Trail) weekday(i int) time.Weekday {
	return t.Last.AddDate(0, 0, i-len(t.Usage)+1).Weekday()
}

// deviation returns the standard deviation of the days from the profile. It uses floats, because it only estimates the
// quality of the forecast and is part of no sum.
func (t *Trail) deviation() float64 {
	profile, known := t.profile(), 1
	if len(t.Usage) >= profileDays {
		known = len(profile)
	}
	squares := 0.0
	for i, a := range t.Usage {
		e := a.Sub(profile[t.weekday(i)]).Float64()
		squares += e * e
	}
	return math.Sqrt(squares / float64(max(len(t.Usage)-known, 1)))
}

// monthsAhead returns the number of months of the period that have not begun on the last known day.
func (t *Trail) monthsAhead() int {
	last := t.To.AddDate(0, 0, -1)
	months := (last.Year()-t.Last.Year())*12 + int(last.Month()) - int(t.Last.Month())
	return max(months, 0)
}
