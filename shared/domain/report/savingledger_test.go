package report

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

// march is the first day of the ledgers of these tests.
var march = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// week returns the line of a recommendation that was applied on the day before from: the costs of the 7 days before and
// after it.
func week(name string, from time.Time, before, after string) recommendation.LedgerLine {
	l := recommendation.LedgerLine{
		RecommendationID: name, Resource: recommendation.Resource{ResourceUID: "i-0"}, From: from,
		Before: money.MustParse(before), After: money.MustParse(after), RunSeconds: 7 * 86400,
	}
	l.Month = l.Before.Sub(l.After).MulInt(30).DivInt(7)
	return l
}

// stopOf returns the changes of a stop of the resource.
func stopOf(from time.Time, hours int) []execution.StateChange {
	to := from.Add(time.Duration(hours) * time.Hour)
	return []execution.StateChange{
		{ID: id.New("sh", from), ResourceUID: "i-0", State: "stopped", ChangedAt: from},
		{ID: id.New("sh", to), ResourceUID: "i-0", State: "running", ChangedAt: to},
	}
}

// ledgerOf adds up the savings of days at 1 USD an hour.
func ledgerOf(days int, changes []execution.StateChange, lines ...recommendation.LedgerLine) *ledger {
	l := &ledger{
		from: march, until: march.AddDate(0, 0, days), changes: changes, read: lines,
		out:    RealizedSaving{Days: make([]money.Amount, days)},
		rateOf: func(string) *pricing.HourlyRate { return &pricing.HourlyRate{Running: money.FromInt(1)} },
		known:  map[string]*inventory.Listed{"i-0": {}},
	}
	l.known["i-0"].UID = "i-0"
	l.arrange()
	l.addStops(execution.StopsOf(l.changes, l.from, l.until))
	l.addRecommendations()
	return l
}

func TestLedger_ARecommendationCountsThirtyDaysExactly(t *testing.T) {
	whole := week("rec_1", march, "70", "20.3")
	capped := whole
	capped.Month = money.FromInt(30)
	stops := whole
	stops.StopsAfter = money.MustParse("24.85")
	third := week("rec_1", march, "10", "9") // a seventh of a dollar a day has no end
	for name, c := range map[string]struct {
		line recommendation.LedgerLine
		days int
		want string
	}{
		"all 30 days":                     {whole, 40, "213"},
		"the 31st day counts nothing":     {whole, 31, "213"},
		"10 days":                         {whole, 10, "71"},
		"at most the cost of the scope":   {capped, 40, "30"},
		"without what stops explain":      {stops, 40, "106.5"},
		"a fraction without an end, once": {third, 40, "4.285714285714285714285714285714"},
	} {
		t.Run(name, func(t *testing.T) {
			l := ledgerOf(c.days, nil, c.line)
			if got := l.out.Total().Round(26); got.Cmp(money.MustParse(c.want).Round(26)) != 0 {
				t.Errorf("the days add up to %s, want %s", got, c.want)
			}
			if len(l.out.Lines) != 1 || l.out.Lines[0].Amount.Cmp(l.out.Total()) != 0 {
				t.Errorf("the lines are %+v", l.out.Lines)
			}
		})
	}
}

func TestLedger_AStopAndARecommendationCountTheSameHoursOnce(t *testing.T) {
	// 12 hours of each day for 30 days at 1 USD an hour, and a fall of 4 a day beside them
	var changes []execution.StateChange
	for d := range 30 {
		changes = append(changes, stopOf(march.AddDate(0, 0, d), 12)...)
	}
	line := week("rec_1", march, "168", "140")
	line.RunSeconds = 7 * 43200
	line.StopsBefore, line.StopsAfter = money.FromInt(84), money.FromInt(84) // it was stopped in both weeks
	l := ledgerOf(30, changes, line)
	if got := l.out.Total().Fixed(6); got != "480.000000" { // 30 × 12 of stops, 30 × 4 of the recommendation
		t.Errorf("together they are %s", got)
	}
	for i := range l.out.Lines {
		if one := &l.out.Lines[i]; one.Recommendation != nil && one.Counted != 30*12*time.Hour {
			t.Errorf("the recommendation counts %s: the hours of stops, too", one.Counted)
		}
	}
	line.StopsBefore = money.Amount{} // the recommendation was to attach the schedule: the fall is that of the stops
	if got := ledgerOf(30, changes, line).out.Total().Fixed(2); got != "360.00" {
		t.Errorf("a schedule's saving and its stops are %s, want 360.00", got)
	}
}

