package budgeting

import (
	"slices"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// The days that show how a charge recurs.
const (
	dailyDays      = 14 // a charge comes each day if the median of these days is not 0
	monthsCompared = 2  // a charge comes each month if it came on this day of these months
	monthEnd       = 3  // the last days of a month, which are counted from its end
)

// recurring is the charges other than usage of the known days. Some come each day, such as the fee of a savings plan,
// and some on a day of each month, such as support and taxes.
type recurring struct {
	days []money.Amount // oldest first
	last time.Time      // the last of them
}

// on returns the expected charges of a day after the last known one.
func (r *recurring) on(day time.Time) money.Amount {
	return r.daily(len(r.days)).Add(r.monthly(day))
}

// daily returns what came each day in the two weeks before the i-th day: their median.
func (r *recurring) daily(i int) money.Amount {
	recent := slices.Clone(r.days[max(0, i-dailyDays):i])
	n := len(recent)
	if n == 0 {
		return money.Amount{}
	}
	slices.SortFunc(recent, money.Amount.Cmp)
	return recent[(n-1)/2].Add(recent[n/2]).DivInt(2)
}

// monthly returns the charge that comes each month on a day of the month. It is the smaller charge of the last two
// months on that day, without the daily charge. It is 0 if one of two known months has no such charge. If only one
// month is known, it is the charge of that month.
func (r *recurring) monthly(day time.Time) money.Amount {
	var charges []money.Amount
	for back := 1; len(charges) < monthsCompared; back++ {
		i := len(r.days) - 1 - daysFrom(sameDay(day, back), r.last)
		if i < 0 {
			break
		}
		if i < len(r.days) { // else this month has not come to that day yet
			charges = append(charges, r.days[i].Sub(r.daily(i+1)))
		}
	}
	switch {
	case len(charges) == 0:
		return money.Amount{}
	case charges[0].Sign() != charges[len(charges)-1].Sign():
		return money.Amount{}
	}
	return slices.MinFunc(charges, func(a, b money.Amount) int { return a.Abs().Cmp(b.Abs()) })
}

// sameDay returns the day of an earlier month that corresponds to a day. The last three days of a month correspond to
// the last three of the other.
func sameDay(day time.Time, monthsBack int) time.Time {
	end := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC)
	if left := end.Day() - day.Day(); left < monthEnd {
		return time.Date(day.Year(), day.Month()+1-time.Month(monthsBack), -left, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(day.Year(), day.Month()-time.Month(monthsBack), day.Day(), 0, 0, 0, 0, time.UTC)
}

// daysFrom returns the number of days from one day to another.
func daysFrom(from, to time.Time) int { return int(to.Sub(from) / (24 * time.Hour)) }
