package budgeting

import (
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
)

// charges makes a history from 1 August to 20 November 2026 with a usage of 10 each day and other charges.
func charges(other func(day time.Time) int64) *History {
	h := &History{First: day("2026-08-01"), Settled: day("2026-11-20")}
	for d := h.First; !d.After(h.Settled); d = d.AddDate(0, 0, 1) {
		h.Usage = append(h.Usage, money.FromInt(10))
		h.Billed = append(h.Billed, money.FromInt(10+other(d)))
	}
	return h
}

// onDay returns a charge on some days of each month.
func onDay(amount int64, days ...int) func(time.Time) int64 {
	return func(d time.Time) int64 {
		for _, n := range days {
			if d.Day() == n {
				return amount
			}
		}
		return 0
	}
}

func TestTrail_ForecastBringsEachChargeByItsOwnPattern(t *testing.T) {
	lastDay := func(d time.Time) int64 { return onDay(70, 1)(d.AddDate(0, 0, 1)) }
	since := func(first string, amount int64) func(time.Time) int64 {
		return func(d time.Time) int64 { return choose(d.Before(day(first)), 0, amount) }
	}
	until := func(end string, amount int64) func(time.Time) int64 {
		return func(d time.Time) int64 { return choose(d.Before(day(end)), amount, 0) }
	}
	once := func(on string, amount int64) func(time.Time) int64 {
		return func(d time.Time) int64 { return choose(d.Equal(day(on)), amount, 0) }
	}
	for name, c := range map[string]struct {
		other   func(time.Time) int64
		month   int64 // expected in November besides 10 a day for usage
		quarter int64 // in the last quarter
	}{
		"a fee each day":                       {since("2026-08-01", 3), 90, 276},
		"a fee each day since 10 November":     {since("2026-11-10", 3), 63, 156},
		"a fee that ended two weeks ago":       {until("2026-11-04", 3), 9, 102},
		"support on the first of the month":    {onDay(300, 1), 300, 900},
		"a charge on the 25th":                 {onDay(50, 25), 50, 150},
		"a refund on the 25th":                 {onDay(-50, 25), -50, -150},
		"charges on the last day of the month": {lastDay, 70, 210},
		"a purchase in October":                {once("2026-10-25", 900), 0, 900},
		"a purchase in November":               {once("2026-11-05", 900), 900, 900},
		"a charge that grows each month": {func(d time.Time) int64 {
			return onDay(10*int64(d.Month()), 25)(d)
		}, 90, 280}, // 90 of September again in November, 100 of October, 90 in December
	} {
		t.Run(name, func(t *testing.T) {
			for period, want := range map[Period]int64{Month: c.month + 300, Quarter: c.quarter + 920} {
				b := Budget{Amount: money.FromInt(1), Period: period}
				st := b.Stand(charges(c.other), day("2026-11-22"))
				if st.Forecast.Mean != money.FromInt(want) {
					t.Errorf("%s: %s; want %d", period, st.Forecast.Mean, want)
				}
				burn := b.BurnDown(st.From, st.Known, &st.Trail)
				if last := burn[len(burn)-1]; last.Spent != st.Forecast.Mean {
					t.Errorf("%s: the burn-down ends at %s, the forecast at %s", period, last.Spent, st.Forecast.Mean)
				}
			}
		})
	}
}

func choose(first bool, a, b int64) int64 {
	if first {
		return a
	}
	return b
}

func TestTrail_ForecastIntervalKnowsTheDearDaysOfEarlierWeeks(t *testing.T) {
	usage := slices.Concat(fourWeeks(), fourWeeks(), fourWeeks())
	tr := Trail{Usage: usage, Last: day("2026-11-22"), To: day("2026-12-01")}
	if got := tr.Forecast(); got.Low != got.High {
		t.Errorf("%+v; want no width: no day was ever another than its weekday's mean", got)
	}
	usage[30] = money.FromInt(2000)
	if got := tr.Forecast(); got.Mean != money.FromInt(620) || got.High.Cmp(money.FromInt(1000)) < 0 {
		t.Errorf("%+v; want a mean of the last four weeks and a width of the last twelve", got)
	}
}

func TestBudget_Stand_OfAMonthWhoseFirstDaysHaveNotSettled(t *testing.T) {
	h := charges(func(time.Time) int64 { return 0 })
	h.Settled = day("2026-10-29")
	h.Usage[len(h.Usage)-1], h.Usage[91] = money.Amount{}, money.Amount{} // 31 October is not complete
	b := Budget{Amount: money.FromInt(1000), Period: Month}
	if st := b.Stand(h, day("2026-11-01")); st.Forecast.Mean != money.FromInt(300) || !st.Trail.Last.Equal(h.Settled) {
		t.Errorf("%s from the days until %s", st.Forecast.Mean, st.Trail.Last)
	}
}

func TestLastSettled_IsTheDayOfTheSlowestAccount(t *testing.T) {
	now := day("2026-11-22").Add(9 * time.Hour)
	of := func(account, through string) cost.Period {
		return cost.Period{AccountID: account, SettledThrough: day(through)}
	}
	estimate := of("ca_2", "2026-11-01")
	estimate.Estimated = true
	current, late := of("ca_1", "2026-11-19"), of("ca_2", "2026-11-17")
	for name, c := range map[string]struct {
		periods []cost.Period
		want    string
	}{
		"no account":                       {nil, "2026-11-20"},
		"one that is up to date":           {[]cost.Period{of("ca_1", "2026-11-21")}, "2026-11-20"},
		"the slower of two":                {[]cost.Period{current, late}, "2026-11-17"},
		"the newest period of an account":  {[]cost.Period{of("ca_1", "2026-10-31"), current}, "2026-11-19"},
		"an estimate has no complete days": {[]cost.Period{current, estimate}, "2026-11-19"},
		"an account that was removed":      {[]cost.Period{current, of("ca_2", "2026-10-31")}, "2026-11-19"},
		"all are late":                     {[]cost.Period{of("ca_1", "2026-10-31")}, "2026-10-31"},
	} {
		if got := LastSettled(cost.SettledByAccount(c.periods), now); got != day(c.want) {
			t.Errorf("%s: %s; want %s", name, got.Format(time.DateOnly), c.want)
		}
	}
}
