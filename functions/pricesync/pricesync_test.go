package pricesync_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/functions/pricesync"
	"lamplighter.dev/functions/resources"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// amazon is a cloud that has prices, and can fail to return them.
type amazon struct {
	cloud.Provider
	mu      sync.Mutex
	prices  map[string]string // by key, for an hour
	version string
	breaks  bool
	off     bool
	asked   int
}

func (a *amazon) Prices(_ context.Context, _ string, take func(cloud.Price) error) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	if a.off {
		return "", fault.NewWithCause(fault.Unavailable, cloud.ErrPricesOff, "no key")
	}
	for key, usd := range a.prices {
		p, err := money.Parse(usd)
		if err != nil {
			return "", err
		}
		if err = take(cloud.Price{Key: key, Unit: cloud.PerHour, USD: p}); err != nil {
			return "", err
		}
	}
	if a.breaks {
		return "", errors.New("the answer broke off after 3 of 9 pages")
	}
	return a.version, nil
}

type fixture struct {
	*apitest.Fixture
	amazon *amazon
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{apitest.New(t, resources.Operations), &amazon{version: "2026-03-01", prices: map[string]string{
		"ec2/m5.large/linux/default": "0.096", "ec2/t3.micro/linux/default": "0.0104",
	}}}
	for _, org := range []string{apitest.Org, apitest.OtherOrg} {
		f.Put(identity.DirectoryKey(org), map[string]string{"org": org})
	}
	linux := cloud.Facts{"platform": "Linux/UNIX", "tenancy": "default"}
	inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2",
		cloud.Resource{UID: "i-1", Name: "a", Status: cloud.Running, InstanceType: "t3.micro", Facts: linux},
		cloud.Resource{UID: "i-2", Name: "b", Status: cloud.Running, InstanceType: "m5.large", Facts: linux},
		cloud.Resource{UID: "i-3", Name: "c", Status: cloud.Stopped, InstanceType: "m5.large", Facts: linux},
		cloud.Resource{UID: "i-4", Name: "d", Status: cloud.Running, InstanceType: "m9.huge", Facts: linux},
	)
	inventorytest.Discover(f.Fixture, apitest.OtherOrg, "aws-ec2",
		cloud.Resource{UID: "i-9", Name: "z", Status: cloud.Running, InstanceType: "m5.large", Facts: linux})
	return f
}

func (f *fixture) sync() (pricesync.Synced, error) {
	return pricesync.SyncPrices(f.Context(), f.Platform, cloud.Providers{"aws": f.amazon})
}

func (f *fixture) list() map[string]resources.Record {
	f.Helper()
	out := map[string]resources.Record{}
	for _, r := range apitest.Data[[]resources.Record](f.get("/resources")) {
		out[r.UID] = r
	}
	return out
}

func (f *fixture) get(path string) apitest.Answer {
	f.Helper()
	return f.Call(apitest.Caller(apitest.Org, "ada", "*:*"), http.MethodGet+" "+path, "")
}

func TestSyncPrices_ShowsWhatResourcesCost(t *testing.T) {
	f := newFixture(t)
	did, err := f.sync()
	f.Must(err)
	if want := (pricesync.Synced{Organizations: 2, Resources: 5, Priced: 4, Lists: 1}); did != want {
		t.Errorf("did %+v; want %+v: one list for both organizations", did, want)
	}
	all := f.list()
	for uid, want := range map[string]string{"i-1": "0.010400 7.59", "i-2": "0.096000 70.08", "i-3": "0.000000 0.00"} {
		r := all[uid]
		if r.RackRateUSD == nil || r.RackRateUSD.Hourly+" "+r.RackRateUSD.Monthly != want ||
			*r.CostSource != "estimated" || r.RackRateUSD.PriceVersion != "2026-03-01" {
			t.Errorf("%s: %+v; want %s, estimated", uid, r.RackRateUSD, want)
		}
	}
	if r := all["i-4"]; r.RackRateUSD != nil || r.CostSource != nil {
		t.Errorf("an instance type without a price has %+v", r.RackRateUSD)
	}
	one := apitest.Data[resources.Described](f.get("/resources/" + all["i-4"].ID))
	if !strings.Contains(one.Unpriced, "ec2/m9.huge/linux/default") {
		t.Errorf("why there is no price: %q", one.Unpriced)
	}
}

