package billingsync_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"lamplighter.dev/functions/pricesync"
	"lamplighter.dev/functions/reports"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

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

func TestConnect_LeavesPricesThatFailToTheNight(t *testing.T) {
	p := &pricey{fails: 1}
	s := newFixtureWith(t, cloud.Providers{simulated.Name: p})
	p.Provider = simulated.New(s.Table, s.clk)
	s.connect()
	s.Equal("fetches", len(p.asked), 1)
	if n := s.wantBilled("with failing prices"); n == 0 {
		t.Error("no resource is billed")
	}
	s.Equal("resources with a price", s.priced(), 0)
	if got := s.status(); got.Status != "ok" {
		t.Errorf("%+v", got)
	}
	s.clk.Advance(time.Hour)
	s.Put(identity.DirectoryKey("org_a"), map[string]string{"org": "org_a"})
	_, err := pricesync.SyncPrices(s.Context(), s.Platform, cloud.Providers{simulated.Name: p})
	s.Must(err)
	s.Equal("some resource has a price after the night", s.priced() > 0, true)
}

// The estimates of today and yesterday do not make the billed cost of a month an estimate.
func TestConnect_ReportsAreActualAfterTheFirstImport(t *testing.T) {
	s := newFixture(t)
	s.connect()
	s.clk.Advance(time.Hour)
	s.Put(identity.DirectoryKey("org_a"), map[string]string{"org": "org_a"})
	providers := cloud.Providers{simulated.Name: simulated.New(s.Table, s.clk)}
	_, err := pricesync.SyncPrices(s.Context(), s.Platform, providers)
	s.Must(err)
	s.Mount(reports.Operations)
	s.Call(alice, "GET /reports/summary", nil).Want(200, `"estimated":true,"costSource":"actual","incomplete":[]`)
}

// A later discovery that finds resources in a new region has the region's prices fetched within minutes.
func TestDiscovery_HasThePricesOfANewRegionFetched(t *testing.T) {
	s := newFixture(t)
	a := s.connect()
	s.change(a.ID, settings{"regions": "2"})
	s.Call(alice, "POST /cloud-accounts/"+a.ID+"/discover", nil).Want(202)
	s.idle()
	stored := func() (without int) {
		pairs := apitest.Value(pricing.New(s.Platform, nil).AccountPairs(s.In("org_a"), "org_a", a.ID))(s)
		tables := apitest.Value(pricing.New(s.Platform, nil).Tables(s.In("org_a"), pairs))(s)
		return len(pairs) - len(tables)
	}
	s.Equal("regions without prices after the discovery", stored(), 1)
	s.minutes(2)
	s.Equal("regions without prices minutes later", stored(), 0)
	s.Call(alice, "POST /cloud-accounts/"+a.ID+"/discover", nil).Want(202)
	s.idle()
	for shard := range workqueue.Shards {
		page, err := s.Table.Query(table.Within(s.Context(), workqueue.Prefix),
			table.Query{PK: workqueue.PK(shard), Prefix: "prices_", Limit: 100})
		s.Must(err)
		s.Equal("fetches that wait", len(page.Items), 0)
	}
}

// A new account is discovered, and its prices are fetched beside its bills.
func TestKilledAtAnyStep_ANewAccountHasPricesAndCosts(t *testing.T) {
	killpoint.LosesNothing(t, 25, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		s := newFixture(t)
		s.Workflow = apitest.Idle{}
		a := apitest.Data[connection.Account](s.Call(alice, "POST /cloud-accounts", fields{
			"provider": "simulated", "cloudAccountID": native, "name": "Sim", "authMethod": "simulated",
			"permissionLevel": "read_only", "credentials": small(settings{"size": "3"}),
		}))
		lives.Run(s.In("org_a"), t, func(ctx context.Context, p *killpoint.Process) error {
			return s.service().Run(ctx, p.Platform(s.Platform))
		})
		prices := pricing.New(s.Platform, nil)
		pairs := apitest.Value(prices.AccountPairs(s.In("org_a"), "org_a", a.ID))(s)
		tables := apitest.Value(prices.Tables(s.In("org_a"), pairs))(s)
		return fmt.Sprintf("%d of %d lists, %d resources with a price, %d with a bill, %v are missing, %s", len(tables),
			len(pairs), s.priced(), s.wantBilled("after kills"), s.missing(a.ID), s.status().Status)
	})
}
