package billingsync_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/billingsync"
	"lamplighter.dev/functions/resources"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	domain "lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/testkit/apitest"
)

// shown returns the resources of the inventory with their costs, by native ID.
func (s *fixture) shown() map[string]resources.Record {
	s.Helper()
	out := map[string]resources.Record{}
	for _, r := range apitest.Data[[]resources.Record](s.Call(alice, "GET /resources?limit=100", nil)) {
		out[r.UID] = r
	}
	return out
}

// wantBilled checks that each resource of the inventory shows the amounts that this month and the last have on the
// imported bills, and returns how many are billed.
func (s *fixture) wantBilled(what string) (billed int) {
	s.Helper()
	month := cost.MonthOf(s.clk.Now())
	books := cost.New(s.Platform)
	this := apitest.Value(books.ResourceCosts(s.In("org_a"), "org_a", month))(s)
	last := apitest.Value(books.ResourceCosts(s.In("org_a"), "org_a", month.Add(-1)))(s)
	for uid, r := range s.shown() {
		_, now := this[uid]
		_, before := last[uid]
		if !now && !before {
			if r.ActualUSD != nil {
				s.Errorf("%s: %s has no bill, and shows %+v", what, uid, *r.ActualUSD)
			}
			continue
		}
		billed++
		want := resources.Actual{MonthToDate: this[uid].Billed.Fixed(2), LastMonth: last[uid].Billed.Fixed(2)}
		if r.ActualUSD == nil || *r.ActualUSD != want {
			s.Errorf("%s: %s shows %s; its bills say %+v", what, uid, apitest.JSON(r.ActualUSD), want)
		}
	}
	return billed
}

func TestConnect_ShowsBilledCostsWhenTheImportHasEnded(t *testing.T) {
	s := newFixture(t)
	s.connect()
	if n := s.wantBilled("after connecting"); n == 0 {
		t.Error("no resource is billed")
	}
	for uid, r := range s.shown() {
		if r.ActualUSD != nil && *r.CostSource != pricing.BilledCost {
			t.Errorf("%s: %s", uid, *r.CostSource)
		}
	}
}

// The API functions know no provider, so they have the prices that are stored, and no others.
func TestConnect_StoresThePricesOfTheAccountsRegions(t *testing.T) {
	s := newFixture(t)
	a := s.connect()
	pairs := apitest.Value(pricing.New(s.Platform, nil).AccountPairs(s.In("org_a"), "org_a", a.ID))(s)
	if len(pairs) == 0 {
		t.Fatal("no resource has a price")
	}
	tables := apitest.Value(pricing.New(s.Platform, nil).Tables(s.In("org_a"), pairs))(s)
	for _, at := range pairs {
		if tables[at] == nil || tables[at].Len() == 0 {
			t.Errorf("no prices of %s", at)
		}
	}
}

// priced counts the resources with an estimate.
func (s *fixture) priced() (n int) {
	s.Helper()
	for _, r := range s.shown() {
		if r.RackRateUSD != nil {
			n++
		}
	}
	return n
}

// pricey is the simulated cloud with prices that are fetched, and fail some times.
type pricey struct {
	cloud.Provider
	fails int
	asked []string
}

func (p *pricey) Prices(ctx context.Context, region string, take func(cloud.Price) error) (string, error) {
	if p.asked = append(p.asked, region); len(p.asked) <= p.fails {
		return "", errors.New("down")
	}
	from, _ := p.Provider.(cloud.Pricer)
	return from.Prices(ctx, region, take)
}

