// Package costtest fills the store of costs of a fixture with bills.
package costtest

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// Line is a daily charge for a resource, or for none. All its cost metrics are equal.
type Line struct {
	Resource string // native id
	Service  string
	Category string // Usage unless it says another
	Tags     []bill.Tag
	USD      func(day time.Time) string // a decimal; empty on days without a charge
}

// Every charges the same each day.
func Every(usd string) func(time.Time) string {
	return func(time.Time) string { return usd }
}

// Except charges the same each day but for some, which are named by their dates.
func Except(usd string, days map[string]string) func(time.Time) string {
	return func(day time.Time) string {
		if other, ok := days[day.Format(time.DateOnly)]; ok {
			return other
		}
		return usd
	}
}

// Bill is a bill of an AWS account from a first day until before a last one, delivered at a given time.
type Bill struct {
	Org, Account string
	From, To     time.Time
	Delivered    time.Time
}

// Import brings a bill in: a billing period for each month that it touches.
func Import(f *apitest.Fixture, b Bill, lines ...Line) {
	f.Helper()
	store := cost.New(f.Platform)
	for m := cost.MonthOf(b.From); m <= cost.MonthOf(b.To.Add(-1)); m = m.Add(1) {
		in := cost.Import{
			Org: b.Org, AccountID: b.Account, Provider: "aws", Month: m, Fingerprint: fmt.Sprint(b.Delivered),
			DeliveredAt: b.Delivered,
			Source:      "data_export", Export: "daily",
		}
		into, err := store.Begin(f.In(b.Org), in)
		f.Must(err)
		for day := m.Start(); day.Before(m.End()); day = day.AddDate(0, 0, 1) {
			if !day.Before(b.From) && day.Before(b.To) {
				addDay(f, into, m, day, lines)
			}
		}
		_, err = into.Commit(f.In(b.Org))
		f.Must(err)
	}
}

func addDay(f *apitest.Fixture, to *cost.Builder, m cost.Month, day time.Time, lines []Line) { //nolint:revive // what, where, of when
	f.Helper()
	for _, l := range lines {
		usd := l.USD(day)
		if usd == "" {
			continue
		}
		a := money.MustParse(usd)
		c := bill.Charge{
			BillingPeriodStart: m.Start(), ChargePeriodStart: day, ChargePeriodEnd: day.AddDate(0, 0, 1),
			ChargeCategory: bill.Usage,
			SubAccountID:   "123456789012", ServiceName: l.Service, RegionID: "eu-west-1", ResourceID: l.Resource,
			ResourceType:    "Instance",
			PricingCategory: bill.Standard, BillingCurrency: cost.USD, BilledCost: a, EffectiveCost: a, ListCost: a,
			Tags: l.Tags,
		}
		if l.Category != "" {
			c.ChargeCategory = l.Category
		}
		f.Must(to.Add(&c))
	}
}
