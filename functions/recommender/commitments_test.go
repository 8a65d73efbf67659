package recommender

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/commitment"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const computePlan = "aws-account-compute-plan"

// simulatePayer gives the payer the machines and the bills of 13 months of a simulated account. Without plan, the use
// that its savings plan covers is left out. It returns the cost of machines on demand by day.
func (f *fixture) simulatePayer(plan bool) map[time.Time]money.Amount {
	f.Helper()
	f.connectPayer(f.Clock.Now())
	conn := apitest.Value(simulated.New(f.Table, f.Clock).Connect(f.In(org), cloud.Account{
		Org: org, ID: payer, Provider: simulated.Name, NativeID: "100000000001", AuthMethod: simulated.AuthMethod,
		Regions:     []string{"eu-west-1"},
		Credentials: map[string]string{"size": "80", "kinds": "aws-ec2", "regions": "eu-west-1"},
	}))(f)
	f.discoverAt(conn)
	biller := conn.(cloud.Biller) //nolint:forcetypeassert // the simulated cloud is one
	days := map[time.Time]money.Amount{}
	for _, d := range apitest.Value(biller.Deliveries(f.In(org), f.Clock.Now().AddDate(-2, 0, 0)))(f) {
		into := apitest.Value(cost.New(f.Platform).Begin(f.In(org), cost.Import{
			Org: org, AccountID: payer, Provider: "aws", Month: cost.MonthOf(d.Period), Fingerprint: d.Fingerprint,
			DeliveredAt: d.DeliveredAt, Final: d.Final, Source: "data_export", Export: "daily",
		}))(f)
		for _, file := range d.Files {
			r := apitest.Value(biller.OpenBill(f.In(org), d, file))(f)
			_, err := billfile.Read(f.In(org), d.Form, file.Name, r, func(c *bill.Charge) error {
				machine := c.ChargeCategory == bill.Usage && strings.HasPrefix(c.ResourceID, "i-")
				if machine && c.PricingCategory == bill.Committed && !plan {
					return nil
				}
				if machine && c.ChargeClass == "" && c.PricingCategory == bill.Standard {
					at := c.ChargePeriodStart.UTC().Truncate(day)
					days[at] = days[at].Add(c.EffectiveCost)
				}
				return into.Add(c)
			})
			f.Must(err)
		}
		apitest.Value(into.Commit(f.In(org)))(f)
	}
	return days
}

// discoverAt stores the resources that a simulated connection lists as those of the payer.
func (f *fixture) discoverAt(conn cloud.Conn) {
	f.Helper()
	var found []cloud.Resource
	for page := ""; ; {
		got := apitest.Value(conn.List(f.In(org), cloud.AWSEC2, "eu-west-1", page))(f)
		found = append(found, got.Resources...)
		if page = got.Next; page == "" {
			break
		}
	}
	inventorytest.DiscoverIn(f.Fixture, inventory.Partition{
		AccountID: payer, Region: "eu-west-1", Kind: cloud.AWSEC2,
	}, org, found...)
}

// rowOf returns the row of a rule.
func (f *fixture) rowOf(ruleID string) recommendation.Row {
	f.Helper()
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		if r.RuleID == ruleID {
			return r
		}
	}
	return recommendation.Row{}
}

