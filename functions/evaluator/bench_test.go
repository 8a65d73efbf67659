package evaluator

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// BenchmarkEvaluate12000 lets a schedule stop 12,000 resources in 500 accounts at one minute, in two groups, on a
// store that syncs. It measures the time from the minute to the queued bulk actions. The limit is 5 s, including the
// creation of their actions, which BenchmarkExpand12000 of functions/executor measures.
func BenchmarkEvaluate12000(b *testing.B) {
	a := newBenchmark(b, 500, 24)
	for day := 1; b.Loop(); day++ {
		b.StopTimer()
		a.Clock.Advance(atTime(day, 19, 0).Sub(a.Clock.Now()))
		before := len(a.listBulks(ours))
		b.StartTimer()
		u := a.Meter(func(ctx context.Context) { apitest.Value(EvaluateDue(ctx, a.Platform))(b) })
		b.StopTimer()
		got := a.listBulks(ours)[before:]
		if len(got) != 2 || got[0].Total+got[1].Total != 12_000 {
			b.Fatalf("%+v", got)
		}
		b.ReportMetric(float64(u.RoundTrips), "trips/op")
		b.ReportMetric(u.ReadUnits, "RU/op")
		b.ReportMetric(u.WriteUnits, "WU/op")
		b.StartTimer()
	}
}

// newBenchmark creates our organization on disk. It has the given number of accounts with each instances, in two
// groups under a schedule.
func newBenchmark(b *testing.B, accounts, each int) *fixture {
	b.Helper()
	a := newFixture(b)
	s := apitest.Value(table.Open(filepath.Join(b.TempDir(), "store.db"), table.Options{Clock: a.Platform.Clock}))(b)
	b.Cleanup(func() { _ = s.Close() })
	p := a.Clone()
	p.Table = table.Fenced(s)
	a.Platform, a.schedules = p, scheduling.New(p)
	a.Organization(ours, "Engines")
	var places [2][]inventory.GroupPlacement
	for n := range accounts {
		account := fmt.Sprintf("ca_%026d", n)
		inventorytest.Connect(a.Fixture, ours, account)
		found := make([]cloud.Resource, each)
		for i := range found {
			found[i] = cloud.Resource{UID: fmt.Sprintf("i-%04d-%02d", n, i), Name: "web", Status: cloud.Running}
		}
		ids := inventorytest.DiscoverIn(a.Fixture,
			inventory.Partition{AccountID: account, Region: "eu-west-1", Kind: "aws-ec2"}, ours, found...)
		for _, id := range ids {
			places[n%2] = append(places[n%2], inventory.GroupPlacement{ResourceID: id, Tier: 1, Order: 1})
		}
	}
	store := inventory.New(p)
	a.Must(store.CompactIndex(a.In(ours), ours))
	sch := a.newSchedule(nil, []string{"stop 0 19 * * *"})
	for n, some := range places {
		g := apitest.Value(store.CreateGroup(a.In(ours), ours,
			inventory.Group{
				ID:   id.New("grp", a.Clock.Now().Add(time.Duration(n)*time.Second)),
				Name: fmt.Sprint("G", n),
			}, some))(b)
		a.Must(a.schedules.Attach(a.In(ours), ours,
			scheduling.Attachment{ScheduleID: sch.ID, GroupID: g.ID, CreatedAt: a.Clock.Now()}))
	}
	return a
}
