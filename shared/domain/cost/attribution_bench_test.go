package cost

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// BenchmarkAttributeMonth attributes a closed month after a team has got 100 resources of the month: with a new
// process, which has no chunks in memory. "no resource of it" is a month without these resources.
func BenchmarkAttributeMonth(b *testing.B) {
	resources, _ := benchmarkSize()
	s := newFixture(b)
	known := make([]cloud.Resource, resources)
	for n := range known {
		c := benchmarkCharge(march, n)
		known[n] = cloud.Resource{UID: c.ResourceID, Name: fmt.Sprint("r-", n), Status: cloud.Running}
	}
	var ids []string
	for some := range slices.Chunk(known, 1000) {
		ids = append(ids, inventorytest.Discover(s.Fixture, testOrg, "aws-ec2", some...)...)
	}
	february, january := march.Add(-1), march.Add(-2)
	s.bill(b, february, resources, 20)
	s.bill(b, january, resources/2, 20)
	generation := int64(0)
	for name, m := range map[string]Month{"resources of the month": february, "no resource of it": january} {
		b.Run(name, func(b *testing.B) {
			var used table.Usage
			for b.Loop() {
				generation++
				s.Clock.Advance(time.Minute)
				at := resources/2 + int(generation%2)*100
				s.ownIDs("team_a", generation, ids[at:at+100]...)
				s.store = s.fresh()
				ctx, meter := table.WithMeter(s.ctx)
				done, err := s.store.AttributeMonth(ctx, testOrg, m, s.Clock.Now().Add(time.Minute))
				s.Must(err)
				if used = meter.Usage(); !done || used.WriteUnits == 0 {
					b.Fatal("nothing was attributed")
				}
			}
			b.ReportMetric(float64(used.RoundTrips), "trips/op")
			b.ReportMetric(used.ReadUnits, "R/op")
			b.ReportMetric(used.WriteUnits, "W/op")
		})
	}
}
