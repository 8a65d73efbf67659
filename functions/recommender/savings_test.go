package recommender

import (
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/money"
)

var savingsNow = time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC)

// newSubject returns a running instance that is 100 days old, without bills and prices.
func newSubject(tb testing.TB) *subject {
	tb.Helper()
	of, err := condition.NewCatalogue().NewSubject("aws-ec2")
	if err != nil {
		tb.Fatal(err)
	}
	at := savingsNow.AddDate(0, 0, -100)
	return &subject{
		inputs: &inputs{
			now: savingsNow, end: savingsNow.Truncate(day), parts: map[string]parts{}, dates: map[string]time.Time{},
			bills:    bills{from: map[string]time.Time{}, of: map[string][]billed{}},
			cheapest: map[sizeQuery]sizeAnswer{}, priceFacts: map[string]any{}, classes: map[string]string{},
			commitments: &commitments{past: map[string]pastUse{}, advice: map[adviceKey]advice{}},
			rates:       func(string) *pricing.HourlyRate { return nil },
		},
		Resource: inventory.Resource{
			UID: "i-1", Type: "aws-ec2", CloudAccountID: "ca_1", Status: cloud.Running, StatusAt: at.UnixMicro(),
			CreatedAt: at, DiscoveredAt: at,
		},
		facts: of.Facts, rollups: &condition.Rollups{Kind: "aws-ec2"},
		usage: func(string) measurement.Use { return measurement.Use{} }, end: savingsNow.Truncate(day),
	}
}

// bill gives a resource costs on the last 30 settled days: an amount on each of the days from first on.
func (s *subject) bill(uid, purchase, perDay string, first int) {
	days := make([]money.Amount, billedDays)
	for n := first; n < billedDays; n++ {
		days[n] = money.MustParse(perDay)
	}
	s.bills.from["ca_1"] = savingsNow.Truncate(day).AddDate(0, 0, -billedDays-2)
	s.bills.of[uid] = append(s.bills.of[uid], billed{purchase, money.SeriesOf(days...)})
}

// price gives the subject hourly rates: 0.1 USD while it runs.
func (s *subject) price(off string) {
	s.rates = func(string) *pricing.HourlyRate {
		return &pricing.HourlyRate{Running: money.MustParse("0.1"), Off: money.MustParse(off), Version: "v1"}
	}
}

// saves returns a rule of a category with savings in machine form.
func saves(tb testing.TB, form string) *rule.Rule {
	tb.Helper()
	s, err := rule.ParseSavings(form)
	if err != nil {
		tb.Fatal(err)
	}
	return &rule.Rule{ID: "r", Type: "aws-ec2", Category: rule.Idle, Savings: s, Verb: rule.VerbStop}
}