// A recommendation to buy a plan has the levels that the raw charges of 13 months give, and saves what they say.
func TestEvaluate_RecommendsTheCommitmentOfTheBills(t *testing.T) {
	f := newFixture(t)
	days := f.simulatePayer(true)
	f.evaluate()
	r := f.rowOf(computePlan)
	if r.Status != recommendation.Open || len(r.Commitment) != 1 {
		t.Fatalf("the row is %+v", r)
	}
	got := r.Commitment[0]
	f.Equal("scope", got.Scope, commitment.Scope{Provider: "aws", Product: "compute"})
	f.Equal("basis", got.Basis, commitment.Daily)
	if got.AllDays < 360 || len(got.Offers) != 1 || got.Offers[0].Source != commitment.FromBill {
		t.Fatalf("the advice is %+v", got)
	}
	if rate := got.Offers[0].Rate; rate.Fixed(2) != "0.72" {
		t.Errorf("the rate on the bill is %s", rate)
	}
	end := slices.MaxFunc(slices.Collect(maps.Keys(days)), time.Time.Compare)
	read := apitest.Value(readBills(f.In(org), cost.New(f.Platform), inputsOf{org, f.Clock.Now(), everyPart}, nil))(f)
	settled := read.from[payer].AddDate(0, 0, billedDays-1)
	if settled.After(end) {
		t.Fatalf("settled %s after the last charge %s", settled, end)
	}
	use := commitment.Use{Basis: commitment.Daily, From: settled.AddDate(0, 0, 1-got.AllDays)}
	for n := range got.AllDays {
		use.Cost = append(use.Cost, days[use.From.AddDate(0, 0, n)])
	}
	want, why, err := commitment.Advise(&commitment.Case{
		Scope: got.Scope, Use: use, Waste: got.Waste, Offers: []commitment.Offer{got.Offers[0].Offer},
	})
	f.Must(err)
	if why != "" || !slices.Equal(want.Offers[0].Levels, got.Offers[0].Levels) ||
		!slices.Equal(want.Offers[0].Backtest.Results, got.Offers[0].Backtest.Results) {
		t.Errorf("got %+v\nwant %+v (%s)", got, want, why)
	}
	f.Equal("saving", r.Savings.Net, want.Gain().Round(4))
	if r.Savings.Net.Cmp(r.Savings.Cost) > 0 {
		t.Errorf("it saves %s of %s", r.Savings.Net, r.Savings.Cost)
	}
	f.Equal("stable use in the evidence", r.Evidence.Values["compute_od_p10_hourly"] != nil, true)
}

// Without a commitment on the bill nobody knows the discount: the rule is unknown with that reason, and the 13 months
// are not read.
func TestEvaluate_ACommitmentOfUnknownDiscountIsUnknown(t *testing.T) {
	f := newFixture(t)
	f.simulatePayer(false)
	f.evaluate()
	f.Equal("row", f.rowOf(computePlan).ID, "")
	counts := apitest.Value(recommendation.New(f.Platform).ReadCounts(f.In(org), org))(f)
	i := slices.IndexFunc(counts, func(c recommendation.RuleCount) bool { return c.RuleID == computePlan })
	if i < 0 || counts[i].Unknown != 1 || !strings.Contains(fmt.Sprintf("%+v", counts[i]), "unknown_discount") {
		t.Errorf("the counts are %+v", counts)
	}
}

// The bills of 13 months cost few read units more than those of 30 days.
func TestEvaluate_ReadsThirteenMonthsWithFewUnits(t *testing.T) {
	var units [2]int
	for i, plan := range []bool{false, true} {
		f := newFixture(t)
		f.simulatePayer(plan)
		used := f.Meter(func(ctx context.Context) {
			apitest.Value(Evaluate(ctx, f.Platform, nil))(f)
		})
		units[i] = int(used.ReadUnits)
	}
	t.Logf("a daily pass takes %d read units without the 13 months, and %d with them", units[0], units[1])
	if more := units[1] - units[0]; more > 300 {
		t.Errorf("the 13 months of 80 machines take %d read units", more)
	}
}

// reserved gives the account of a subject use on demand of resources by day, and a rate on the bill.
func (s *subject) reserved(p *product, use map[string]eligibleUse) {
	s.bills.from["ca_1"] = savingsNow.Truncate(day).AddDate(0, 0, -billedDays-2)
	s.bills.eligible = map[string][]eligibleUse{}
	for _, uid := range slices.Sorted(maps.Keys(use)) {
		one := use[uid]
		one.uid, one.kind = uid, p.types[0]
		s.bills.eligible["ca_1"] = append(s.bills.eligible["ca_1"], one)
	}
	s.bills.accounts = map[string]*accountBill{"ca_2": {uses: map[*product]*committedUse{p: {
		committed: money.FromInt(60), listCommitted: money.FromInt(100), some: true,
	}}}}
}

// daily returns 30 days of an amount.
func daily(usd string) money.Series {
	days := make([]money.Amount, billedDays)
	for i := range days {
		days[i] = money.MustParse(usd)
	}
	return money.SeriesOf(days...)
}

