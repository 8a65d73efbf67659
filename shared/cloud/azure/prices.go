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

// retailPrices is the address of Azure's retail prices. They are public, 1,000 a page.
const retailPrices = "https://prices.azure.com/api/retail/prices"

// retailVersion is the version of that API. Since it, filters are case-sensitive.
const retailVersion = "2023-01-01-preview"

// pricedServices are the services whose prices are read.
var pricedServices = []string{
	"Virtual Machines", "Storage", "Azure Kubernetes Service", "Azure Database for PostgreSQL",
	"Azure Database for MySQL", "SQL Database",
	"Azure App Service", "Load Balancer", "NAT Gateway", "Virtual Network",
}

// mostPages is the largest number of pages of one service in one region; machines have about ten.
const mostPages = 500

// retailPrice is a price of Azure's list.
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
	Plans    []planPrice `json:"savingsPlan"`
	Term     string      `json:"reservationTerm"`
}

// Prices asks for the prices of a region, page by page. They have no version: it is the day on which they were asked
// for.
func (p *Provider) Prices(ctx context.Context, region string, take func(cloud.Price) error) (string, error) {
	base := p.options.PriceLists
	if base == "" {
		base = retailPrices
	}
	l := retailList{
		lists: pricelist.Reader{Clock: p.options.Clock, Transport: p.options.Transport, Timeout: time.Minute},
		base:  base, region: region,
	}
	rates := machineRates{onDemand: map[string]money.Amount{}}
	for _, service := range pricedServices {
		if err := l.read(ctx, service, "Consumption", func(page *retailPage) error {
			rates.addPlans(page, region)
			return page.tellPrices(region, take)
		}); err != nil {
			return "", err
		}
	}
	err := l.read(ctx, machineService, "Reservation", func(page *retailPage) error {
		rates.addReservations(page, region)
		return nil
	})
	if err != nil {
		return "", err
	}
	return "retail " + p.options.Clock.Now().UTC().Format(time.DateOnly), rates.Tell(take)
}

// retailList reads the prices of a region.
type retailList struct {
	lists        pricelist.Reader
	base, region string
}

// read passes the pages of a service's prices of a type to take.
func (l *retailList) read(ctx context.Context, service, priceType string, take func(*retailPage) error) error {
	filter := fmt.Sprintf("armRegionName eq '%s' and serviceName eq '%s' and priceType eq '%s'",
		strings.ReplaceAll(l.region, "'", "''"), service, priceType)
	next := l.base + "?" + url.Values{"api-version": {retailVersion}, "$filter": {filter}}.Encode()
	for n := 0; next != ""; n++ {
		if n == mostPages || !strings.HasPrefix(next, l.base) {
			return fault.New(fault.Unavailable, "the prices of %s in %s go on at page %d, %.100q", service, l.region,
				n+1, next)
		}
		page, err := readRetail(ctx, l.lists, next)
		if err != nil {
			return fmt.Errorf("read page %d of the prices of %s in %s: %w", n+1, service, l.region, err)
		}
		if err = take(&page); err != nil {
			return err
		}
		next = page.Next
	}
	return nil
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

// tellPrices passes the prices of a page to take.
func (page *retailPage) tellPrices(region string, take func(cloud.Price) error) error {
	for i := range page.Items {
		r := &page.Items[i]
		if r.Currency != "USD" || r.Type != "Consumption" || !strings.EqualFold(r.Region, region) || r.From != "0" &&
			r.From != "0.0" {
			continue
		}
		key, unit, divide := r.priceKey()
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
