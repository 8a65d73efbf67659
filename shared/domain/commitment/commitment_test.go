package commitment

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

func usd(s string) money.Amount { return money.MustParse(s) }

// costs returns amounts of whole cents.
func costs(cents ...int64) []money.Amount {
	out := make([]money.Amount, len(cents))
	for i, c := range cents {
		out[i] = money.FromScaled(c, 2)
	}
	return out
}

// daysOf returns a use of days.
func daysOf(n int, of func(day int) money.Amount) Use {
	u := Use{Basis: Daily, From: time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC), Cost: make([]money.Amount, n)}
	for d := range u.Cost {
		u.Cost[d] = of(d)
	}
	return u
}

// randomCosts returns up to 24 costs: many equal ones, or none alike, with zeros among them.
func randomCosts(r *rand.Rand) []money.Amount {
	out := make([]money.Amount, 1+r.IntN(24))
	spread := []int64{2, 10, 1000, 1_000_000}[r.IntN(4)]
	for i := range out {
		out[i] = money.FromScaled(r.Int64N(spread), r.IntN(4))
	}
	return out
}

// candidates returns all levels at which the gain can be largest, and others between and beside them.
func candidates(of []money.Amount) []money.Amount {
	ascending := sorted(of)
	out := []money.Amount{{}}
	last := money.Amount{}
	for _, c := range ascending {
		out = append(out, c, last.Add(c).DivInt(2), c.Add(usd("0.0001")))
		last = c
	}
	return out
}

// The best level by search over all levels has the gain of the quantile of the discount, in 10,000 random series.
func TestBestLevel_IsTheQuantileOfTheDiscount(t *testing.T) {
	r := seed.Random(t)
	for n := range 10_000 {
		use, rate := randomCosts(r), money.FromScaled(1+r.Int64N(99), 2)
		level := BestLevel(use, rate)
		best, at := money.Amount{}, money.Amount{}
		for _, c := range candidates(use) {
			if got := Gain(use, c, rate); got.Cmp(best) > 0 || got.Cmp(best) == 0 && c.Cmp(at) < 0 {
				best, at = got, c
			}
		}
		if got := Gain(use, level, rate); got.Cmp(best) != 0 {
			t.Fatalf("series %d at %s: the quantile %s gains %s, a search finds %s at %s in %v", n, rate, level, got,
				best, at, use)
		}
		if best.Sign() > 0 && level.Cmp(at) != 0 {
			t.Fatalf("series %d at %s: the quantile is %s, the smallest best level %s in %v", n, rate, level, at, use)
		}
	}
}

// The gain of a level is never more than the discount on the covered use, never less than the loss of the whole
// commitment, and exactly additive over periods.
func TestGain_IsBoundedAndAdditive(t *testing.T) {
	r := seed.Random(t)
	for n := range 3000 {
		use, rate := randomCosts(r), money.FromScaled(1+r.Int64N(99), 2)
		level := money.FromScaled(r.Int64N(2000), 2)
		gain, used := Gain(use, level, rate), covered(use, level)
		if most := used.Mul(one.Sub(rate)); gain.Cmp(most) > 0 {
			t.Fatalf("series %d: the gain %s is more than the discount %s", n, gain, most)
		}
		if least := level.Mul(rate).MulInt(int64(len(use))).Neg(); gain.Cmp(least) < 0 {
			t.Fatalf("series %d: the loss %s is more than the commitment %s", n, gain, least)
		}
		cut := r.IntN(len(use) + 1)
		if parts := Gain(use[:cut], level, rate).Add(Gain(use[cut:], level, rate)); parts.Cmp(gain) != 0 {
			t.Fatalf("series %d: the parts gain %s, the whole %s", n, parts, gain)
		}
		if Gain(use, BestLevel(use, rate), rate).Cmp(gain) < 0 {
			t.Fatalf("series %d: another level than the best gains more", n)
		}
	}
}

