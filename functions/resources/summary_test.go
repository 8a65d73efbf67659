package resources

import (
	"testing"

	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestSummary_SaysWhatRunningResourcesCostAnHour(t *testing.T) {
	a := newFixture(t)
	rate := func(running string) pricing.HourlyRate { return pricing.HourlyRate{Running: money.MustParse(running)} }
	shared := rate("5")
	shared.Shared = true
	a.Must(pricing.WriteCosts(a.In(ours), a.Platform, ours, []pricing.KnownCost{
		{UID: "i-0", Rate: rate("0.0116")}, {UID: "i-1", Rate: shared}, {UID: "db-1", Rate: rate("9")},
	}))
	sum := apitest.Data[Summary](a.getPath("/resources/summary"))
	if sum.HourlyUSD == nil || *sum.HourlyUSD != "0.0116" || sum.WithoutRate != 1 {
		t.Errorf("%v an hour, %d without a price", sum.HourlyUSD, sum.WithoutRate)
	}
	if got := apitest.Data[Summary](a.getPath("/resources/summary?type=aws-rds")).HourlyUSD; got != nil {
		t.Errorf("a stopped database costs %s an hour", *got)
	}
	if w := a.getPath("/resources/summary"); w.Usage.RoundTrips > 2 {
		t.Errorf("%d round trips", w.Usage.RoundTrips)
	}
}