func TestSyncPrices_ListsByCost(t *testing.T) {
	f := newFixture(t)
	_, err := f.sync()
	f.Must(err)
	var got []string
	for _, r := range apitest.Data[[]resources.Record](f.get("/resources?sort_by=cost&sort_order=desc")) {
		got = append(got, r.UID)
	}
	const want = "i-2 i-1 i-3 i-4" // i-3 is stopped, and shown with the rate of a stopped instance
	if list := strings.Join(got, " "); list != want {
		t.Errorf("by cost: %s; want %s", list, want)
	}
}

// A page costs one more round trip the first time, and none afterwards.
func TestSyncPrices_CostsAPageOneRoundTrip(t *testing.T) {
	f := newFixture(t)
	_, err := f.sync()
	f.Must(err)
	for _, path := range []string{"/resources", "/resources?sort_by=cost"} {
		f.get(path)
		if n := f.get(path).Usage.RoundTrips; n > 2 {
			t.Errorf("%s: %d round trips; want 2", path, n)
		}
	}
	f.amazon.prices["ec2/m5.large/linux/default"] = "0.1"
	f.Clock.Advance(24 * time.Hour)
	_, err = f.sync()
	f.Must(err)
	if a := f.get("/resources?search=i-2"); a.Usage.RoundTrips > 3 ||
		apitest.Data[[]resources.Record](a)[0].RackRateUSD.Hourly != "0.100000" {
		t.Errorf("after new prices: %d round trips, %s", a.Usage.RoundTrips, a.Body)
	}
}

func TestSyncPrices_UsesYesterdaysWhenAFetchFails(t *testing.T) {
	f := newFixture(t)
	_, err := f.sync()
	f.Must(err)
	f.Clock.Advance(24 * time.Hour)
	f.amazon.breaks = true
	delete(f.amazon.prices, "ec2/m5.large/linux/default")
	did, err := f.sync()
	if err == nil || did.Failed != 1 || did.Organizations != 2 {
		t.Fatalf("a list that breaks off: %+v, %v; want an error, and the organizations estimated", did, err)
	}
	r := f.list()["i-2"].RackRateUSD
	if r == nil || r.Hourly != "0.096000" || !r.Stale || r.PriceVersion != "2026-03-01" {
		t.Errorf("yesterday's price: %+v; want 0.096000, said to be stale", r)
	}
	f.amazon.breaks, f.amazon.version = false, "2026-03-02"
	f.amazon.prices["ec2/m5.large/linux/default"] = "0.12"
	_, err = f.sync()
	f.Must(err)
	if r = f.list()["i-2"].RackRateUSD; r.Hourly != "0.120000" || r.Stale || r.PriceVersion != "2026-03-02" {
		t.Errorf("the night after: %+v; want 0.120000 of 2026-03-02", r)
	}
}

// An operator may decide to have no key for Google's prices. That is no failure of the run, which would raise an alarm
// each night.
func TestSyncPrices_ListsThatAreOffAreNoFailure(t *testing.T) {
	f := newFixture(t)
	f.amazon.off = true
	did, err := f.sync()
	if err != nil || did.Failed != 0 || did.Off != 1 || did.Organizations != 2 {
		t.Errorf("%+v, %v; want no failure, and the organizations estimated", did, err)
	}
}

func TestSyncPrices_FetchesNothingTwiceANight(t *testing.T) {
	f := newFixture(t)
	for range 3 {
		_, err := f.sync()
		f.Must(err)
		f.Clock.Advance(time.Hour)
	}
	if f.amazon.asked != 1 {
		t.Errorf("asked for prices %d times in a night; want once", f.amazon.asked)
	}
}

