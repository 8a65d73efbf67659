package azure

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/pricelist"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// retailPrices is where Azure tells its prices: anybody may ask, a page of 1,000 at a time.
const retailPrices = "https://prices.azure.com/api/retail/prices"

// retailVersion is the version of that interface. Since it, values of filters are told apart by case.
const retailVersion = "2023-01-01-preview"

// pricedServices are the services whose prices are asked for.
var pricedServices = []string{
	"Virtual Machines", "Storage", "Azure Kubernetes Service", "Azure Database for PostgreSQL",
	"Azure Database for MySQL", "SQL Database",
	"Azure App Service", "Load Balancer", "NAT Gateway", "Virtual Network",
}

// mostPages bounds the pages of one service in one region: that of machines has some ten.
const mostPages = 500

// retailPrice is a price as Azure tells it.
type retailPrice struct {
	Currency string      `json:"currencyCode"`
	Price    json.Number `json:"retailPrice"`
	From     json.Number `json:"tierMinimumUnits"`
	Region   string      `json:"armRegionName"`
	Meter    string      `json:"meterName"`
	Product  string      `json:"productName"`
	SKU      string      `json:"skuName"`
	ArmSKU   string      `json:"armSkuName"`
	Service  string      `json:"serviceName"`
	Unit     string      `json:"unitOfMeasure"`
	Type     string      `json:"type"`
}

// Prices asks for the prices of a region, page by page. They have no version: it is the day on which they were asked
// for.
func (p *Provider) Prices(ctx context.Context, region string, take func(cloud.Price) error) (string, error) {
	base := p.options.PriceLists
	if base == "" {
		base = retailPrices
	}
	lists := pricelist.Reader{Clock: p.options.Clock, Transport: p.options.Transport, Timeout: time.Minute}
	for _, service := range pricedServices {
		filter := fmt.Sprintf("armRegionName eq '%s' and serviceName eq '%s' and priceType eq 'Consumption'",
			strings.ReplaceAll(region, "'", "''"), service)
		next := base + "?" + url.Values{"api-version": {retailVersion}, "$filter": {filter}}.Encode()
		for n := 0; next != ""; n++ {
			if n == mostPages || !strings.HasPrefix(next, base) {
				return "",
					fault.New(fault.Unavailable, "the prices of %s in %s go on at page %d, %.100q", service, region,
						n+1, next)
			}
			page, err := readRetail(ctx, lists, next)
			if err != nil {
				return "", fmt.Errorf("read page %d of the prices of %s in %s: %w", n+1, service, region, err)
			}
			if err = page.tell(region, take); err != nil {
				return "", err
			}
			next = page.Next
		}
	}
	return "retail " + p.options.Clock.Now().UTC().Format(time.DateOnly), nil
}

// retailPage is a page of prices.
type retailPage struct {
	Items []retailPrice `json:"Items"`
	Next  string        `json:"NextPageLink"`
	Count *int          `json:"Count"`
}

func readRetail(ctx context.Context, lists pricelist.Reader, address string) (retailPage, error) {
	var page retailPage
	err := lists.Read(ctx, address, func(r io.Reader) error { return json.NewDecoder(r).Decode(&page) })
	if err == nil && (page.Count == nil || *page.Count != len(page.Items)) {
		err = fault.New(fault.Unavailable, "the answer has %d prices, and does not say that it has as many",
			len(page.Items))
	}
	return page, err
}

// tell tells the prices of a page.
func (page *retailPage) tell(region string, take func(cloud.Price) error) error {
	for i := range page.Items {
		r := &page.Items[i]
		if r.Currency != "USD" || r.Type != "Consumption" || !strings.EqualFold(r.Region, region) || r.From != "0" &&
			r.From != "0.0" {
			continue
		}
		key, unit, divide := r.key()
		if key == "" {
			continue
		}
		usd, err := money.Parse(r.Price.String())
		if err != nil {
			return fmt.Errorf("the price of %s: %w", key, err)
		}
		if err = take(cloud.Price{Key: key, Unit: unit, USD: usd.DivInt(divide)}); err != nil {
			return err
		}
	}
	return nil
}
