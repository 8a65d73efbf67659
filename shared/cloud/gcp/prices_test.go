package gcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clocktest"
)

// catalog is a server of the Cloud Billing Catalog: pages of three.
type catalog struct {
	skus   []map[string]any
	refuse int
	breaks int // the request that breaks off; 0 is none
	asked  int
}

// sku is a priced item of the catalogue, in Google's words.
type sku struct{ id, description, usage, unit string }

func (s sku) at(nanos int64, regions ...string) map[string]any {
	return map[string]any{
		"name": "services/6F81-5844-456A/skus/" + s.id, "skuId": s.id, "description": s.description,
		"category": map[string]any{
			"serviceDisplayName": "Compute Engine", "resourceFamily": "Compute",
			"resourceGroup": "CPU", "usageType": s.usage,
		},
		"serviceRegions": regions,
		"pricingInfo": []any{map[string]any{"pricingExpression": map[string]any{
			"usageUnit": s.unit,
			"tieredRates": []any{
				map[string]any{
					"startUsageAmount": 0,
					"unitPrice":        map[string]any{"currencyCode": "USD", "units": "0", "nanos": nanos},
				},
			},
		}}},
	}
}

func central() *catalog {
	const here = "us-central1"
	return &catalog{skus: []map[string]any{
		sku{"1", "N2 Instance Core running in Americas", "OnDemand", "h"}.at(31611000, here, "us-east1"),
		sku{"2", "N2 Instance Ram running in Americas", "OnDemand", "GiBy.h"}.at(4237000, here, "us-east1"),
		sku{"3", "Spot Preemptible N2 Instance Core running in Americas", "Preemptible", "h"}.at(7650000, here),
		sku{"4", "N2 Instance Core running in Frankfurt", "OnDemand", "h"}.at(40730000, "europe-west3"),
		sku{"5", "N2 Sole Tenancy Instance Core running in Americas", "OnDemand", "h"}.at(9999000, here),
		sku{"6", "N2 Custom Instance Core running in Americas", "OnDemand", "h"}.at(33191000, here),
		sku{"7", "Custom Extended Instance Ram running in Americas", "OnDemand", "GiBy.h"}.at(9550000, here),
		sku{"8", "N1 Predefined Instance Core running in Americas", "OnDemand", "h"}.at(31611000, here),
		sku{"9", "SSD backed PD Capacity", "OnDemand", "GiBy.mo"}.at(170000000, here),
		sku{"10", "Regional SSD backed PD Capacity", "OnDemand", "GiBy.mo"}.at(340000000, here),
		sku{"11", "Cloud SQL for PostgreSQL: Regional - vCPU in Americas", "OnDemand", "h"}.at(82600000, here),
		sku{"12", "Commitment v1: N2 Cpu in Americas for 1 Year", "Commit1Yr", "h"}.at(19915000, here),
		sku{"14", "Storage PD Snapshot", "OnDemand", "GiBy.mo"}.at(50000000, here),
		sku{"13", "E2 Instance Core running in Americas", "OnDemand", "h"}.at(21811590, here),
	}}
}

func (c *catalog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.asked++
	if c.refuse--; c.refuse >= 0 {
		http.Error(w, "quota", http.StatusTooManyRequests)
		return
	}
	if r.URL.Query().Get("key") != "k" {
		http.Error(w, "API key not valid", http.StatusForbidden)
		return
	}
	from, next := 0, ""
	_, _ = fmt.Sscan(r.URL.Query().Get("pageToken"), &from)
	to := min(from+3, len(c.skus))
	if to < len(c.skus) {
		next = strconv.Itoa(to)
	}
	b, _ := json.Marshal(map[string]any{"skus": c.skus[from:to], "nextPageToken": next})
	if c.asked == c.breaks {
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		b = b[:len(b)/2]
	}
	_, _ = w.Write(b)
}

func (c *catalog) fetch(t *testing.T, key string) (prices map[string]string, version string, err error) {
	t.Helper()
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	p := gcp.New(gcp.Options{
		Clock:      clocktest.Instant{Manual: clock.NewManual(time.Date(2026, 7, 21, 1, 0, 0, 0, time.UTC))},
		PriceLists: s.URL, PricesKey: key, Transport: http.DefaultTransport,
	})
	prices = map[string]string{}
	version, err = p.Prices(t.Context(), "us-central1", func(p cloud.Price) error {
		prices[p.Key] = p.USD.String() + " " + string(p.Unit)
		return nil
	})
	return prices, version, err
}

func TestPrices_AreThoseOnDemandOfTheRegion(t *testing.T) {
	got, version, err := central().fetch(t, "k")
	want := map[string]string{
		"compute/n2/core": "0.031611 hour", "compute/n2/ram": "0.004237 hour",
		"compute/n2/custom-core":  "0.033191 hour",
		"compute/n1/extended-ram": "0.00955 hour", "compute/n1/core": "0.031611 hour",
		"disk/pd-ssd/zonal": "0.17 month", "disk/snapshot": "0.05 month",
		"disk/pd-ssd/regional": "0.34 month", "cloudsql/postgres/core/regional": "0.0826 hour",
		"compute/e2/core":        "0.02181159 hour",
		"compute/e2/custom-core": "0.02181159 hour",
	}
	if err != nil || version != "catalog 2026-07-21" || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v of %q, %v; want %v", got, version, err, want)
	}
}

func TestPrices_WithoutAKeySayWhatToDo(t *testing.T) {
	if _, _, err := central().fetch(t, ""); err == nil ||
		!strings.Contains(err.Error(), "LAMPLIGHTER_GOOGLE_PRICES_KEY") {
		t.Errorf("without a key: %v; want an error that names the variable", err)
	}
	if _, _, err := central().fetch(t, "wrong"); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf("with a wrong key: %v; want an error that does not show it", err)
	}
}

func TestPrices_AreAskedForAgainAfter429AndNeverInPart(t *testing.T) {
	c := central()
	c.refuse = 2
	if got, _, err := c.fetch(t, "k"); err != nil || len(got) != 11 {
		t.Errorf("after two refusals: %v, %v", got, err)
	}
	for n := 1; n <= 4; n++ {
		c = central()
		c.breaks = n
		if _, _, err := c.fetch(t, "k"); err == nil || !strings.Contains(err.Error(), "broke off") {
			t.Errorf("answer %d breaks off: %v; want an error that says so", n, err)
		}
	}
}
