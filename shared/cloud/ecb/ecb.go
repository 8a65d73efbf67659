// Package ecb reads the euro foreign exchange reference rates, which the European Central Bank publishes on each
// working day, for bills in other currencies than the US dollar. A rate is fetched and stored like a price: the price
// of one unit of a currency.
package ecb

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/pricelist"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Name is the identifier of this provider.
const Name = "ecb"

// published is the address of the rates of the last 90 days.
const published = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml"

// mostBytes bounds the answer: some 70 days of 30 currencies take 150,000.
const mostBytes = 4 << 20

// Options are the address and the transport of the rates.
type Options struct {
	Clock     clock.Clock
	Address   string            // "" is where the bank publishes them
	Transport http.RoundTripper // nil is http.DefaultTransport
}

// Provider returns the rates as prices. It is a cloud.Provider without accounts.
type Provider struct{ options Options }

// New returns the Provider.
func New(o Options) *Provider { return &Provider{o} }

// Name is cloud.Provider's.
func (*Provider) Name() string { return Name }

// Kinds is cloud.Provider's: there are none.
func (*Provider) Kinds() []cloud.Kind { return nil }

// Connect implements cloud.Provider. It always fails, because the bank has no accounts.
func (*Provider) Connect(context.Context, cloud.Account) (cloud.Conn, error) {
	return nil, fault.New(fault.Invalid, "provider %s has no accounts", Name)
}

// envelope is the bank's answer: units of each currency for a euro, by day.
type envelope struct {
	Days []struct {
		Date  string `xml:"time,attr"`
		Rates []struct {
			Currency string `xml:"currency,attr"`
			Rate     string `xml:"rate,attr"`
		} `xml:"Cube"`
	} `xml:"Cube>Cube"`
}

// Prices passes the value of one unit of each currency in US dollars on each day to take, under KeyOf. The version is
// the newest day.
func (p *Provider) Prices(ctx context.Context, _ string, take func(cloud.Price) error) (string, error) {
	address := p.options.Address
	if address == "" {
		address = published
	}
	lists := pricelist.Reader{
		Clock: p.options.Clock, Transport: p.options.Transport, Attempts: 2,
		Timeout: 20 * time.Second,
	}
	var all envelope
	err := lists.Read(ctx, address, func(r io.Reader) error {
		return xml.NewDecoder(io.LimitReader(r, mostBytes)).Decode(&all)
	})
	if err != nil {
		return "", fmt.Errorf("read the exchange rates: %w", err)
	}
	version := ""
	for i := range all.Days {
		if err = all.tell(i, take); err != nil {
			return "", fmt.Errorf("the exchange rates of %.10q: %w", all.Days[i].Date, err)
		}
		version = max(version, all.Days[i].Date)
	}
	return version, nil
}

// KeyOf is the key of the rate of a currency on a day.
func KeyOf(date, currency string) string { return date + "/" + currency }

// tell passes the rates of a day to take.
func (e *envelope) tell(i int, take func(cloud.Price) error) error {
	d := &e.Days[i]
	if _, err := time.Parse(time.DateOnly, d.Date); err != nil {
		return err
	}
	perEuro := map[string]money.Amount{"EUR": money.FromInt(1)}
	for _, r := range d.Rates {
		a, err := money.Parse(r.Rate)
		if err != nil || a.Sign() <= 0 {
			return fault.New(fault.Unavailable, "the rate of %.8q is %.32q", r.Currency, r.Rate)
		}
		perEuro[r.Currency] = a
	}
	dollars, ok := perEuro["USD"]
	if !ok {
		return fault.New(fault.Unavailable, "there is none of the US dollar")
	}
	for currency, a := range perEuro {
		if err := take(cloud.Price{
			Key: KeyOf(d.Date, currency), Unit: cloud.Each,
			USD: dollars.MulDiv(money.FromInt(1), a),
		}); err != nil {
			return err
		}
	}
	return nil
}
