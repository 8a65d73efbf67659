package azure_test

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
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clocktest"
)

// retail is a server of Azure's retail prices: pages of two, behind a filter.
type retail struct {
	items     []map[string]any
	refuse    int // so many requests with 429 first
	breaks    int // the request that breaks off; 0 is none
	asked     int
	elsewhere bool // the next page is on another host
}

// meter is a meter of a price, in Azure's words.
type meter struct{ service, product, sku, name, unit, arm string }

func (m meter) at(usd float64) map[string]any {
	return map[string]any{
		"currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": usd, "unitPrice": usd, "armRegionName": "eastus",
		"location":  "US East",
		"meterName": m.name, "productName": m.product, "skuName": m.sku, "serviceName": m.service,
		"unitOfMeasure": m.unit, "type": "Consumption",
		"isPrimaryMeterRegion": true, "armSkuName": m.arm,
	}
}

func eastus() *retail {
	return &retail{items: []map[string]any{
		meter{
			"Virtual Machines", "Virtual Machines Dsv5 Series", "D2s v5", "D2s v5", "1 Hour",
			"Standard_D2s_v5",
		}.at(0.096),
		meter{
			"Virtual Machines", "Virtual Machines Dsv5 Series Windows", "D2s v5", "D2s v5", "1 Hour",
			"Standard_D2s_v5",
		}.at(0.188),
		meter{
			"Virtual Machines", "Virtual Machines Dsv5 Series", "D2s v5 Spot", "D2s v5 Spot", "1 Hour",
			"Standard_D2s_v5",
		}.at(0.0192),
		meter{
			"Virtual Machines", "Virtual Machines Dsv5 Series", "D2s v5 Low Priority", "D2s v5 Low Priority",
			"1 Hour", "Standard_D2s_v5",
		}.at(0.0192),
		meter{"Storage", "Premium SSD Managed Disks", "P10 LRS", "P10 LRS Disk", "1/Month", ""}.at(19.71),
		meter{"Storage", "Premium SSD Managed Disks", "P10 LRS", "P10 LRS Disk Mount", "1/Month", ""}.at(1.17),
		meter{"Storage", "Standard HDD Managed Disks", "S4 LRS", "S4 LRS Disk", "1/Month", ""}.at(1.536),
		meter{"Storage", "Standard HDD Managed Disks", "Snapshots LRS", "LRS Snapshots", "1 GB/Month", ""}.at(0.05),
		meter{"Storage", "Premium SSD Managed Disks", "Snapshots LRS", "LRS Snapshots", "1 GB/Month", ""}.at(0.132),
		meter{"NAT Gateway", "NAT Gateway", "Standard", "Standard Gateway", "1 Hour", ""}.at(0.045),
		meter{"SQL Database", "SQL Database Single Standard", "S1", "S1 DTUs", "1/Day", ""}.at(0.9677),
	}}
}

func (s *retail) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked++
	if s.refuse--; s.refuse >= 0 {
		http.Error(w, "Too many requests", http.StatusTooManyRequests)
		return
	}
	q := r.URL.Query()
	from, _ := strconv.Atoi(q.Get("$skip"))
	var found []map[string]any
	for _, it := range s.items {
		if strings.Contains(q.Get("$filter"), "serviceName eq '"+it["serviceName"].(string)+"'") &&
			strings.Contains(q.Get("$filter"), "priceType eq '"+it["type"].(string)+"'") &&
			strings.Contains(q.Get("$filter"), "armRegionName eq 'eastus'") {
			found = append(found, it)
		}
	}
	page, next := found[min(from, len(found)):min(from+2, len(found))], any(nil)
	if from+2 < len(found) {
		q.Set("$skip", strconv.Itoa(from+2))
		next = "http://" + r.Host + r.URL.Path + "?" + q.Encode()
		if s.elsewhere {
			next = "http://evil.example/?" + q.Encode()
		}
	}
	b, _ := json.Marshal(map[string]any{
		"BillingCurrency": "USD", "Items": page, "NextPageLink": next,
		"Count": len(page),
	})
	if s.asked == s.breaks {
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		b = b[:len(b)/2]
	}
	_, _ = w.Write(b)
}

