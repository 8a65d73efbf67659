package reports

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/seed"
)

var sets = flag.Int("sets", 15, "how many random sets of bills all reports are asked about")

// billSet is a random set of the bills of two months in several currencies, some of which state their own rates.
type billSet struct {
	charges [2][3][]bill.Charge // by month and account
	rates   map[string]money.Amount
}

var billMonths = [2]string{"2026-01", "2026-02"}

func drawBills(r *rand.Rand) *billSet {
	f := &billSet{rates: map[string]money.Amount{cost.USD: money.FromInt(1)}}
	for _, currency := range []string{"EUR", "CHF", "CAD"} {
		f.rates[currency] = money.FromInt(1).MulDiv(money.FromInt(1), money.FromScaled(1+r.Int64N(99_999), r.IntN(6)))
	}
	for range 1 + r.IntN(40) {
		m, account := r.IntN(2), r.IntN(3)
		c := charge(fmt.Sprintf("%s-%02d", billMonths[m], 1+r.IntN(28)), "i-"+strconv.Itoa(r.IntN(7)),
			"S"+strconv.Itoa(r.IntN(3)), money.FromScaled(r.Int64N(1e12)-1e11, 6+r.IntN(9)).String())
		c.BillingCurrency = []string{cost.USD, "EUR", "CHF", "CAD", "XXX"}[r.IntN(5)]
		if c.BillingCurrency != "CAD" && c.BillingCurrency != cost.USD {
			c.USDRate = f.rates[c.BillingCurrency]
		}
		if r.IntN(3) == 0 {
			c.EffectiveCost = money.FromScaled(r.Int64N(1e12), r.IntN(15))
		}
		if c.ResourceID == "i-6" {
			c.ResourceID = ""
		}
		f.charges[m][account] = append(f.charges[m][account], c)
	}
	return f
}

// bringBills replaces the bills of three accounts in both months.
func (a *fixture) bringBills(f *billSet, name string) {
	a.Helper()
	a.Clock.Advance(time.Second)
	for m, accounts := range f.charges {
		for n, charges := range accounts {
			b, err := cost.New(a.Platform).Begin(a.In(ours), cost.Import{
				Org: ours, AccountID: "ca_" + strconv.Itoa(n+1), Provider: []string{"aws", "azure", "gcp"}[n],
				Month: apitest.Value(cost.ParseMonth(billMonths[m]))(a), Fingerprint: name, DeliveredAt: a.Clock.Now(),
				Final: true, Rates: map[string]cost.Rate{"CAD": {USD: f.rates["CAD"]}},
			})
			a.Must(err)
			for i := range charges {
				a.Must(b.Add(&charges[i]))
			}
			_, err = b.Commit(a.In(ours))
			a.Must(err)
		}
	}
}

// sum returns the converted costs of a month in cents, from the charges alone and with rational numbers: those of all
// charges, or of named resources.
func (f *billSet) sum(month int, amount func(*bill.Charge) money.Amount, resources ...string) string {
	sum := new(big.Rat)
	for _, charges := range f.charges[month] {
		for i := range charges {
			rate, ok := f.rates[charges[i].BillingCurrency]
			if !ok || resources != nil && !slices.Contains(resources, charges[i].ResourceID) {
				continue
			}
			exact, _ := new(big.Rat).SetString(rate.String())
			rounded, _ := new(big.Rat).SetString(exact.FloatString(15)) // the decimal places of a rate
			a, _ := new(big.Rat).SetString(amount(&charges[i]).String())
			sum.Add(sum, a.Mul(a, rounded))
		}
	}
	return money.MustParse(sum.FloatString(money.Scale)).Fixed(2)
}

func billedCost(c *bill.Charge) money.Amount    { return c.BilledCost }
func effectiveCost(c *bill.Charge) money.Amount { return c.EffectiveCost }

// TestReports_InAnyCurrencyAddUpToAnIndependentSum draws bills in any currencies, at any rates, split in any way. Each
// report answers 200, its total is the independent sum of the charges, and its parts add up to the total.
func TestReports_InAnyCurrencyAddUpToAnIndependentSum(t *testing.T) {
	r := seed.Fixed(t, 20, 4)
	for n := 0; n < *sets; n += setsAtOnce {
		t.Run(fmt.Sprintf("sets from %d on", n), func(t *testing.T) {
			a := &fixture{Fixture: apitest.New(t, Operations)}
			a.ids = inventorytest.Discover(a.Fixture, ours, "aws-ec2", inventorytest.Instances(6)...)
			a.web = inventorytest.Team(a.Fixture, ours, "Web", a.ids[0], a.ids[1])
			a.data = inventorytest.Team(a.Fixture, ours, "Data", a.ids[1], a.ids[2])
			a.countOrders()
			for i := range min(setsAtOnce, *sets-n) {
				f := drawBills(r)
				a.bringBills(f, strconv.Itoa(n+i))
				if a.checkReports(f); t.Failed() {
					t.Fatalf("set %d: %+v", n+i, f)
				}
			}
		})
	}
}

// setsAtOnce is the number of sets in one store, one after another: each set replaces the one before.
const setsAtOnce = 20

