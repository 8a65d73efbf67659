package recommender

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/costtest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// payer is an account whose id can be that of a row's subject.
const payer = "ca_01k8z3v5y0e6m9x2q4t7r1c8bd"

// connectPayer connects an account whose bills were read at a time.
func (f *fixture) connectPayer(synced time.Time) {
	f.Helper()
	inventorytest.Connect(f.Fixture, org, payer)
	f.Put(inventory.AccountKey(org, payer), inventory.Account{
		ID: payer, Provider: "aws", CloudAccountID: "210987654321", Name: "payer", Status: inventory.AccountConnected,
		SeenFrom: f.Clock.Now(), LastSyncedAt: synced, CreatedAt: f.Clock.Now().AddDate(0, 0, -60),
	})
}

// billPayer imports 60 days of bills of the account.
func (f *fixture) billPayer(delivered time.Time, lines ...costtest.Line) {
	f.Helper()
	today := f.Clock.Now().Truncate(day)
	costtest.Import(f.Fixture, costtest.Bill{
		Org: org, Account: payer, From: today.AddDate(0, 0, -80), To: delivered.Truncate(day), Delivered: delivered,
	}, lines...)
}

func TestEvaluate_AnAccountIsASubjectOfItsOwn(t *testing.T) {
	for name, tt := range map[string]struct {
		synced, delivered time.Duration // ago
		want              string
	}{
		"an export that delivers":                   {0, day, ""},
		"an export whose deliveries have ended":     {0, 10 * day, payer},
		"an account whose bills are no longer read": {5 * day, 10 * day, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			now := f.Clock.Now()
			f.connectPayer(now.Add(-tt.synced))
			f.billPayer(now.Add(-tt.delivered), costtest.Line{Service: "EC2", USD: costtest.Every("3")})
			f.evaluate()
			items, _, err := recommendation.New(f.Platform).List(f.In(org), org,
				recommendation.List{Limit: 10, Scopes: grant.Scopes{All: true}, Types: []string{"aws-account"}})
			f.Must(err)
			var got []string
			for _, it := range items {
				got = append(got, it.ResourceID)
				f.Equal("rule", it.RuleID, "aws-account-no-billing-export")
				f.Equal("native id", it.ResourceUID, "210987654321")
			}
			f.Equal("accounts with a row", strings.Join(got, " "), tt.want)
		})
	}
}

func TestEvaluate_SupportOfANonproductionAccountIsASaving(t *testing.T) {
	f := newFixture(t)
	f.connectPayer(f.Clock.Now())
	a := apitest.Value(table.Read[inventory.Account](f.In(org), f.Table, inventory.AccountKey(org, payer)))(f)
	a.Environment = "nonprod"
	f.Put(inventory.AccountKey(org, payer), a)
	f.billPayer(f.Clock.Now(),
		costtest.Line{Service: "AWS Support (Business)", Category: bill.Purchase, USD: costtest.Every("4")},
		costtest.Line{Service: "Amazon EC2", USD: costtest.Every("1")})
	f.evaluate()
	f.Equal("rows", f.rows(), "aws-account-support-nonprod 210987654321 open 120.00")
}

// The row of an account stays while nothing changes: it is no resource that could be gone.
func TestEvaluate_TheRowOfAnAccountStays(t *testing.T) {
	f := newFixture(t)
	f.connectPayer(f.Clock.Now().Add(day))
	f.billPayer(f.Clock.Now().Add(-10*day), costtest.Line{Service: "EC2", USD: costtest.Every("3")})
	for range 3 {
		f.evaluate()
		f.Equal("rows", f.openOf("aws-account-no-billing-export"), "210987654321")
		f.Clock.Advance(day)
	}
}