func TestQuantile_IsExactAtItsSteps(t *testing.T) {
	ten := costs(100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
	for q, want := range map[string]string{
		"0": "0", "0.000001": "1", "0.1": "1", "0.1000001": "2", "0.28": "3", "0.3": "3", "0.30000000001": "4",
		"1": "10", "-1": "0",
	} {
		if got := Quantile(ten, usd(q)); got.String() != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
	if got := Quantile(nil, usd("0.5")); !got.IsZero() {
		t.Errorf("of nothing: %s", got)
	}
}

// The worked example of docs/commitments.md.
func TestAdvise_OnTheExampleOfThePage(t *testing.T) {
	week := costs(24000, 24000, 24000, 24000, 24000, 12000, 12000) // USD a day: half at weekends
	c := Case{
		Scope: Scope{Provider: "aws", Product: "compute"},
		Use:   daysOf(390, func(d int) money.Amount { return week[d%7] }), Waste: usd("365"),
		Offers: []Offer{
			{Plan, 3, AllUpfront, usd("0.5"), "prices 2026-03-01"},
			{Plan, 1, NoUpfront, usd("0.72"), "prices 2026-03-01"},
		},
	}
	a, why, err := Advise(&c)
	if err != nil || why != "" || a.Trend != Flat || a.Basis != Daily || a.Days != 91 || a.AllDays != 390 {
		t.Fatalf("%+v, %q, %v", a, why, err)
	}
	for i, want := range []map[LevelName]Level{
		{
			Safe:    {Hourly: usd("4.5"), Commitment: usd("3.24"), Gain: usd("919.8"), Utilization: usd("100")},
			Default: {Hourly: usd("4.5"), Commitment: usd("3.24"), Gain: usd("919.8"), Utilization: usd("100")},
			Best:    {Hourly: usd("4.5"), Commitment: usd("3.24"), Gain: usd("919.8"), Utilization: usd("100")},
		},
		{
			Safe: {Hourly: usd("4.5"), Commitment: usd("2.25"), Gain: usd("1642.5"), Utilization: usd("100")},
			Best: {Hourly: usd("9.5"), Commitment: usd("4.75"), Gain: usd("2424.642857"), Utilization: usd("85")},
		},
	} {
		for _, got := range a.Offers[i].Levels {
			w, asked := want[got.Name]
			if asked && (got.Hourly != w.Hourly || got.Commitment != w.Commitment || got.Gain != w.Gain ||
				got.Utilization != w.Utilization) {
				t.Errorf("%d years, %s: %+v", a.Offers[i].Years, got.Name, got)
			}
		}
	}
	best := a.Offers[1].Levels[2]
	if best.Upfront != usd("124830") || best.BreakEven != usd("50") || best.BreakEvenMonths != usd("21.2") ||
		best.Coverage != usd("100") {
		t.Errorf("3 years, all upfront: %+v", best)
	}
	if a.Gain() != usd("919.8") {
		t.Errorf("the saving is %s: that of the shortest term", a.Gain())
	}
}

func TestAdvise_SaysWhyThereIsNone(t *testing.T) {
	flat := func(int) money.Amount { return usd("24") }
	offer := Offer{Kind: Plan, Rate: usd("0.7"), Source: FromBill}
	for name, c := range map[string]struct {
		of   Case
		want string
	}{
		"a discount that no source knows": {Case{Use: daysOf(90, flat)}, UnknownDiscount},
		"bills of less than 30 days":      {Case{Use: daysOf(29, flat), Offers: []Offer{offer}}, TooFewDays},
		"enough":                          {Case{Use: daysOf(30, flat), Offers: []Offer{offer}}, ""},
	} {
		if _, why, err := Advise(&c.of); why != c.want || err != nil {
			t.Errorf("%s: %q, %v", name, why, err)
		}
	}
	for _, rate := range []string{"0", "1", "1.2", "-0.1"} {
		bad := offer
		bad.Rate = usd(rate)
		if _, _, err := Advise(&Case{Use: daysOf(90, flat), Offers: []Offer{bad}}); !fault.Is(err, fault.Invalid) {
			t.Errorf("a rate of %s: %v", rate, err)
		}
	}
}

func TestAdvise_OffersTheBestLevelUnlessTheUseFalls(t *testing.T) {
	offer := Offer{Kind: Plan, Years: 1, Payment: NoUpfront, Rate: usd("0.7"), Source: FromBill}
	for name, tt := range map[string]struct {
		last  string // cost of each of the last 28 days; 100 before
		trend Trend
		want  int
	}{
		"flat":             {"100", Flat, 3},
		"5 % less is flat": {"95", Flat, 3},
		"6 % less":         {"94", Falling, 2},
		"rising":           {"110", Rising, 3},
	} {
		use := daysOf(120, func(d int) money.Amount {
			if d >= 92 {
				return usd(tt.last)
			}
			return usd("100")
		})
		a, _, err := Advise(&Case{Use: use, Offers: []Offer{offer}})
		if err != nil || a.Trend != tt.trend || len(a.Offers[0].Levels) != tt.want {
			t.Errorf("%s: %s, %d levels, %v", name, a.Trend, len(a.Offers[0].Levels), err)
		}
	}
}

func TestUse_LessDeductsWasteFromEachPeriod(t *testing.T) {
	for _, basis := range []Basis{Hourly, Daily} {
		u := Use{Basis: basis, Cost: []money.Amount{usd("48"), usd("1"), {}}}
		want := "46 0 0" // 730 USD a month are 1 an hour, and 24 a day
		if basis == Daily {
			want = "24 0 0"
		}
		month := money.FromInt(730)
		if basis == Hourly {
			month = money.FromInt(1460)
		}
		got := u.Less(month)
		if s := got.Cost[0].String() + " " + got.Cost[1].String() + " " + got.Cost[2].String(); s != want {
			t.Errorf("%s: %s, want %s", basis, s, want)
		}
		if u.Cost[0] != usd("48") {
			t.Error("the use itself has changed")
		}
	}
	if got := (Use{Cost: costs(100)}).Less(usd("-5")); !slices.Equal(got.Cost, costs(100)) {
		t.Errorf("a negative waste: %v", got.Cost)
	}
}

// Hours of a day at even cost and the day itself have the same levels.
func TestAdvise_IsTheSameOfEvenHoursAndOfTheirDays(t *testing.T) {
	r := seed.Random(t)
	daily := daysOf(150, func(int) money.Amount { return money.FromScaled(24*(1000+r.Int64N(500)), 2) })
	hourly := Use{Basis: Hourly, From: daily.From}
	for _, d := range daily.Cost {
		for range 24 {
			hourly.Cost = append(hourly.Cost, d.DivInt(24))
		}
	}
	offers := []Offer{{Plan, 1, NoUpfront, usd("0.72"), FromBill}}
	a, _, err := Advise(&Case{Use: daily, Offers: offers})
	b, _, err2 := Advise(&Case{Use: hourly, Offers: offers})
	if err != nil || err2 != nil || !slices.Equal(a.Offers[0].Levels, b.Offers[0].Levels) ||
		!slices.Equal(a.Offers[0].Backtest.Results, b.Offers[0].Backtest.Results) {
		t.Errorf("by day %+v, by hour %+v (%v, %v)", a, b, err, err2)
	}
}