func TestSavings_AreTheAmountByWhichTheBillFalls(t *testing.T) {
	for name, tt := range map[string]struct {
		form       string
		prepare    func(*subject)
		gross, net string
		basis      string
		why        condition.Reason
	}{
		"all of 30 settled days": {
			"all", func(s *subject) { s.bill("i-1", cost.OnDemand, "2", 0) }, "60", "60", recommendation.Billed, "",
		},
		"charges that a commitment continues are no saving": {"all", func(s *subject) {
			s.bill("i-1", cost.OnDemand, "0.5", 0)
			s.bill("i-1", cost.Committed, "1.5", 0)
		}, "60", "15", recommendation.Billed, ""},
		"of a state of 8 billed days, as 30 days": {"all", func(s *subject) {
			s.bill("i-1", cost.OnDemand, "1", 22)
			s.StatusAt = s.bills.from["ca_1"].AddDate(0, 0, 22).UnixMicro()
		}, "30", "30", recommendation.Billed, ""},
		"of a state of 5 billed days, by the estimate": {"all", func(s *subject) {
			s.bill("i-1", cost.OnDemand, "1", 25)
			s.StatusAt = s.bills.from["ca_1"].AddDate(0, 0, 25).UnixMicro()
			s.price("0.01")
		}, "73", "73", recommendation.Estimated, ""},
		"without a bill by the estimate": {
			"all", func(s *subject) { s.price("0") }, "73", "73", recommendation.Estimated, "",
		},
		"of a stopped resource by the rate of a stopped one": {"all", func(s *subject) {
			s.price("0.01")
			s.Status = cloud.Stopped
		}, "7.3", "7.3", recommendation.Estimated, ""},
		"without a bill and a price unknown": {"all", func(*subject) {}, "0", "0", "", unpriced},
		"at stale prices unknown": {"all", func(s *subject) {
			s.rates = func(string) *pricing.HourlyRate {
				return &pricing.HourlyRate{Running: money.FromInt(1), Stale: true}
			}
		}, "0", "0", "", condition.Stale},
		"of machines that are resources of their own unknown": {"all", func(s *subject) {
			s.rates = func(string) *pricing.HourlyRate {
				return &pricing.HourlyRate{Running: money.FromInt(1), Shared: true}
			}
		}, "0", "0", "", unpriced},
		"compute is the share that a stop ends": {"compute", func(s *subject) {
			s.bill("i-1", cost.OnDemand, "2", 0)
			s.price("0.025")
		}, "45", "45", recommendation.Billed, ""},
		"compute of a stopped resource is 0": {"compute", func(s *subject) {
			s.bill("i-1", cost.OnDemand, "2", 0)
			s.Status = cloud.Stopped
		}, "0", "0", recommendation.Billed, ""},
		"hours are those beyond office hours": {"hours", func(s *subject) {
			s.bill("i-1", cost.OnDemand, "5.6", 0)
			s.price("0")
		}, "108", "108", recommendation.Billed, ""}, // 168 USD of 168 hours, 108 of them stopped
		"a bound is shown and counts 0": {
			"bound:all", func(s *subject) { s.bill("i-1", cost.OnDemand, "2", 0) }, "60", "0", recommendation.Billed,
			"",
		},
		"a bound without a price counts 0, too":        {"bound:all", func(*subject) {}, "0", "0", "", ""},
		"a rule that is not about money saves nothing": {"none", func(*subject) {}, "0", "0", "", ""},
		"credits are no saving": {
			"all", func(s *subject) { s.bill("i-1", cost.OnDemand, "-2", 0) }, "0", "0", recommendation.Billed, "",
		},
		"a part that neither the bill nor a price shows is unknown": {
			"part:cache", func(s *subject) { s.bill("i-1", cost.OnDemand, "2", 0) }, "0", "0", "", unpriced,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubject(t)
			tt.prepare(s)
			got, _, why := s.savingsOf(saves(t, tt.form))
			if why != tt.why || got.Basis != tt.basis || got.Gross != money.MustParse(tt.gross) ||
				got.Net != money.MustParse(tt.net) {
				t.Errorf("gross %s, net %s, %q, why %q", got.Gross, got.Net, got.Basis, why)
			}
		})
	}
}

func TestSavings_OfDisksAreClaimedWhereTheyArise(t *testing.T) {
	s := newSubject(t)
	s.parts["i-1"] = parts{disks: []disk{{uid: "vol-1", id: "res_1"}, {uid: "vol-2", id: "res_2"}}}
	s.bill("vol-1", cost.OnDemand, "1", 0)
	s.bill("vol-2", cost.OnDemand, "0.5", 0)
	got, _, why := s.savingsOf(saves(t, "part:disks"))
	if why != "" || got.Net != money.FromInt(45) || len(got.Claims) != 2 || got.Claims[0].ResourceID != "res_1" ||
		got.Claims[0].USD != money.FromInt(30) {
		t.Errorf("%+v, why %q", got, why)
	}
}

func TestWorthwhile_IsASavingOfADollar(t *testing.T) {
	for usd, want := range map[string]bool{"0.99": false, "1": true, "0": false} {
		s := recommendation.Savings{Gross: money.MustParse(usd)}
		if got := worthwhile(saves(t, "all"), &s); got != want {
			t.Errorf("%s USD: %v", usd, got)
		}
		if !worthwhile(saves(t, "none"), &s) || !worthwhile(saves(t, "bound:all"), &s) {
			t.Errorf("%s USD: a rule that counts no money is dropped", usd)
		}
	}
}