// Unchanged estimates are not written again, and replaced estimates leave no rows behind.
func TestSyncPrices_LeavesNothingBehind(t *testing.T) {
	f := newFixture(t)
	for night := range 5 {
		f.amazon.prices["ec2/m5.large/linux/default"] = money.FromScaled(int64(96+night/2), 3).String()
		_, err := f.sync()
		f.Must(err)
		f.Clock.Advance(24 * time.Hour)
	}
	items := apitest.Rows[map[string]any](f.Fixture, "ORG#"+apitest.Org+"#INV")
	head := items[len(items)-1]
	for _, it := range items {
		if it["change"] != nil {
			head = it
		}
	}
	if head["generation"] != 3.0 || len(head["parts"].([]any)) != 1 || len(head["old"].([]any)) != 1 {
		t.Errorf("the head of the costs after three prices: %v", head)
	}
	if got := inventory.New(f.Platform); got == nil {
		t.Fatal("no inventory")
	}
}

// days returns the cost of each of these days of March.
func (f *fixture) days(from, to int) (amounts string, estimated []bool) {
	f.Helper()
	at := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	a, err := cost.New(f.Platform).Ask(f.In(apitest.Org), apitest.Org,
		cost.Question{From: at(from), To: at(to + 1), Metric: cost.Billed, Daily: true})
	f.Must(err)
	var out []string
	for _, d := range a.Days {
		out = append(out, d.Fixed(4))
	}
	return strings.Join(out, " "), a.Estimated
}

// Two instances run: 0.0104 + 0.096 an hour. They were discovered on 10 March at 09:30:30.
func TestSyncPrices_EstimatesTheDaysThatNoBillTells(t *testing.T) {
	f := newFixture(t)
	for _, account := range []string{inventorytest.Account} {
		inventorytest.Connect(f.Fixture, apitest.Org, account)
	}
	f.Clock.Advance(6 * time.Hour)
	_, err := f.sync()
	f.Must(err)
	if got, estimated := f.days(9, 11); got != "0.0000 0.6384 0.0000" || !estimated[1] {
		t.Errorf("the first day, six hours: %s, estimated %v; want 6 × 0.1064", got, estimated)
	}
	f.Clock.Advance(24 * time.Hour)
	_, err = f.sync()
	f.Must(err)
	first, _ := f.days(10, 10)
	if got, _ := f.days(9, 11); got != "0.0000 1.5419 1.6501" {
		t.Errorf("a day later: %s; want what is left of the first day, and today up to now", got)
	}
	f.amazon.prices["ec2/m5.large/linux/default"] = "0.2"
	f.Clock.Advance(24 * time.Hour)
	_, err = f.sync()
	f.Must(err)
	if again, _ := f.days(10, 10); again != first {
		t.Errorf("a day that is over changed with the prices: %s; want %s", again, first)
	}
}

// bill imports a month's bill of an account: for i-2, and for a charge that belongs to no known resource.
func (f *fixture) bill(m cost.Month, usd int64) {
	f.Helper()
	b, err := cost.New(f.Platform).Begin(f.In(apitest.Org), cost.Import{
		Org: apitest.Org, AccountID: inventorytest.Account, Provider: "aws", Month: m, Fingerprint: m.String(),
		DeliveredAt: f.Clock.Now(),
	})
	f.Must(err)
	for _, uid := range []string{"i-2", ""} {
		amount := money.FromScaled(usd, 2)
		f.Must(b.Add(&bill.Charge{
			ProviderName: "AWS", ChargePeriodStart: m.Start(), ChargeCategory: bill.Usage, ResourceID: uid,
			BillingCurrency: "USD",
			BilledCost:      amount, EffectiveCost: amount, ListCost: amount,
		}))
	}
	_, err = b.Commit(f.In(apitest.Org))
	f.Must(err)
}

func TestSyncPrices_ShowsWhatWasBilledBesideTheEstimate(t *testing.T) {
	f := newFixture(t)
	inventorytest.Connect(f.Fixture, apitest.Org, inventorytest.Account)
	march := cost.MonthOf(f.Clock.Now())
	f.bill(march.Add(-1), 6123)
	f.bill(march, 1234)
	_, err := f.sync()
	f.Must(err)
	r := f.list()["i-2"]
	if r.ActualUSD == nil || r.ActualUSD.LastMonth != "61.23" || *r.CostSource != "actual" || r.RackRateUSD == nil ||
		r.RackRateUSD.Monthly != "70.08" {
		t.Errorf("billed and estimated: %+v, %+v", r.ActualUSD, r.RackRateUSD)
	}
	if r = f.list()["i-1"]; r.ActualUSD != nil && r.ActualUSD.LastMonth != "0.00" {
		t.Errorf("what no bill names: %+v", r.ActualUSD)
	}
	csv := f.get("/resources/export").Body
	if !strings.Contains(csv,
		"rackRateHourlyUSD,rackRateMonthlyUSD,priceVersion,monthToDateUSD,lastMonthUSD,costSource") ||
		!strings.Contains(csv, "0.096000,70.08,2026-03-01,") || !strings.Contains(csv, ",61.23,actual") {
		t.Errorf("the export:\n%s", csv)
	}
}

