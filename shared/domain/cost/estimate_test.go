package cost

import (
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
)

func estimated(fingerprint string, at time.Time) Import {
	in := imported("ca_1", fingerprint, at)
	in.Estimated, in.Source = true, "estimate"
	return in
}

func TestEstimates_CountOnlyBehindWhatIsBilled(t *testing.T) {
	s := newFixture(t)
	s.bring(estimated("e1", now), charge(1, "i-1", "EC2", "100"), charge(2, "i-1", "EC2", "200"),
		charge(3, "i-1", "EC2", "300"))
	equal(t, "before any bill", s.ask(ofMarch()).Total.String(), "600")
	s.bring(imported("ca_1", "b1", now), charge(1, "i-1", "EC2", "1"), charge(2, "i-1", "EC2", "2"))
	s.bring(imported("ca_2", "b1", now), charge(3, "i-2", "EC2", "0.5"))

	q := ofMarch()
	q.Daily = true
	a := s.ask(q)
	equal(t, "days", a.Days[:4], []money.Amount{money.FromInt(1), money.FromInt(2), money.MustParse("300.5"), {}})
	equal(t, "which are estimated", a.Estimated[:4], []bool{false, false, true, false})
	equal(t, "total", s.ask(ofMarch()).Total.String(), "303.5")
	costs, err := s.store.ResourceCosts(s.ctx, testOrg, march)
	s.Must(err)
	equal(t, "billed for resources", costs,
		map[string]ResourceCost{"i-1": {money.FromInt(3)}, "i-2": {money.MustParse("0.5")}})

	s.bring(imported("ca_1", "b2", now.Add(time.Hour)), charge(1, "i-1", "EC2", "1"), charge(3, "i-1", "EC2", "4"))
	a = s.ask(q)
	equal(t, "total, billed", a.Total.String(), "5.5")
	equal(t, "nothing is estimated", a.Estimated[2], false)

	closed := imported("ca_1", "b3", now.Add(2*time.Hour))
	closed.Final = true
	s.bring(closed, charge(1, "i-1", "EC2", "1"))
	equal(t, "a closed month has no estimates", s.ask(ofMarch()).Total.String(), "1.5")
}

func TestCurrencies_AreConvertedOrTold(t *testing.T) {
	s := newFixture(t)
	in := imported("ca_1", "one", now)
	in.Rates = map[string]Rate{"EUR": {money.MustParse("1.1"), "ECB", "2026-03-19"}}
	euro, yen := charge(1, "i-2", "EC2", "10"), charge(1, "i-3", "EC2", "1000")
	euro.BillingCurrency, yen.BillingCurrency = "EUR", "JPY"
	p := s.bring(in, charge(1, "i-1", "EC2", "1"), euro, yen)
	equal(t, "totals by currency",
		p.ByCurrency["EUR"].Billed.String()+" "+p.ByCurrency["JPY"].Billed.String()+" "+
			p.ByCurrency[USD].Billed.String(), "10 1000 1")
	a := s.ask(ofMarch(CurrencyDim, ResourceDim))
	equal(t, "rows", rows(a), []string{"EUR,i-2=11", "USD,i-1=1"})
	equal(t, "total", a.Total.String(), "12")
	equal(t, "unconverted", a.Unconverted, []CurrencyTotal{{"JPY", money.FromInt(1000)}})
	equal(t, "unconverted, of totals only", s.ask(ofMarch()).Unconverted, a.Unconverted)
	sums, err := s.store.Summaries(s.ctx, testOrg, march, march)
	s.Must(err)
	equal(t, "unconverted, of the summary", sums[0].Unconverted, a.Unconverted)

	none := charge(1, "i-4", "EC2", "1")
	none.BillingCurrency = ""
	if _, err := s.tryBring(imported("ca_2", "one", now), none); err == nil {
		t.Error("a charge without a currency is taken")
	}
}

func TestPeriods_TellControlTotals(t *testing.T) {
	s := newFixture(t)
	credit := charge(20, "", "EC2", "-3")
	credit.ChargeCategory = bill.Credit
	list := charge(2, "i-1", "EC2", "2")
	list.ListCost, list.EffectiveCost = money.FromInt(5), money.FromInt(1)
	s.bring(imported("ca_1", "one", now.Add(-17*24*time.Hour)), charge(1, "i-1", "EC2", "1"), list, credit)
	all, err := s.store.Periods(s.ctx, testOrg)
	s.Must(err)
	equal(t, "periods", len(all), 1)
	p := all[0]
	equal(t, "rows and lines", []int64{p.Rows, int64(p.Lines)}, []int64{3, 2})
	equal(t, "totals", p.ByCurrency, map[string]Totals{USD: {3, money.FromInt(0), money.FromInt(-1), money.FromInt(3)}})
	equal(t, "billed through", p.BilledThrough.Format(time.DateOnly), "2026-03-02")
	equal(t, "settled through", p.SettledThrough.Format(time.DateOnly), "2026-03-01")
	equal(t, "of what", p.Month.String()+" "+p.AccountID+" "+p.Fingerprint+" "+p.Source+" "+p.Export,
		"2026-03 ca_1 one data_export daily")
	for metric, want := range map[Metric]string{Billed: "0", Effective: "-1", List: "3"} {
		q := ofMarch()
		q.Metric = metric
		equal(t, string(metric), s.ask(q).Total.String(), want)
		q.UsageOnly = true
		equal(t, string(metric)+" of usage", s.ask(q).Total, money.MustParse(want).Add(money.FromInt(3)))
	}
	elsewhere, err := s.store.Periods(contextOf(s, otherOrg), otherOrg)
	s.Must(err)
	equal(t, "periods of another organization", len(elsewhere), 0)
}
