package reports

import (
	"fmt"
	"os"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// BenchmarkReports_OfManyResources times the most used reports, from request to answer, for an organization whose
// resources are all in its inventory and billed every day. LAMPLIGHTER_COSTS=100000,13 is the size in
// docs/performance.md: resources and months.
func BenchmarkReports_OfManyResources(b *testing.B) {
	resources, months := 2_000, 2
	// the defaults stay when it is unset
	_, _ = fmt.Sscanf(os.Getenv("LAMPLIGHTER_COSTS"), "%d,%d", &resources, &months)
	a := &fixture{Fixture: apitest.New(b, Operations)}
	ids := a.discoverMany(resources)
	team := inventorytest.Team(a.Fixture, ours, "Web", ids[:100]...)
	last := cost.MonthOf(a.Clock.Now())
	for m := range months {
		a.billMany(last.Add(-m), resources)
	}
	from, to := last.Add(1-months), last.End().AddDate(0, 0, -1).Format("2006-01-02")
	for _, path := range []string{
		"summary?period=" + last.String(), fmt.Sprintf("trends?from=%s-01&to=%s", from, to),
		fmt.Sprintf("costs/breakdown?dims=service_name,region&from=%s-01&to=%s", from, to),
		fmt.Sprintf("costs/resources?limit=100&from=%s-01&to=%s", from, to), "teams?period=" + last.String(),
		"teams/" + team + "?period=" + last.String(),
	} {
		b.Run(path, func(b *testing.B) {
			a.get("/reports/" + path).Want(200)
			b.ReportAllocs()
			for b.Loop() {
				a.get("/reports/" + path)
			}
		})
	}
}

func (a *fixture) discoverMany(n int) (ids []string) {
	a.Helper()
	const batch = 1_000
	for first := 0; first < n; first += batch {
		var some []cloud.Resource
		for i := first; i < min(first+batch, n); i++ {
			some = append(some,
				cloud.Resource{
					UID: fmt.Sprintf("i-%08d", i), Name: fmt.Sprint("machine ", i), Type: "aws-ec2",
					Region: "eu-west-1", Status: cloud.Running,
				})
		}
		ids = append(ids, inventorytest.Discover(a.Fixture, ours, "aws-ec2", some...)...)
	}
	return ids
}

// billMany imports a bill on which each resource has its own cost each day, in one of 40 services and 10 regions.
func (a *fixture) billMany(m cost.Month, resources int) {
	a.Helper()
	b, err := cost.New(a.Platform).Begin(a.In(ours), cost.Import{
		Org: ours, AccountID: "ca_1", Provider: "aws", Month: m, Fingerprint: m.String(), DeliveredAt: a.Clock.Now(),
		Source: "data_export", Export: "daily",
	})
	a.Must(err)
	for i := range resources {
		for day := range m.Days() {
			amount := money.FromScaled(int64((i*7919+day*104729)%9_000_000), 6)
			a.Must(b.Add(&bill.Charge{
				BillingPeriodStart: m.Start(), ChargePeriodStart: m.Start().AddDate(0, 0, day),
				ChargeCategory: bill.Usage, SubAccountID: "123456789012",
				ServiceName: fmt.Sprint("Service ", i%40), RegionID: fmt.Sprint("region-", i%10),
				ResourceID:      fmt.Sprintf("i-%08d", i),
				PricingCategory: bill.Standard, BillingCurrency: cost.USD, BilledCost: amount, EffectiveCost: amount,
				ListCost: amount,
			}))
		}
	}
	_, err = b.Commit(a.In(ours))
	a.Must(err)
}