func TestSyncPrices_CallsACostActualOnceABillOfThisMonthHasArrived(t *testing.T) {
	f := newFixture(t)
	inventorytest.Connect(f.Fixture, apitest.Org, inventorytest.Account)
	march := cost.MonthOf(f.Clock.Now())
	for i, want := range []string{"estimated", "actual"} {
		f.bill(march.Add(i-1), 6123)
		_, err := f.sync()
		f.Must(err)
		if r := f.list()["i-2"]; r.ActualUSD == nil || r.ActualUSD.LastMonth != "61.23" || *r.CostSource != want {
			t.Errorf("with the bill of %s: %+v, %s; want %s", march.Add(i-1), r.ActualUSD, *r.CostSource, want)
		}
		f.Clock.Advance(24 * time.Hour)
	}
}

// A tax that the bill has behind its last day of usage is a billed cost. It is not part of that day's estimate.
func TestSyncPrices_KeepsNothingOfTheBillAsAnEstimate(t *testing.T) {
	f := newFixture(t)
	inventorytest.Connect(f.Fixture, apitest.Org, inventorytest.Account)
	march := cost.MonthOf(f.Clock.Now())
	b, err := cost.New(f.Platform).Begin(f.In(apitest.Org), cost.Import{
		Org: apitest.Org, AccountID: inventorytest.Account, Provider: "aws", Month: march, Fingerprint: "taxed",
		DeliveredAt: f.Clock.Now(),
	})
	f.Must(err)
	for category, at := range map[string]int{bill.Usage: 1, bill.Tax: 9} {
		amount := money.FromInt(1000)
		f.Must(b.Add(&bill.Charge{
			ProviderName: "AWS", ChargePeriodStart: march.Start().AddDate(0, 0, at-1), ChargeCategory: category,
			BillingCurrency: "USD",
			BilledCost:      amount, EffectiveCost: amount, ListCost: amount,
		}))
	}
	_, err = b.Commit(f.In(apitest.Org))
	f.Must(err)
	for range 3 {
		f.Clock.Advance(24 * time.Hour)
		_, err = f.sync()
		f.Must(err)
	}
	if got, _ := f.days(9, 9); got != "1000.0000" {
		t.Errorf("the day of the tax costs %s", got)
	}
}

// slow is a store that counts the organizations with finished estimates. Each takes one minute.
type slow struct {
	table.Store
	f    *fixture
	done map[string]bool
}

func (s *slow) Write(ctx context.Context, w table.Write) (table.Item, error) {
	if strings.HasPrefix(w.Item.PK, identity.RotationPrefix) && w.Item.SK == "AT" {
		s.f.Clock.Advance(time.Minute)
		s.done[string(w.Item.Data)] = true
	}
	return s.Store.Write(ctx, w)
}

// A run has 12 minutes. The next run begins with the organizations that it did not reach.
func TestSyncPrices_NoOrganizationStarves(t *testing.T) {
	f := newFixture(t)
	const orgs = 30
	for n := range orgs - 2 {
		org := fmt.Sprintf("org_01k0000000000000000000001%02d", n)
		f.Put(identity.DirectoryKey(org), map[string]string{"org": org})
	}
	s := &slow{Store: f.Table, f: f, done: map[string]bool{}}
	f.Table = s
	left := 0
	for range 3 {
		did, err := f.sync()
		f.Must(err)
		left += did.Left
		f.Clock.Advance(time.Hour)
	}
	if len(s.done) != orgs || left == 0 {
		t.Errorf("%d of %d organizations were estimated in three runs, of which %d were left to the next", len(s.done),
			orgs, left)
	}
}