func (s *retail) fetch(t *testing.T) (prices map[string]string, version string, err error) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	p := azure.New(azure.Options{
		Clock:      clocktest.Instant{Manual: clock.NewManual(time.Date(2026, 7, 21, 1, 0, 0, 0, time.UTC))},
		PriceLists: server.URL + "/api/retail/prices", Transport: http.DefaultTransport,
	})
	prices = map[string]string{}
	version, err = p.Prices(t.Context(), "eastus", func(p cloud.Price) error {
		prices[p.Key] = p.USD.Fixed(6) + " " + string(p.Unit)
		return nil
	})
	return prices, version, err
}

func TestPrices_AreThoseOfConsumptionWithoutSpareCapacity(t *testing.T) {
	got, version, err := eastus().fetch(t)
	want := map[string]string{
		"vm/Standard_D2s_v5/linux": "0.096000 hour", "vm/Standard_D2s_v5/windows": "0.188000 hour",
		"disk/P10/LRS": "19.710000 month", "disk/snapshot": "0.050000 month",
		"disk/S4/LRS": "1.536000 month", "nat/hours": "0.045000 hour", "sqldb/S1": "0.040321 hour",
	}
	if err != nil || version != "retail 2026-07-21" || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v of %q, %v; want %v", got, version, err, want)
	}
}

func TestPrices_AreAskedForAgainAfter429(t *testing.T) {
	s := eastus()
	s.refuse = 3
	if got, _, err := s.fetch(t); err != nil || got["nat/hours"] == "" {
		t.Errorf("after three refusals: %v, %v", got, err)
	}
}

func TestPrices_OfAnAnswerThatBreaksOffAreNone(t *testing.T) {
	for n := 1; n <= 3; n++ {
		s := eastus()
		s.breaks = n
		if _, _, err := s.fetch(t); err == nil || !strings.Contains(err.Error(), "broke off") {
			t.Errorf("answer %d breaks off: %v; want an error that says so", n, err)
		}
	}
}

func TestPrices_DoNotGoOnElsewhere(t *testing.T) {
	s := eastus()
	s.elsewhere = true
	if _, _, err := s.fetch(t); err == nil || !strings.Contains(err.Error(), "evil.example") {
		t.Errorf("the next page is on another host: %v; want an error that names it", err)
	}
}

// A price on demand has the plans beside it; a reservation is a price of its own, of the whole term.
func TestPrices_HaveTheRatesOfPlansAndReservations(t *testing.T) {
	s := eastus()
	s.items[0]["savingsPlan"] = []map[string]any{
		{"retailPrice": 0.0672, "unitPrice": 0.0672, "term": "1 Year"},
		{"retailPrice": 0.048, "unitPrice": 0.048, "term": "3 Years"},
		{"retailPrice": 0.01, "term": "5 Years"},
	}
	reserved := func(usd float64, sku, term string) map[string]any {
		m := meter{"Virtual Machines", "Virtual Machines Dsv5 Series", sku, sku, "1 Hour", "Standard_" + sku + "_v5"}
		it := m.at(usd)
		it["type"], it["reservationTerm"] = "Reservation", term
		return it
	}
	s.items = append(s.items, reserved(0.0576*8760, "D2s", "1 Year"), reserved(0.036*3*8760, "D2s", "3 Years"),
		reserved(100, "D96s", "1 Year")) // without a price on demand
	got, _, err := s.fetch(t)
	for key, want := range map[string]string{
		"commitment/plan/vm/Dsv5/1y/none":        "0.700000 USD",
		"commitment/plan/vm/Dsv5/3y/none":        "0.500000 USD",
		"commitment/reservation/vm/Dsv5/1y/none": "0.600000 USD",
		"commitment/reservation/vm/Dsv5/3y/none": "0.375000 USD",
	} {
		if got[key] != want {
			t.Errorf("%s: %q, want %s", key, got[key], want)
		}
	}
	if err != nil || len(got) != 7+4 {
		t.Errorf("%d prices, %v: %v", len(got), err, got)
	}
}
