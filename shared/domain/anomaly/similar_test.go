package anomaly

import (
	"slices"
	"testing"

	"lamplighter.dev/shared/foundation/money"
)

// shape makes a series of n days, and one more of the cost last.
func shape(n int, last int64, cost func(day int) int64) []money.Amount {
	out := make([]money.Amount, n+1)
	for i := range n {
		out[i] = money.FromInt(cost(i))
	}
	out[n] = money.FromInt(last)
	return out
}

// every returns a cost of 300 on each day that is a multiple of interval, and of 20 on others.
func every(interval int) func(int) int64 {
	return func(day int) int64 { return choose(day%interval == 0, 300, 20) }
}

// on returns a cost of high on some days, and of low on others.
func on(high, low int64, days ...int) func(int) int64 {
	return func(day int) int64 { return choose(slices.Contains(days, day), high, low) }
}

func choose(first bool, a, b int64) int64 {
	if first {
		return a
	}
	return b
}

func TestRules_Judge_ComparesSimilarDays(t *testing.T) {
	weekends := func(d int) int64 { return choose(d%7 < 2, 300, 20) }
	offOnWeekends := func(d int) int64 { return choose(d%7 < 2, 0, 300) }
	workdaysOnly := func(d int) int64 { return choose(d%7 < 2, 20, 300) }
	growth := func(d int) int64 { return 100 + int64(d)*5/4 }
	slowRise := func(d int) int64 { return 100 + 5*int64(max(d-38, 0)) }
	newLevel := func(d int) int64 { return choose(d > 40, 200, 100) }
	for name, c := range map[string]struct {
		days     []money.Amount
		baseline string // empty: the day is no anomaly
	}{
		"a job every five days is none":               {shape(45, 300, every(5)), ""},
		"a job that costs twice as much as usual is":  {shape(45, 600, every(5)), "300"},
		"a job on a day that had none before is":      {shape(46, 300, every(5)), "20"},
		"a job every nine days is none":               {shape(45, 300, every(9)), ""},
		"a weekend far above workdays is":             {shape(42, 900, offOnWeekends), "300"},
		"a weekend that costs as much as workdays is": {shape(42, 300, workdaysOnly), "20"},
		"jobs at uneven intervals are none":           {shape(45, 300, on(300, 20, 14, 22, 27, 36)), ""},
		"usage on weekends alone is none":             {shape(42, 300, weekends), ""},
		"usage of a month ago is none":                {shape(45, 350, on(300, 20, 14)), ""},
		"four times the usage of a month ago is":      {shape(45, 1200, on(300, 20, 14)), "20"},
		"a similar day of three weeks ago alone is":   {shape(45, 300, on(300, 20, 24)), "20"},
		"a refund lowers no baseline":                 {shape(45, 128, on(-5000, 100, 40, 43)), ""},
		"a cost after a refund is one of usual days":  {shape(45, 200, on(-5000, 100, 40, 43)), "100"},
		"growth of one percent a day is none":         {shape(45, 157, growth), ""},
		"a new level is one for the first days":       {append(shape(40, 200, on(0, 100)), amounts("200")...), "100"},
		"a new level is none after eleven days":       {shape(52, 200, newLevel), ""},
		"a slow rise is one":                          {shape(48, 150, slowRise), "100"},
		"a scope of 20 days waits for the second day": {shape(20, 300, on(0, 100)), ""},
		"the second day in a row is one":              {append(shape(20, 300, on(0, 100)), amounts("300")...), "100"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Rules{Settings: DefaultSettings(), MinUSD: money.FromInt(1)}
			s, found := r.Judge(Resource, money.SeriesOf(c.days...), len(c.days)-1)
			if found != (c.baseline != "") || found && s.Baseline != money.MustParse(c.baseline) {
				t.Errorf("%v, baseline %s; want %q", found, s.Baseline, c.baseline)
			}
		})
	}
}

func TestRules_Judge_LooksAtTheDaysOfItsWindowOnly(t *testing.T) {
	r := Rules{Settings: DefaultSettings(), MinUSD: money.FromInt(1)}
	days := shape(200, 300, every(9))
	whole, found := r.Judge(Resource, money.SeriesOf(days...), 200)
	part, same := r.Judge(Resource, money.SeriesOf(days[200-comparedDays:]...), comparedDays)
	if found != same || whole.Baseline != part.Baseline {
		t.Errorf("%+v, %v; from the window %+v, %v", whole, found, part, same)
	}
}
