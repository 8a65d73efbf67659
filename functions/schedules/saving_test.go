package schedules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// nights stops its resources at 20:00 UTC, and starts them at 08:00 on weekdays.
const nights = `{"name":"Nights","timezone":"UTC","crons":[{"cronExpression":"0 20 * * *","action":"stop"},` +
	`{"cronExpression":"0 8 * * 1-5","action":"start"}]}`

// price gives instances a price of an hour: usd while they run, 2 cents while they are stopped.
func (f *fixture) price(usd string, instances ...int) {
	f.Helper()
	var costs []pricing.KnownCost
	for _, n := range instances {
		costs = append(costs, pricing.KnownCost{UID: fmt.Sprint("i-", n), Rate: pricing.HourlyRate{
			Running: apitest.Value(money.Parse(usd))(f), Off: money.FromScaled(2, 2),
		}})
	}
	f.Must(pricing.WriteCosts(f.In(apitest.Org), f.Platform, apitest.Org, costs))
}

// savings are the expected savings of a preview: of all, then of each firing.
func savings(p Preview) string {
	text := func(usd *string) string {
		if usd == nil {
			return "-"
		}
		return *usd
	}
	out := []string{text(p.ExpectedSavingUSD) + ":"}
	for _, f := range p.Firings {
		out = append(out, string(f.Action)+" "+text(f.ExpectedSavingUSD))
	}
	return strings.Join(out, " ")
}

func TestPreview_ExpectsTheSavingUntilTheNextStart(t *testing.T) {
	f := newFixture(t)
	s := f.newSchedule(nights)
	f.attachTo(s.ID, 0, 1, 2)
	f.price("1.02", 0, 1)
	friday := "?from=2026-03-13T12:00:00Z" // until Monday: 12 hours of a night, then 60 of the weekend
	p := f.readPreview(s.ID, friday+"&to=2026-03-17")
	f.Equal("over a weekend", savings(p), "128.00: stop 120.00 stop 0.00 stop 0.00 start - stop 8.00")
	f.Equal("without a price", fmt.Sprint(p.WithoutRate, " ", p.SavingNote),
		"1 expectedSavingUSD leaves out 1 of 3 resources, whose price is not known")
	f.Equal("until the end", savings(f.readPreview(s.ID, friday+"&to=2026-03-13T20:30:00Z")), "1.00: stop 1.00")
}

func TestPreview_AStoppedResourceSavesNothingUntilItWasStarted(t *testing.T) {
	f := newFixture(t)
	found := inventorytest.Instances(5)
	found[0].Status = cloud.Stopped
	f.Clock.Advance(time.Minute)
	inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2", found...)
	s := f.newSchedule(nights)
	f.attachTo(s.ID, 0)
	f.price("1.02", 0)
	p := f.readPreview(s.ID, "?from=2026-03-13T12:00:00Z&to=2026-03-17")
	f.Equal("stopped on Friday", savings(p), "4.00: stop 0.00 stop 0.00 stop 0.00 start - stop 4.00")
	f.Equal("all priced", fmt.Sprint(p.WithoutRate, p.SavingNote), "0")
}
