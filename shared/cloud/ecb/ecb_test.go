package ecb_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/ecb"
	"lamplighter.dev/shared/foundation/clock"
)

// twin answers as the bank does.
func twin(t *testing.T, body string) *ecb.Provider {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if body == "" {
			http.Error(w, "down for maintenance", http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return ecb.New(ecb.Options{Clock: clock.System{}, Address: s.URL})
}

const (
	before = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" ` +
		`xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender><Cube>`
	friday   = `<Cube time="2026-11-20"><Cube currency="USD" rate="1.25"/><Cube currency="JPY" rate="160"/></Cube>`
	thursday = `<Cube time="2026-11-19"><Cube currency="USD" rate="1.2"/><Cube currency="GBP" rate="0.8"/></Cube>`
	after    = `</Cube></gesmes:Envelope>`
)

func prices(p *ecb.Provider) (map[string]string, string, error) {
	out := map[string]string{}
	version, err := p.Prices(context.Background(), "", func(price cloud.Price) error {
		out[price.Key] = price.USD.String()
		return nil
	})
	return out, version, err
}

func TestPrices_AreWhatAUnitIsWorthInDollars(t *testing.T) {
	got, version, err := prices(twin(t, before+friday+thursday+after))
	if err != nil || version != "2026-11-20" {
		t.Fatalf("%s, %v", version, err)
	}
	for key, want := range map[string]string{
		"2026-11-20/EUR": "1.25", "2026-11-20/JPY": "0.0078125", "2026-11-20/USD": "1", "2026-11-19/GBP": "1.5",
		"2026-11-19/EUR": "1.2",
	} {
		if got[key] != want {
			t.Errorf("%s is %s, want %s", key, got[key], want)
		}
	}
	if len(got) != 6 {
		t.Errorf("%d rates: %v", len(got), got)
	}
}

func TestPrices_OfAnAnswerThatIsNoneAreNone(t *testing.T) {
	for name, body := range map[string]string{
		"refused": "", "cut off": before + friday[:40],
		"no dollar": before + strings.Replace(friday, "USD", "CHF", 1) + after,
		"nought":    before + strings.Replace(friday, "160", "0", 1) + after,
		"no number": before + strings.Replace(friday, "160", "N/A", 1) + after,
		"no day":    before + strings.Replace(friday, "2026-11-20", "Friday", 1) + after,
	} {
		if _, _, err := prices(twin(t, body)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
