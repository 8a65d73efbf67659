package billingsync_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/functions/pricesync"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/ecb"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
)

// bank is a twin of the publisher of exchange rates.
type bank struct {
	*httptest.Server
	days  atomic.Value // of XML; "" is down
	asked atomic.Int64
}

func newBank(t *testing.T) *bank {
	t.Helper()
	b := &bank{}
	b.days.Store(rateOn("2026-09-30", "1.1") + rateOn("2026-10-30", "1.2") + rateOn("2026-11-20", "1.25"))
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		b.asked.Add(1)
		days, _ := b.days.Load().(string)
		if days == "" {
			http.Error(w, "down", http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte("<Envelope><Cube>" + days + "</Cube></Envelope>"))
	}))
	t.Cleanup(b.Close)
	return b
}

func rateOn(date, dollars string) string {
	return `<Cube time="` + date + `"><Cube currency="USD" rate="` + dollars +
		`"/><Cube currency="GBP" rate="0.5"/></Cube>`
}

func (b *bank) providers() cloud.Providers {
	return cloud.Providers{ecb.Name: ecb.New(ecb.Options{Clock: clock.System{}, Address: b.URL})}
}

// night runs pricesync once.
func (s *fixture) night(b *bank) pricesync.Synced {
	s.Helper()
	s.clk.Advance(24 * time.Hour)
	s.Put(identity.DirectoryKey("org_a"), map[string]string{"org": "org_a"})
	out, err := pricesync.SyncPrices(s.Context(), s.Platform, b.providers())
	if err != nil {
		s.Log(err)
	}
	return out
}

func euros(rows ...string) string {
	return header + strings.ReplaceAll(strings.Join(rows, ""), ",USD,", ",EUR,")
}

func (s *fixture) wantRates(what, period, want string) {
	s.Helper()
	p := s.periods()[period]
	b, err := json.Marshal(p.Rates)
	s.Must(err)
	if string(b) != want {
		s.Errorf("%s: the rates of %s are %s, want %s", what, period, b, want)
	}
}

// A bill in euros is converted at the rate of its month's last day, or of its delivery. The period states the rate
// with its source and date.
func TestRates_OfTheCentralBankConvertOtherCurrencies(t *testing.T) {
	b := newBank(t)
	s := newFixtureWith(t, b.providers())
	s.upload(fields{"vendor": "snowflake"},
		euros(charge("10", "2026-10", "03"), charge("100", "2026-11", "03"), charge("1000", "2025-12", "03")))
	s.wantRates("of a closed month", "2026-10",
		`[{"currency":"EUR","usd":"1.2","source":"European Central Bank","date":"2026-10-30"}]`)
	s.wantRates("of the open one", "2026-11",
		`[{"currency":"EUR","usd":"1.25","source":"European Central Bank","date":"2026-11-20"}]`)
	s.wantRates("of before the rates begin", "2025-12",
		`[{"currency":"EUR","usd":"1.1","source":"European Central Bank","date":"2026-09-30"}]`)
	if a := s.ask(cost.CurrencyDim); a.Total.String() != "1237" || len(a.Unconverted) != 0 {
		t.Errorf("all of it is %s, %v", a.Total, a.Unconverted)
	}
	if p := s.periods()["2026-10"]; p.Totals[0].Currency != "EUR" || p.Totals[0].Billed.String() != "10" {
		t.Errorf("what was billed is %+v", p.Totals)
	}
	if n := b.asked.Load(); n != 1 {
		t.Errorf("the bank was asked %d times", n)
	}
}

func TestRates_ThatAreNotToBeHadAreAddedByANightAndYesterdaysAreUsed(t *testing.T) {
	b := newBank(t)
	days := b.days.Swap("")
	s := newFixtureWith(t, b.providers())
	s.upload(fields{"vendor": "snowflake"}, euros(charge("10", "2026-10", "03")))
	s.wantRates("while the bank is down", "2026-10", `[]`)
	if a := s.ask(); !a.Total.IsZero() || len(a.Unconverted) != 1 || a.Unconverted[0].Currency != "EUR" ||
		a.Unconverted[0].Amount.String() != "10" {
		t.Errorf("without a rate %+v", a)
	}
	s.night(b)
	s.wantRates("after a night without", "2026-10", `[]`)
	b.days.Store(days)
	s.night(b)
	s.wantRates("after a night", "2026-10",
		`[{"currency":"EUR","usd":"1.2","source":"European Central Bank","date":"2026-10-30"}]`)
	if a := s.ask(); a.Total.String() != "12" || len(a.Unconverted) != 0 {
		t.Errorf("with a rate %+v", a)
	}
	sums := apitest.Value(cost.New(s.Platform).Summaries(s.In("org_a"), "org_a", november.Add(-1), november.Add(-1)))(s)
	if sums[0].Total.Billed.String() != "12" || len(sums[0].Unconverted) != 0 {
		t.Errorf("the summary says %s, %v", sums[0].Total.Billed, sums[0].Unconverted)
	}
	b.days.Store("")
	s.night(b)
	s.upload(fields{"vendor": "datadog"}, euros(charge("100", "2026-11", "03")))
	s.wantRates("of the day before", "2026-11",
		`[{"currency":"EUR","usd":"1.25","source":"European Central Bank; newer rates could not be fetched",`+
			`"date":"2026-11-20"}]`)
}

func TestRates_OfTheBillItselfComeFirst(t *testing.T) {
	b := newBank(t)
	s := newFixtureWith(t, b.providers())
	content := strings.Replace(header, "Tags\n", "Tags,x_PricingCurrency,x_BillingExchangeRate\n", 1) +
		strings.ReplaceAll(strings.ReplaceAll(charge("10", "2026-10", "03")+charge("20", "2026-10", "04"), ",USD,",
			",EUR,"), "{}\n", "{},USD,0.8\n")
	s.upload(fields{"vendor": "azure"}, content)
	s.wantRates("of the bill", "2026-10", `[{"currency":"EUR","usd":"1.25","source":"bill","date":"2026-10-04"}]`)
	if a := s.ask(); a.Total.String() != "37.5" {
		t.Errorf("all of it is %s", a.Total)
	}
	if n := b.asked.Load(); n != 0 {
		t.Errorf("the bank was asked %d times", n)
	}
}