func TestAdvise_ReservationsAreOfFamiliesInRegions(t *testing.T) {
	s := newSubjectOf(t, "azure-subscription", "", nil)
	p := productNamed("azure-subscription", "machines")
	s.reserved(p, map[string]eligibleUse{
		"vm-1": {region: "westeurope", days: daily("24")}, "vm-2": {region: "westeurope", days: daily("12")},
		"vm-3": {region: "westeurope", days: daily("48")}, "vm-4": {region: "eastus", days: daily("24")},
		"vm-5": {region: "eastus", days: daily("9")},
	})
	s.classes = map[string]string{
		"vm-1": "Standard_D4s_v5", "vm-2": "Standard_D2s_v5", "vm-3": "Standard_E8s_v5", "vm-4": "Standard_D4s_v5",
	}
	waste := []recommendation.Waste{
		{ResourceType: "azure-vm", CloudAccountID: "ca_1", Region: "westeurope", USD: money.FromInt(73)},
		{ResourceType: "azure-vm", CloudAccountID: "ca_2", Region: "westeurope", USD: money.FromInt(999)},
		{ResourceType: "azure-disk", CloudAccountID: "ca_1", Region: "westeurope", USD: money.FromInt(999)},
	}
	s.commitments.waste = func() []recommendation.Waste { return waste }
	a := s.adviceOn(p)
	var got []string
	for i := range a.scopes {
		one := &a.scopes[i]
		got = append(got, fmt.Sprint(one.Region, " ", one.Family, " ", one.Gain().Fixed(2)))
	}
	// 48 a day less its part of the waste of 2.40 a day, at a discount of 40 %, in 730 hours
	f := strings.Join(got, ", ")
	if f != "westeurope Esv5 567.31, eastus Dsv5 292.00, westeurope Dsv5 425.49" &&
		f != "westeurope Esv5 567.31, westeurope Dsv5 425.49, eastus Dsv5 292.00" {
		t.Errorf("got %s", f)
	}
	if v, why := s.derived(t, "vm_reserved_gain_30d"); why != "" || fmt.Sprintf("%.2f", v) != "1284.80" {
		t.Errorf("the fact is %v (%s)", v, why)
	}
}

func TestAdvise_CountsOfAMachineWhatAStopSaves(t *testing.T) {
	s := newSubjectOf(t, "azure-subscription", "", nil)
	p := productNamed("azure-subscription", "machines")
	s.reserved(p, map[string]eligibleUse{"vm-1": {region: "westeurope", days: daily("5")}})
	s.price("0.05") // a stopped day saves 1.20
	if got := s.onDemandOf(p); got.Fixed(2) != "36.00" {
		t.Errorf("30 days of 5 USD, of which 1.20 are the machine: %s", got)
	}
	s.rates = func(string) *pricing.HourlyRate { return nil }
	if got := s.onDemandOf(p); got.Fixed(2) != "150.00" {
		t.Errorf("without a price: %s", got)
	}
}

func TestAdvise_SaysWhyACommitmentIsUnknown(t *testing.T) {
	p := productNamed("azure-subscription", "machines")
	use := map[string]eligibleUse{"vm-1": {region: "westeurope", days: daily("24")}}
	for name, tt := range map[string]struct {
		change func(s *subject)
		want   condition.Reason
	}{
		"known":              {func(*subject) {}, ""},
		"no settled bills":   {func(s *subject) { s.bills.from = nil }, unbilled},
		"no discount":        {func(s *subject) { s.bills.accounts = nil }, "unknown_discount"},
		"no family is known": {func(s *subject) { s.classes = nil }, unknownValue},
		"a discount without a public price": {func(s *subject) {
			s.bills.accounts["ca_2"].uses[p].unlistedCommitted = true
		}, "unknown_discount"},
		"a commitment that costs more than on demand": {func(s *subject) {
			s.bills.accounts["ca_2"].uses[p].committed = money.FromInt(101)
		}, "unknown_discount"},
		"no use at all": {func(s *subject) { s.bills.eligible = nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubjectOf(t, "azure-subscription", "", nil)
			s.reserved(p, use)
			s.classes = map[string]string{"vm-1": "Standard_D4s_v5"}
			tt.change(s)
			if _, why := s.derived(t, "vm_reserved_gain_30d"); why != tt.want {
				t.Errorf("%q, want %q", why, tt.want)
			}
		})
	}
}

func TestProducts_AreOfRulesThatRecommendThem(t *testing.T) {
	for i := range products {
		p := &products[i]
		for _, kind := range p.types {
			if _, known := cloud.KindOf(kind); !known {
				t.Errorf("%s of %s covers %s, which is no type", p.name, p.subject, kind)
			}
		}
		for _, id := range p.rules {
			r := rule.ByID(id)
			if r == nil || r.Type != p.subject || r.Savings.String() != "rate" {
				t.Errorf("%s of %s: %s is no rule about a rate of it", p.name, p.subject, id)
			}
		}
	}
}