func TestConnect_FetchesPricesAgainWhenTheyFail(t *testing.T) {
	for name, c := range map[string]struct {
		fails, asked int
		prices       bool
	}{"twice": {2, 3, true}, "always": {100, 5, false}} {
		t.Run(name, func(t *testing.T) {
			p := &pricey{fails: c.fails}
			s := newFixtureWith(t, cloud.Providers{simulated.Name: p})
			p.Provider = simulated.New(s.Table, s.clk)
			s.connect()
			s.Equal("fetches", len(p.asked), c.asked)
			if n := s.wantBilled("with failing prices"); n == 0 {
				t.Error("no resource is billed")
			}
			s.Equal("some resource has a price", s.priced() > 0, c.prices)
			if got := s.status(); got.Status != "ok" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// An uploaded bill of a connected account shows with its resources at once, and no longer once it is withdrawn.
func TestWithdraw_IsFollowedByTheCostsOfResourcesAtOnce(t *testing.T) {
	s := newFixture(t)
	s.connect()
	var uid string
	for id, r := range s.shown() {
		if r.ActualUSD != nil {
			uid = id
		}
	}
	before := *s.shown()[uid].ActualUSD
	s.clk.Advance(time.Minute)
	row := strings.Replace(charge("5000", "2026-11", "03"), ",{}\n", ",{},"+uid+"\n", 1)
	got := s.upload(fields{"vendor": "acme"}, strings.TrimSpace(header)+",ResourceId\n"+row)
	if got.Status != "succeeded" {
		t.Fatalf("%+v", got)
	}
	s.wantBilled("uploaded")
	with := *s.shown()[uid].ActualUSD
	if with == before {
		t.Errorf("the upload changed nothing: %+v", with)
	}
	s.withdraw(got.JobID)
	s.wantBilled("withdrawn")
	s.Equal("as before", *s.shown()[uid].ActualUSD, before)
}

// renewals returns the updates of costs that wait.
func (s *fixture) renewals() (n int) {
	s.Helper()
	for shard := range workqueue.Shards {
		page, err := s.Table.Query(table.Within(s.Context(), workqueue.Prefix),
			table.Query{PK: workqueue.PK(shard), Prefix: "renewal_", Limit: 100})
		s.Must(err)
		n += len(page.Items)
	}
	return n
}

// In a large organization an update takes seconds, so all imports of a minute share one.
func TestImport_GathersUpdatesInALargeOrganization(t *testing.T) {
	s := newFixture(t)
	s.connect()
	many := make([]pricing.KnownCost, 12_001)
	for i := range many {
		many[i].UID = fmt.Sprint("i-", i)
	}
	s.Must(pricing.WriteCosts(s.In("org_a"), s.Platform, "org_a", many))
	for n := range 3 {
		s.clk.Advance(time.Second)
		s.upload(fields{"vendor": fmt.Sprint("vendor", n)}, header+charge("1", "2026-11", "03"))
	}
	s.Equal("waiting updates", s.renewals(), 1)
	s.minutes(3)
	s.Equal("waiting updates", s.renewals(), 0)
	if n := s.wantBilled("a minute later"); n == 0 {
		t.Error("no resource is billed")
	}
}

// The update of resources fails at each of its writes. The bills stay imported, and the costs follow within minutes.
func TestImport_AFailedUpdateIsDoneAgain(t *testing.T) {
	s := newFixture(t)
	a := s.connect(settings{"bills": "none"})
	s.change(a.ID, settings{"bills": "focus"})
	for call := 1; call <= 3; call++ {
		s.clk.Advance(30 * time.Hour)
		s.store.Inject(table.Injection{Harm: table.FailBefore, PK: table.OrgPK("org_a") + "INV", Call: call})
		s.verify()
		s.store.RemoveFaults()
		if got := s.status(); got.Status != "ok" {
			t.Errorf("write %d: %+v", call, got)
		}
		s.minutes(3)
		s.wantBilled(fmt.Sprint("write ", call))
	}
}

func TestImport_AGivenUpUpdateLeavesTheAccountAlone(t *testing.T) {
	s := newFixture(t)
	a := s.connect()
	before := s.status()
	call, err := json.Marshal(fields{
		"task":  "abandon",
		"input": domain.Input{Org: "org_a", JobID: "job_1", AccountID: a.ID, Renewal: true}, "error": fields{"Error": "x"},
	})
	s.Must(err)
	apitest.Value(s.worker(s.Context(), call))(s)
	s.Equal("status", s.status(), before)
}

// missing returns the months that the account's entry reports as not imported.
func (s *fixture) missing(accountID string) []string {
	s.Helper()
	e := apitest.Value(domain.ReadEntry(s.In("org_a"), s.Table, "org_a", accountID))(s)
	return e.MissingMonths(s.clk.Now())
}

// A first import that breaks off has told which months are not imported: never fewer, and at most the month that was
// committed and not noted yet in addition.
func TestImport_TellsTheMonthsThatAreMissing(t *testing.T) {
	s := newFixture(t)
	a := s.connect(settings{"bills": "none"})
	s.Equal("missing without bills", len(s.missing(a.ID)), 0)
	s.change(a.ID, settings{"bills": "focus"})
	call, err := json.Marshal(fields{"task": "import", "input": billingsync.Share{
		Input: domain.Input{Org: "org_a", JobID: "job_1", AccountID: a.ID}, Full: true,
	}})
	s.Must(err)
	for done, n := false, 1; !done; n++ {
		s.store.Inject(table.Injection{Harm: table.FailBefore, PK: table.OrgPK("org_a") + "COST", Call: 7 * n})
		_, err = s.worker(s.Context(), call)
		s.store.RemoveFaults()
		have := s.periods()
		var want []string
		for _, m := range s.plan(settings{"bills": "focus"}).Months {
			if month := m.Period.Format("2006-01"); have[month].Period == "" {
				want = append(want, month)
			}
		}
		slices.Sort(want)
		got := s.missing(a.ID)
		unnoted := slices.DeleteFunc(slices.Clone(got), func(m string) bool { return slices.Contains(want, m) })
		if done = err == nil; len(got) != len(want)+len(unnoted) || len(unnoted) > 1 || done && len(got) > 0 || n > 99 {
			t.Fatalf("try %d, %v: missing are %v; want %v", n, err, got, want)
		}
	}
	s.wantPlanted(s.plan(settings{"bills": "focus"}))
}