func (a *fixture) checkReports(f *billSet) {
	a.Helper()
	billed, effective := f.sum(1, billedCost), f.sum(1, effectiveCost)
	for _, path := range []string{
		"/reports/trends?cost=", "/reports/trends?granularity=week&cost=", "/reports/providers/summary?cost=",
		"/reports/costs/resources?limit=100&cost=", "/reports/teams?cost=", "/reports/teams/trends?cost=",
		"/reports/tags/env?cost=", "/reports/trends?granularity=month&cost=", "/reports/tags/trends?tag_key=env&cost=",
	} {
		a.checkItems(path+"billed&period=2026-02", billed)
		a.checkItems(path+"effective&period=2026-02", effective)
	}
	for _, path := range []string{"/reports/tags", "/reports/teams/" + a.web, "/reports/teams/unassigned"} {
		a.get(path + "?cost=billed&period=2026-02").Want(http.StatusOK)
	}
	for _, dims := range []string{"provider,service_name", "team_id,resource_uid,cloud_account_id", "tag:env,region"} {
		b := apitest.Data[Breakdown](a.get("/reports/costs/breakdown?period=2026-02&dims=" + dims))
		var sum money.Amount
		for _, l := range b.Links {
			if l.Source == rootID {
				sum = sum.Add(usd(l.ValueUSD))
			}
		}
		a.Equal("breakdown by "+dims, b.TotalUSD+" "+sum.Fixed(2), billed+" "+billed)
	}
	s := apitest.Data[MonthSummary](a.get("/reports/summary?period=2026-02"))
	a.Equal("summary", s.TotalCostUSD+" "+s.PreviousUSD, billed+" "+f.sum(0, billedCost))
	closed := apitest.Data[[]Snapshot](a.get("/reports/snapshots"))
	a.Equal("snapshots", closed[0].BilledUSD+" "+closed[1].BilledUSD+" "+closed[0].EffectiveUSD,
		billed+" "+f.sum(0, billedCost)+" "+effective)
	a.checkScoped(f)
	units := apitest.Data[UnitReport](a.get("/reports/unit-metrics?granularity=month&period=2026-02"))
	a.Equal("cost of units", units.Items[0].Items[0].CostUSD, effective)
}

// checkScoped asks as somebody who sees the team Web alone, whose resources are i-0 and i-1.
func (a *fixture) checkScoped(f *billSet) {
	a.Helper()
	scoped := "viewer team:" + a.web
	before, billed := f.sum(0, billedCost, "i-0", "i-1"), f.sum(1, billedCost, "i-0", "i-1")
	s := apitest.Data[MonthSummary](a.as(scoped, "/reports/summary?period=2026-02"))
	a.Equal("summary of a team", s.TotalCostUSD+" "+s.PreviousUSD, billed+" "+before)
	b := apitest.Data[Breakdown](a.as(scoped, "/reports/costs/breakdown?period=2026-02&dims=resource_uid"))
	a.Equal("breakdown of a team", b.TotalUSD, billed)
	closed := apitest.Data[[]Snapshot](a.as(scoped, "/reports/snapshots"))
	a.Equal("snapshots of a team", closed[0].BilledUSD+" "+closed[1].BilledUSD, billed+" "+before)
}

// countOrders makes a unit metric with one order on each day of February.
func (a *fixture) countOrders() {
	a.Helper()
	admin := apitest.Caller(ours, "root", "admin")
	a.Call(admin, "POST /reports/unit-metrics", `{"name":"orders","unit":"order"}`).Want(http.StatusOK)
	var values []string
	for d := range 28 {
		values = append(values, fmt.Sprintf(`{"date":"2026-02-%02d","value":1}`, d+1))
	}
	a.Call(admin, "POST /reports/unit-metrics/orders/values", `{"values":[`+strings.Join(values, ",")+`]}`).
		Want(http.StatusOK)
}

// checkItems compares the total of a report, and the sum of its items, with the expected total.
func (a *fixture) checkItems(path, want string) {
	a.Helper()
	var got struct {
		Data struct {
			TotalUSD string
			Items    []struct{ CostUSD string }
		}
	}
	a.Must(json.Unmarshal([]byte(a.get(path).Want(http.StatusOK).Body), &got))
	var sum money.Amount
	for _, item := range got.Data.Items {
		sum = sum.Add(usd(item.CostUSD))
	}
	a.Equal(path, got.Data.TotalUSD+" "+sum.Fixed(2), want+" "+want)
}

// TestReports_TellUnconvertedAmountsOfTheirOwnDays: rupees without an exchange rate are billed on January 5 alone.
func TestReports_TellUnconvertedAmountsOfTheirOwnDays(t *testing.T) {
	a := newFixture(t)
	rupees := charge("2026-01-05", "i-1", "Amazon EC2", "700")
	rupees.BillingCurrency = "INR"
	a.bring(ours, "ca_2", "2026-01", true, rupees, charge("2026-01-06", "i-5", "Amazon EC2", "9"))
	told := `"unconverted":[{"currency":"INR","amount":"700.00"}]`
	for path, want := range map[string]string{
		"/reports/summary?period=2026-01":                                    told,
		"/reports/summary?period=2026-02":                                    `"unconverted":[]`,
		"/reports/summary?period=2026-02&filter[region]=eu-west-1":           `"unconverted":[]`,
		"/reports/summary?period=2026-01&filter[region]=eu-west-1":           told,
		"/reports/trends?from=2026-01-01&to=2026-02-01":                      told,
		"/reports/trends?from=2026-01-04&to=2026-01-06":                      told,
		"/reports/trends?from=2026-01-06&to=2026-02-11":                      `"unconverted":[]`,
		"/reports/providers/summary?from=2026-01-06&to=2026-02-01":           `"unconverted":[]`,
		"/reports/trends?from=2025-12-01&to=2026-01-05&granularity=month":    `"unconverted":[]`,
		"/reports/trends?from=2025-12-01&to=2026-03-01&granularity=month":    told,
		"/reports/costs/breakdown?period=2026-01&filter[service_name]=Other": `"unconverted":[]`,
	} {
		a.get(path).Want(http.StatusOK, want)
	}
}