func TestAccountBill_HasTheFiguresOfItsServices(t *testing.T) {
	f := newFixture(t)
	f.connectPayer(f.Clock.Now())
	cache := f.found("cache-1", cloud.Facts{"engine": "redis"})
	cache.Type = "aws-elasticache"
	inventorytest.DiscoverIn(f.Fixture, inventory.Partition{
		AccountID: payer, Region: "eu-west-1", Kind: cloud.CollectiveOf("aws").Type,
	}, org, cache)
	f.billPayer(
		f.Clock.Now(), costtest.Line{Resource: "cache-1", Service: "Amazon ElastiCache", USD: costtest.Every("2")},
		costtest.Line{Service: "AWS Support (Business)", Category: bill.Purchase, USD: costtest.Every("1")},
		costtest.Line{Service: "Amazon CloudFront", USD: costtest.Every("0.5")},
		costtest.Line{Service: "Tax", Category: bill.Tax, USD: costtest.Every("9")},
	)
	got := apitest.Value(readBills(f.In(org), cost.New(f.Platform), inputsOf{org, f.Clock.Now(), everyPart}, nil))(f)
	s := newSubjectOf(t, "aws-account", "", nil)
	s.CloudAccountID, s.bills = payer, got
	for fact, want := range map[string]any{
		"total_cost_30d": 105.0, "support_cost_30d": 30.0, "cloudfront_cost_30d": 15.0, "cache_od_cost_30d": 60.0,
		"cache_coverage_pct": 0.0,
	} {
		if v, why := s.derived(t, fact); v != want || why != "" {
			t.Errorf("%s is %v (%q), want %v", fact, v, why, want)
		}
	}
	s.CloudAccountID = "ca_unbilled"
	for _, fact := range []string{"total_cost_30d", "cache_coverage_pct", "export_ok"} {
		if v, why := s.derived(t, fact); v != nil || why != unbilled {
			t.Errorf("without a bill, %s is %v (%q)", fact, v, why)
		}
	}
}

func TestCacheCoverage_IsTheShareAtPublicPrices(t *testing.T) {
	row := func(purchase, usd string) *cost.Row {
		return &cost.Row{
			Keys:   []string{payer, "aws-elasticache", "Amazon ElastiCache", purchase, bill.Usage, ""},
			Amount: money.MustParse(usd),
		}
	}
	for name, tt := range map[string]struct {
		listed []*cost.Row
		want   any
		why    condition.Reason
	}{
		"three quarters": {[]*cost.Row{row(cost.OnDemand, "25"), row(cost.Committed, "75")}, 75.0, ""},
		"nothing":        {[]*cost.Row{row(cost.OnDemand, "25")}, 0.0, ""},
		"no public price of the committed part": {
			[]*cost.Row{row(cost.OnDemand, "25"), row(cost.Committed, "0")}, nil, unpriced,
		},
		"no use": {nil, nil, unpriced},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubjectOf(t, "aws-account", "", nil)
			s.CloudAccountID = payer
			s.bills.from[payer], s.bills.accounts = savingsNow.AddDate(0, 0, -32), map[string]*accountBill{}
			for _, r := range tt.listed {
				s.bills.addFigure(cost.List, r)
			}
			if v, why := s.derived(t, "cache_coverage_pct"); v != tt.want || why != tt.why {
				t.Errorf("%v (%q), want %v (%q)", v, why, tt.want, tt.why)
			}
		})
	}
}

func TestExportState_KnowsOnlyWhatTheDeliveriesShow(t *testing.T) {
	for name, tt := range map[string]struct {
		source string
		chosen cloud.BillSource
		want   any
	}{
		"an export": {"bigquery_export", "", true},
		"Cost Explorer because no export is to be had": {"cost_explorer", "", false},
		"Cost Explorer by choice":                      {"cost_explorer", cloud.CostExplorer, nil},
		"an uploaded file":                             {"upload", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubjectOf(t, "aws-account", "", nil)
			s.bills.deliveries = map[string]delivery{"ca_1": {tt.source, savingsNow}}
			s.accounts = map[string]inventory.Account{
				"ca_1": {LastSyncedAt: savingsNow, Billing: cloud.BillSettings{Source: tt.chosen}},
			}
			if v, _ := s.exportState(); v != tt.want {
				t.Errorf("%v, want %v", v, tt.want)
			}
		})
	}
}
