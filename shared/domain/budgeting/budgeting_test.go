package budgeting

import (
	"fmt"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestPeriod_WindowFollowsTheCalendar(t *testing.T) {
	for _, c := range []struct {
		p             Period
		now, from, to string
	}{
		{Month, "2028-02-29", "2028-02-01", "2028-03-01"},
		{Quarter, "2026-11-22", "2026-10-01", "2027-01-01"},
		{Quarter, "2026-03-31", "2026-01-01", "2026-04-01"},
		{Year, "2026-12-31", "2026-01-01", "2027-01-01"},
	} {
		if from, to := c.p.Window(day(c.now).Add(23 * time.Hour)); from != day(c.from) || to != day(c.to) {
			t.Errorf("%s of %s: %s to %s", c.p, c.now, from, to)
		}
	}
}

// fourWeeks returns a series that costs 100 on working days and 10 at weekends. Its last day is a Sunday.
func fourWeeks() []money.Amount {
	var out []money.Amount
	for i := range 28 {
		out = append(out, money.FromInt([]int64{100, 100, 100, 100, 100, 10, 10}[i%7]))
	}
	return out
}

func TestTrail_ForecastKnowsTheWeek(t *testing.T) {
	// 22 November 2026 is a Sunday; the rest of the month is a week and a Monday.
	tr := Trail{Spent: money.FromInt(1560), Usage: fourWeeks(), Last: day("2026-11-22"), To: day("2026-12-01")}
	got := tr.Forecast()
	if want := money.FromInt(1560 + 520 + 100); got.Mean != want || got.Low != want || got.High != want {
		t.Errorf("%s %s %s; want %s thrice: no day was ever another than its weekday's mean", got.Low, got.Mean,
			got.High, want)
	}
	tr.Usage[27] = money.FromInt(50)
	// the mean of Sundays is 20 now
	if got = tr.Forecast(); got.Low.Cmp(got.Mean) >= 0 || got.High.Cmp(got.Mean) <= 0 ||
		got.Mean.Fixed(2) != "2190.00" {
		t.Errorf("%s %s %s", got.Low, got.Mean, got.High)
	}
}

func TestTrail_ForecastInterval(t *testing.T) {
	// 8 days with mean 10 and deviations of 2: s² = 8 × 4 / 7; h = 8, n = 8.
	tr := Trail{Last: day("2026-11-22"), To: day("2026-12-01")}
	for i := range 8 {
		tr.Usage = append(tr.Usage, money.FromInt(int64(8+4*(i%2))))
	}
	got := tr.Forecast()
	// 1.2816 × 2.138 × 4
	if got.Mean.Fixed(2) != "80.00" || got.Low.Fixed(2) != "69.04" || got.High.Fixed(2) != "90.96" {
		t.Errorf("%s %s %s", got.Low, got.Mean, got.High)
	}
	tr.Spent = money.FromInt(1)
	tr.Usage = append(tr.Usage[:0], money.FromInt(0), money.FromInt(1000), money.FromInt(0))
	if got = tr.Forecast(); got.Low != tr.Spent {
		t.Errorf("low is %s, below what is spent", got.Low)
	}
}

func TestTrail_ForecastOfNothingIsWhatIsSpent(t *testing.T) {
	tr := Trail{Spent: money.FromInt(5), Last: day("2026-11-22"), To: day("2026-12-01")}
	if got := tr.Forecast(); got != (Range{tr.Spent, tr.Spent, tr.Spent}) {
		t.Errorf("%+v", got)
	}
}

func TestBudget_BurnDownEndsWhereTheForecastDoes(t *testing.T) {
	b := Budget{Amount: money.FromInt(3000)}
	var spent []money.Amount
	for i := range 22 { // from Sunday, 1 November
		spent = append(spent, fourWeeks()[(i+6)%7])
	}
	tr := Trail{Spent: money.Sum(spent...), Usage: fourWeeks(), Last: day("2026-11-22"), To: day("2026-12-01")}
	got := b.BurnDown(day("2026-11-01"), spent, &tr)
	if len(got) != 30 || got[0].Planned.Fixed(2) != "2900.00" || !got[29].Planned.IsZero() || got[21].Forecast ||
		!got[22].Forecast {
		t.Fatalf("%d %+v %+v", len(got), got[0], got[29])
	}
	if got[21].Spent != tr.Spent || got[29].Spent != tr.Forecast().Mean || got[29].Left != b.Amount.Sub(got[29].Spent) {
		t.Errorf("%+v; want %s", got[29], tr.Forecast().Mean)
	}
}

func TestBudget_SignalOf(t *testing.T) {
	b := Budget{Amount: money.FromInt(100)}
	for _, c := range []struct {
		spent, mean string
		want        Signal
	}{
		{"79.99", "99.99", Green}, {"80", "80", Yellow}, {"10", "100", Yellow}, {"100", "100", Red}, {"0", "0", Green},
	} {
		if got := b.SignalOf(money.MustParse(c.spent), Range{Mean: money.MustParse(c.mean)}); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestBudget_AThresholdIsToldOfOnceAPeriod(t *testing.T) {
	b := Budget{Amount: money.FromInt(100), Thresholds: []int{50, 80, 100, 150}, ForecastAlerts: true}
	var told Told
	for _, c := range []struct{ spent, mean, want string }{
		{"49.99", "49.99", "[]"},
		{"50", "79", "[{budget.warning 50 false}]"},
		{"50", "120", "[{budget.warning 100 true}]"},
		{"50", "120", "[]"},
		{"40", "70", "[]"}, // restated
		{"55", "120", "[]"},
		{"79.999999", "151", "[{budget.warning 150 true}]"},
		{"100", "151", "[{budget.warning 80 false} {budget.exceeded 100 false}]"},
		{"90", "90", "[]"},
		{"160", "200", "[{budget.exceeded 150 false}]"},
		{"160", "200", "[]"},
	} {
		alerts, next := b.Alerts(money.MustParse(c.spent), Range{Mean: money.MustParse(c.mean)}, told)
		if got := fmt.Sprint(alerts); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
		told = next
	}
	b.ForecastAlerts = false
	if alerts, _ := b.Alerts(money.FromInt(0), Range{Mean: money.FromInt(1000)}, Told{}); alerts != nil {
		t.Errorf("a forecast that nobody asked for: %v", alerts)
	}
}

func TestBudget_CheckNamesTheField(t *testing.T) {
	good := Budget{Amount: money.FromInt(1), ScopeType: Org}
	if err := good.Check(); err != nil || fmt.Sprint(good.Thresholds) != "[50 80 100]" {
		t.Fatal(err, good.Thresholds)
	}
	for want, change := range map[string]func(*Budget){
		"amountUSD: 0":             func(b *Budget) { b.Amount = money.Amount{} },
		"amountUSD: -1":            func(b *Budget) { b.Amount = money.FromInt(-1) },
		"amountUSD: 1.001":         func(b *Budget) { b.Amount = money.MustParse("1.001") },
		"thresholds: 0":            func(b *Budget) { b.Thresholds = []int{0} },
		"thresholds: 1001":         func(b *Budget) { b.Thresholds = []int{50, 1001} },
		`scopeID: "x"`:             func(b *Budget) { b.ScopeID = "x" },
		"scopeID: it is empty":     func(b *Budget) { b.ScopeType = Team },
		`scopeID: "env" names no`:  func(b *Budget) { b.ScopeType, b.ScopeID = Tag, "env" },
		`scopeID: "=prod" names n`: func(b *Budget) { b.ScopeType, b.ScopeID = Tag, "=prod" },
	} {
		b := Budget{Amount: money.FromInt(1), ScopeType: Org}
		change(&b)
		if err := b.Check(); err == nil || err.Error()[:len(want)] != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
