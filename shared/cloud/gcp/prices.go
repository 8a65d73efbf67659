package gcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/pricelist"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// catalogue is the address of Google's price catalogue. It takes an API key.
const catalogue = "https://cloudbilling.googleapis.com/v1"

// pricedServices are the services whose prices are read, by Google's numbers: Compute Engine, Cloud SQL and Kubernetes
// Engine.
var pricedServices = []string{"6F81-5844-456A", "9662-B51E-5089", "CCD8-9BF1-090E"}

// mostPricePages is the largest number of pages of one service; Compute Engine has about ten of 5,000.
const mostPricePages = 100

// skuPage is a page of the catalogue.
type skuPage struct {
	SKUs []sku  `json:"skus"`
	Next string `json:"nextPageToken"`
}

// sku is a priced item of the catalogue.
type sku struct {
	ID          string   `json:"skuId"`
	Description string   `json:"description"`
	Category    category `json:"category"`
	Regions     []string `json:"serviceRegions"`
	Pricing     []struct {
		Expression expression `json:"pricingExpression"`
	} `json:"pricingInfo"`
}

type category struct {
	Family string `json:"resourceFamily"`
	Group  string `json:"resourceGroup"`
	Usage  string `json:"usageType"`
}

// expression is a price by the amount of use.
type expression struct {
	Unit  string `json:"usageUnit"`
	Rates []struct {
		From  float64 `json:"startUsageAmount"`
		Price struct {
			Currency string      `json:"currencyCode"`
			Units    json.Number `json:"units"`
			Nanos    int64       `json:"nanos"`
		} `json:"unitPrice"`
	} `json:"tieredRates"`
}

// Prices reads the catalogue page by page and passes the prices of the region to take. The catalogue has no version;
// Prices returns the current date as the version.
func (p *Provider) Prices(ctx context.Context, region string, take func(cloud.Price) error) (string, error) {
	base := p.options.PriceLists
	if base == "" {
		base = catalogue
	}
	if p.options.PricesKey == "" {
		return "", fault.NewWithCause(fault.Unavailable, cloud.ErrPricesOff,
			"Google shows its prices only to callers with an API key: set LAMPLIGHTER_GOOGLE_PRICES_KEY to a key that "+
				"may call the Cloud Billing API")
	}
	lists := pricelist.Reader{Clock: p.options.Clock, Transport: p.options.Transport, Timeout: time.Minute}
	for _, service := range pricedServices {
		token := ""
		for n := 1; ; n++ {
			page, err := p.readSKUs(ctx, lists, base+"/services/"+service+"/skus", token)
			if err != nil {
				return "", fmt.Errorf("read page %d of the prices of service %s: %w", n, service, err)
			}
			if err = page.tellPrices(region, take); err != nil {
				return "", err
			}
			if token = page.Next; token == "" {
				break
			}
			if n == mostPricePages {
				return "", fault.New(fault.Unavailable, "the prices of service %s have more than %d pages", service, n)
			}
		}
	}
	return "catalog " + p.options.Clock.Now().UTC().Format(time.DateOnly), nil
}

func (p *Provider) readSKUs(ctx context.Context, lists pricelist.Reader, address, token string) (skuPage, error) {
	q := url.Values{"key": {p.options.PricesKey}, "pageSize": {"5000"}, "currencyCode": {"USD"}}
	if token != "" {
		q.Set("pageToken", token)
	}
	var page skuPage
	err := lists.Read(ctx, address+"?"+q.Encode(), func(r io.Reader) error { return json.NewDecoder(r).Decode(&page) })
	if err == nil && len(page.SKUs) == 0 {
		err = fault.New(fault.Unavailable, "the answer has no prices")
	}
	return page, err
}

func (page *skuPage) tellPrices(region string, take func(cloud.Price) error) error {
	for i := range page.SKUs {
		s := &page.SKUs[i]
		if !slices.Contains(s.Regions, region) && !slices.Contains(s.Regions, "global") || len(s.Pricing) == 0 {
			continue
		}
		unit, known := units[s.Pricing[0].Expression.Unit]
		if !known {
			continue
		}
		usd, err := s.Pricing[0].Expression.price()
		if err != nil {
			return fmt.Errorf("the price of %s: %w", s.ID, err)
		}
		for _, key := range s.priceKeys() {
			if err = take(cloud.Price{Key: key, Unit: unit, USD: usd}); err != nil {
				return err
			}
		}
	}
	return nil
}

// units are the units of prices, by Google's names.
var units = map[string]cloud.PriceUnit{"h": cloud.PerHour, "GiBy.h": cloud.PerHour, "GiBy.mo": cloud.PerMonth}

// price returns the price of the first use that is not free.
func (e *expression) price() (money.Amount, error) {
	for i, r := range e.Rates {
		if r.Price.Currency != "USD" {
			return money.Amount{}, fault.New(fault.Unavailable, "it is in %q", r.Price.Currency)
		}
		whole, err := money.Parse("0" + r.Price.Units.String())
		if err != nil {
			return money.Amount{}, err
		}
		if usd := whole.Add(money.FromScaled(r.Price.Nanos, 9)); !usd.IsZero() || i == len(e.Rates)-1 {
			return usd, nil
		}
	}
	return money.Amount{}, fault.New(fault.Unavailable, "it has no rates")
}
