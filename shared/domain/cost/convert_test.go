package cost

import (
	"context"
	"flag"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

var sets = flag.Int("sets", 40, "how many random sets of bills are converted")

// foreign is a random set of bills of March in several currencies.
type foreign struct {
	bills [][]bill.Charge
	known map[string]Rate // the rates that are given with the import
	later map[string]Rate // the rates that AddRates adds
	owned map[string]money.Amount
}

// drawForeign draws bills in up to four currencies besides USD: one states its own rate, one is converted at a given
// rate, one gets its rate later, and one never has a rate.
func drawForeign(r *rand.Rand, places int) *foreign {
	f := &foreign{known: map[string]Rate{}, later: map[string]Rate{}, owned: map[string]money.Amount{}}
	f.owned["CHF"] = drawRate(r)
	f.known["EUR"] = Rate{USD: drawRate(r)}
	f.later["IDR"] = Rate{USD: drawRate(r).MulDiv(money.FromInt(1), money.FromInt(16_000))}
	f.bills = make([][]bill.Charge, 1+r.IntN(3))
	for range 1 + r.IntN(60) {
		n := r.IntN(len(f.bills))
		c := charge(1+r.IntN(31), "i-"+strconv.Itoa(r.IntN(5)), "S"+strconv.Itoa(r.IntN(3)), "0")
		c.BillingCurrency = []string{USD, "CHF", "EUR", "IDR", "XXX"}[r.IntN(5)]
		if c.BillingCurrency == "CHF" {
			c.USDRate = f.owned["CHF"]
		}
		c.BilledCost = money.FromScaled(r.Int64()-r.Int64(), 6+r.IntN(places-5))
		c.EffectiveCost, c.ListCost = c.BilledCost, c.BilledCost
		if r.IntN(3) == 0 {
			c.EffectiveCost = money.FromScaled(r.Int64N(1e9), r.IntN(places+1))
		}
		c.RegionID = "r-" + strconv.Itoa(r.IntN(3))
		f.bills[n] = append(f.bills[n], c)
	}
	return f
}

// drawRate returns a rate as bills state it: a number with few digits, or one divided by such a number.
func drawRate(r *rand.Rand) money.Amount {
	rate := money.FromScaled(1+r.Int64N(99_999), r.IntN(6))
	if r.IntN(2) == 0 {
		return rate
	}
	return money.FromInt(1).MulDiv(money.FromInt(1), rate)
}

func (s *fixture) bringForeign(f *foreign) {
	s.Helper()
	for n, charges := range f.bills {
		in := imported("ca_"+strconv.Itoa(n+1), "one", now)
		in.Rates = f.known
		s.bring(in, charges...)
	}
	s.Must(s.store.AddRates(s.ctx, testOrg, func(_ context.Context, currency string, _ time.Time) (Rate, bool, error) {
		rate, ok := f.later[currency]
		return rate, ok, nil
	}))
}

// rateOf returns the rate of a currency, rounded by arithmetic of its own.
func (f *foreign) rateOf(currency string) *big.Rat {
	rates := map[string]money.Amount{
		USD: money.FromInt(1), "CHF": f.owned["CHF"], "EUR": f.known["EUR"].USD, "IDR": f.later["IDR"].USD,
	}
	a, ok := rates[currency]
	if !ok {
		return nil
	}
	exact, _ := new(big.Rat).SetString(a.String())
	rounded, _ := new(big.Rat).SetString(exact.FloatString(ratePlaces))
	return rounded
}

// sum returns the exact converted sum of the charges that pass.
func (f *foreign) sum(passes func(*bill.Charge) bool) *big.Rat {
	out := new(big.Rat)
	for _, charges := range f.bills {
		for i := range charges {
			rate := f.rateOf(charges[i].BillingCurrency)
			if rate == nil || !passes(&charges[i]) {
				continue
			}
			a, _ := new(big.Rat).SetString(charges[i].BilledCost.String())
			out.Add(out, a.Mul(a, rate))
		}
	}
	return out
}

func rational(a money.Amount) *big.Rat {
	out, _ := new(big.Rat).SetString(a.String())
	return out
}

// TestConversion_AddsUpInEveryReport draws bills in any currencies, at any rates, split in any way. Every dimension,
// every day and every summary adds up to the same total, which an independent sum of the charges confirms.
func TestConversion_AddsUpInEveryReport(t *testing.T) {
	r := seed.Fixed(t, 20, 1)
	for n := range *sets {
		s := owned(t)
		if n%2 == 1 {
			s.store.rolling = worthwhile{} // always
		}
		f := drawForeign(r, 14)
		s.bringForeign(f)
		want := f.sum(func(*bill.Charge) bool { return true })
		a := s.ask(ofMarch())
		if rational(a.Total).Cmp(want) != 0 {
			t.Fatalf("set %d: total %s, want %s", n, a.Total, want.FloatString(30))
		}
		for _, dims := range [][]string{
			{ServiceDim}, {ResourceDim, TeamDim}, {CurrencyDim}, {RegionDim, GroupDim}, {TagDim + "env", AccountDim},
		} {
			q := ofMarch(dims...)
			q.Daily = n%3 == 0
			if by := s.ask(q); by.Total != a.Total {
				t.Fatalf("set %d: by %v %s, want %s", n, dims, by.Total, a.Total)
			}
		}
		s.checkDays(f, a.Total)
		s.checkSummary(a.Total)
		if t.Failed() {
			t.Fatalf("set %d: %+v", n, f)
		}
	}
}

// checkDays compares the days of services with independent sums.
func (s *fixture) checkDays(f *foreign, total money.Amount) {
	s.Helper()
	var all money.Amount
	for day := range march.Days() {
		q := Question{
			From: march.Start().AddDate(0, 0, day), To: march.Start().AddDate(0, 0, day+1), Metric: Billed,
			Dims: []string{ServiceDim},
		}
		for _, row := range s.ask(q).Rows {
			want := f.sum(func(c *bill.Charge) bool {
				return c.ServiceName == row.Keys[0] && c.ChargePeriodStart.Equal(q.From)
			})
			if rational(row.Amount).Cmp(want) != 0 {
				s.Errorf("%v on day %d: %s, want %s", row.Keys, day+1, row.Amount, want.FloatString(30))
			}
			all.Increase(&row.Amount)
		}
	}
	equal(s, "all days", all, total)
}

func (s *fixture) checkSummary(total money.Amount) {
	s.Helper()
	all, err := s.store.Summaries(s.ctx, testOrg, march, march)
	s.Must(err)
	s.Must(all[0].Check())
	equal(s, "summary", all[0].Total.Billed, total)
}

// TestConversion_OfAmountsWithMoreDigits: amounts with up to 26 places are rounded so that their conversion is exact.
// All reports agree. At these rates, of up to 100,000 USD a unit, they differ from the sum of the unrounded amounts by
// less than 10^-8.
func TestConversion_OfAmountsWithMoreDigits(t *testing.T) {
	r := seed.Fixed(t, 20, 2)
	for n := range *sets {
		s := owned(t)
		f := drawForeign(r, 26)
		s.bringForeign(f)
		a := s.ask(ofMarch())
		off := rational(a.Total)
		off.Sub(off, f.sum(func(*bill.Charge) bool { return true })).Abs(off)
		if off.Cmp(big.NewRat(1, 100_000_000)) > 0 {
			t.Fatalf("set %d: total %s, off by %s", n, a.Total, off.FloatString(30))
		}
		for _, dim := range SummaryDims {
			if by := s.ask(ofMarch(dim)); by.Total != a.Total {
				t.Fatalf("set %d: by %s %s, want %s", n, dim, by.Total, a.Total)
			}
		}
		s.checkSummary(a.Total)
	}
}

// TestConversion_OfPeriodsOfAnEarlierVersion: an earlier version stored amounts and rates with all of their digits, a
// rollup of them, and a summary that does not add up.
func TestConversion_OfPeriodsOfAnEarlierVersion(t *testing.T) {
	r := seed.Fixed(t, 20, 3)
	for range 10 {
		s := owned(t)
		s.store.rolling = worthwhile{}
		charges := drawForeign(r, 14).bills[0]
		for i := range charges {
			charges[i].BillingCurrency, charges[i].USDRate = "EUR", money.Amount{}
		}
		in := imported("ca_1", "one", now)
		in.Rates = map[string]Rate{"EUR": {USD: money.MustParse("1.081081081081081")}}
		s.bring(in, charges...)
		want := s.ask(ofMarch()).Total

		at := periodKey(testOrg, march, "ca_1", false)
		p, err := table.Read[pointer](s.ctx, s.Table, at)
		s.Must(err)
		old := p
		old.Exact, old.Seq = false, p.Seq+1
		old.Rates = map[string]Rate{"EUR": {USD: money.MustParse("1.081081081081081081081081081081")}}
		s.Must(s.store.point(s.ctx, testOrg, &p, &old, nil))
		sums, err := s.store.Summaries(s.ctx, testOrg, march, march)
		s.Must(err)
		sums[0].Days[0].Billed = sums[0].Days[0].Billed.Add(money.FromScaled(1, 18))
		z, err := sums[0].pack()
		s.Must(err)
		row, err := table.Read[summaryItem](s.ctx, s.Table, summaryKey(testOrg, march))
		s.Must(err)
		s.Change(summaryKey(testOrg, march), table.Set("of", row.Seq), table.Set("z", z))

		for _, dims := range [][]string{nil, {ServiceDim}, {ResourceDim, RegionDim}} {
			for _, daily := range []bool{false, true} {
				q := ofMarch(dims...)
				q.Daily = daily
				equal(t, "total", s.ask(q).Total, want)
			}
		}
		s.checkSummary(want)
	}
}

func TestConversion_ARateThatRoundsToNothingIsNoRate(t *testing.T) {
	s := newFixture(t)
	c := charge(1, "i-1", "EC2", "1000")
	c.BillingCurrency = "EUR"
	in := imported("ca_1", "one", now)
	in.Rates = map[string]Rate{"EUR": {USD: money.FromScaled(1, 17)}}
	equal(t, "rates", len(s.bring(in, c).Rates), 0)
	equal(t, "unconverted", s.ask(ofMarch()).Unconverted, []CurrencyTotal{{"EUR", money.FromInt(1000)}})
}