func TestLedger_OneFallOfTheCostCountsOnce(t *testing.T) {
	for name, c := range map[string]struct {
		lines []recommendation.LedgerLine
		want  string
	}{
		"two applied on a day": {[]recommendation.LedgerLine{
			week("rec_1", march, "70", "35"), week("rec_2", march, "70", "35"),
		}, "150.00"},
		"one applied in the week after the other": {[]recommendation.LedgerLine{
			week("rec_1", march, "70", "35"), week("rec_2", march.AddDate(0, 0, 7), "63", "35"),
		}, "150.00"},
		"one applied after the week of the other": {[]recommendation.LedgerLine{
			week("rec_1", march, "70", "35"), week("rec_2", march.AddDate(0, 0, 8), "35", "28"),
		}, "180.00"},
		"one applied twice counts until it is applied again": {[]recommendation.LedgerLine{
			week("rec_1", march, "70", "35"), week("rec_1", march.AddDate(0, 0, 11), "70", "35"),
		}, "200.00"},
		"two that together would save more than it cost": {[]recommendation.LedgerLine{
			week("rec_1", march, "70", "0"), week("rec_2", march.AddDate(0, 0, 10), "70", "0"),
		}, "400.00"},
	} {
		if got := ledgerOf(60, nil, c.lines...).out.Total().Fixed(2); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Whatever was stopped and applied, the ledger of a resource is at most what it cost before: without our stops.
func TestLedger_OfAResourceNeverExceedsItsCostBefore(t *testing.T) {
	r := seed.Random(t)
	counted := 0
	for n := range 2000 {
		var changes []execution.StateChange
		for at := march.AddDate(0, 0, -20); at.Before(march.AddDate(0, 0, 40)); {
			hours := 1 + r.IntN(40)
			changes = append(changes, stopOf(at, hours)...)
			at = at.Add(time.Duration(hours+1+r.IntN(90)) * time.Hour)
		}
		var lines []recommendation.LedgerLine
		most := money.FromInt(24) // a day: what a whole day of a stop saves
		for i := range 1 + r.IntN(3) {
			before := int64(r.IntN(400))
			l := week(fmt.Sprint("rec_", i), march.AddDate(0, 0, r.IntN(40)-10), strconv.FormatInt(before, 10),
				strconv.FormatInt(r.Int64N(before+1), 10))
			l.RunSeconds -= r.Int64N(l.RunSeconds)
			l.StopsBefore, l.StopsAfter = money.FromInt(r.Int64N(168)), money.FromInt(r.Int64N(168))
			lines = append(lines, l)
			if cost := l.Most(day); cost.Cmp(most) > 0 {
				most = cost
			}
		}
		l := ledgerOf(40, changes, lines...)
		for d, got := range l.out.Days {
			if got.Cmp(most) > 0 {
				t.Fatalf("case %d: day %d saves %s of %s: %+v", n, d, got, most, lines)
			}
		}
		sum := money.Amount{}
		for i := range l.out.Lines {
			sum = sum.Add(l.out.Lines[i].Amount)
			if l.out.Lines[i].Recommendation != nil {
				counted++
			}
		}
		if sum.Round(20).Cmp(l.out.Total().Round(20)) != 0 {
			t.Fatalf("case %d: the lines are %s, the days %s", n, sum, l.out.Total())
		}
		slices.Reverse(lines)
		if again := ledgerOf(40, changes, lines...); again.out.Total().Cmp(l.out.Total()) != 0 {
			t.Fatalf("case %d: in another order it is %s, not %s", n, again.out.Total(), l.out.Total())
		}
	}
	if counted < 500 {
		t.Errorf("only %d lines of recommendations counted", counted)
	}
}
