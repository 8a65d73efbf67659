package overrides

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/money"
)

func TestWake_ThePageTellsWhatItCosts(t *testing.T) {
	a := newFixture(t)
	_, page := a.newLink(map[string]any{"maxHours": 4})
	if body := a.visitPage("GET " + page).Body; !strings.Contains(body, "no public price is known") {
		t.Errorf("without prices: %s", body)
	}
	tenth, version := money.FromScaled(1, 1), "2026-03-01"
	a.Must(pricing.WriteCosts(a.In(ours), a.Platform, ours, []pricing.KnownCost{
		{UID: a.uid(0), Rate: pricing.HourlyRate{Running: tenth, Version: version}},
		{UID: a.uid(1), Rate: pricing.HourlyRate{Running: tenth, Off: money.FromScaled(2, 2), Version: version}},
		{UID: a.uid(2), Rate: pricing.HourlyRate{Reason: "its type has no price", Version: version}},
	}))
	// four hours of 0.10 and of 0.10 - 0.02
	const want = "about $0.72 at public prices, $0.1800 an hour; the price of 1 of 3 resources is not known"
	if body := a.visitPage("GET " + page).Body; !strings.Contains(body, want) {
		t.Errorf("with prices: %s; want %s", body, want)
	}
}
