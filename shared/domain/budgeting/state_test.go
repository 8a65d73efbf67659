package budgeting

import (
	"testing"

	"lamplighter.dev/shared/foundation/money"
)

// history returns a history from 1 September 2026: usage of 10 each day, and a fee of 300 on the first of each month.
func history(days int) *History {
	h := &History{First: day("2026-09-01"), Settled: day("2026-09-01").AddDate(0, 0, days-3)}
	for i := range days {
		usage := money.FromInt(10)
		h.Usage = append(h.Usage, usage)
		if h.First.AddDate(0, 0, i).Day() == 1 {
			usage = usage.Add(money.FromInt(300))
		}
		h.Billed = append(h.Billed, usage)
	}
	return h
}

func TestBudget_Stand(t *testing.T) {
	now := day("2026-11-22").Add(9 * 3600e9)
	for name, c := range map[string]struct {
		period      Period
		spent, mean string
		signal      Signal
	}{
		"a month whose fee is charged":                  {Month, "520", "600", Green},
		"a quarter whose last month will bring its fee": {Quarter, "1130", "1820", Yellow},
		"a year that is nearly over":                    {Year, "1730", "2420", Red},
	} {
		t.Run(name, func(t *testing.T) {
			b := Budget{Amount: money.FromInt(1700), Period: c.period}
			st := b.Stand(history(83), now)
			if st.Spent.String() != c.spent || st.Forecast.Mean.String() != c.mean || st.Signal != c.signal {
				t.Errorf("%s, %s, %s", st.Spent, st.Forecast.Mean, st.Signal)
			}
			burn := b.BurnDown(st.From, st.Known, &st.Trail)
			if last := burn[len(burn)-1]; last.Spent != st.Forecast.Mean {
				t.Errorf("the burn-down ends at %s, the forecast at %s", last.Spent, st.Forecast.Mean)
			}
		})
	}
}

func TestBudget_Stand_OnTheFirstDayAllOfTheMonthIsAhead(t *testing.T) {
	b := Budget{Amount: money.FromInt(1000), Period: Month}
	h := history(91) // up to 30 November; 28 November has settled
	st := b.Stand(h, day("2026-12-01"))
	if !st.Spent.IsZero() || st.Forecast.Mean != money.FromInt(610) || len(st.Known) != 0 {
		t.Errorf("%s, %s", st.Spent, st.Forecast.Mean)
	}
}

func TestBudget_Stand_WhatWasChargedOnDaysThatHaveNotSettledStays(t *testing.T) {
	b := Budget{Amount: money.FromInt(1000), Period: Month}
	h := history(83)
	h.Billed[82] = money.FromInt(5000)
	if st := b.Stand(h, day("2026-11-22")); st.Forecast.Mean != st.Spent || st.Signal != Red {
		t.Errorf("%s, %s", st.Spent, st.Forecast.Mean)
	}
}
