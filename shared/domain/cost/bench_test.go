package cost

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

// benchmarkSize returns the size of the benchmarks. LAMPLIGHTER_COSTS=100000,13 is the size in docs/performance.md.
func benchmarkSize() (resources, months int) {
	resources, months = 10_000, 2
	// the defaults stay when it is unset
	_, _ = fmt.Sscanf(os.Getenv("LAMPLIGHTER_COSTS"), "%d,%d", &resources, &months)
	return resources, months
}

// billed is an organization with many bills. It is created once, because the benchmarks that share it do not change
// it.
var billed *fixture

// lasting is the benchmark that created billed. The other benchmarks of the process share billed, so it must not end
// with that benchmark.
type lasting struct{ testing.TB }

// Cleanup does nothing.
func (lasting) Cleanup(func()) {}

// Context returns a context that never ends.
func (lasting) Context() context.Context { return context.Background() }

func fillCosts(b *testing.B) *fixture {
	b.Helper()
	if billed != nil {
		return billed
	}
	s := newFixture(lasting{b})
	resources, months := benchmarkSize()
	begin := time.Now()
	for m := range months {
		s.bill(b, march.Add(-m), resources, 20)
	}
	b.Logf("imported %d months of %d resources in %v", months, resources, time.Since(begin))
	billed = s
	return s
}

// bill imports a month of daily usage. The costs of a resource vary from day to day by up to an nth of its base cost,
// or not at all if nth is 0.
func (s *fixture) bill(tb testing.TB, m Month, resources int, nth int64) Period {
	tb.Helper()
	in := imported("ca_1", "f", now)
	in.Month, in.Final = m, m < march
	b, err := s.store.Begin(s.ctx, in)
	s.Must(err)
	r := seed.Fixed(tb, uint64(m), 1)
	for n := range resources {
		c := benchmarkCharge(m, n)
		base := r.Int64N(9_000_000_000) + 1_000_000_000
		for day := range m.Days() {
			c.ChargePeriodStart = m.Start().AddDate(0, 0, day)
			c.ChargePeriodEnd = c.ChargePeriodStart.AddDate(0, 0, 1)
			c.BilledCost = money.FromScaled(base, 10)
			if nth > 0 {
				c.BilledCost = money.FromScaled(base+r.Int64N(base/nth), 10)
			}
			c.EffectiveCost, c.ListCost = c.BilledCost, c.BilledCost
			if n%10 == 0 {
				c.EffectiveCost = money.FromScaled(base/2, 10)
			}
			s.Must(b.Add(&c))
		}
	}
	p, err := b.Commit(s.ctx)
	s.Must(err)
	return p
}

// benchmarkCharge returns usage in 20 subscriptions with three regions each, of 40 services with two types each.
func benchmarkCharge(m Month, n int) bill.Charge {
	h := uint64(n) * 0x9E3779B97F4A7C15
	sub, service := h>>8%20, h>>20%40
	region := (sub + h>>30%3) % 15
	return bill.Charge{
		BillingPeriodStart: m.Start(), ChargeCategory: bill.Usage, BillingCurrency: USD,
		PricingCategory: bill.Standard,
		SubAccountID:    strconv.FormatUint(100000000000+sub, 10), ServiceName: fmt.Sprint("Service ", service),
		RegionID:     fmt.Sprint("region-", region),
		ResourceType: fmt.Sprint("type-", service*2+h>>40%2),
		ResourceID:   fmt.Sprintf("arn:aws:ec2:region-%d:%d:thing/i-%017x", region, 100000000000+sub, h),
		Tags: []bill.Tag{
			{Key: "env", Value: []string{"prod", "dev", "test"}[n%3]},
			{Key: "owner", Value: "person-" + strconv.Itoa(n%500)},
		},
	}
}

func months13() Question {
	_, months := benchmarkSize()
	return Question{From: march.Add(1 - months).Start(), To: march.End(), Metric: Billed}
}

// peakHeap runs f and returns the largest growth of the heap in bytes, sampled.
func peakHeap(f func()) uint64 {
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		top := uint64(0)
		for {
			runtime.ReadMemStats(&now)
			top = max(top, now.HeapInuse)
			select {
			case <-done:
				peak <- top
				return
			case <-time.After(5 * time.Millisecond): //nolint:forbidigo // samples a real process
			}
		}
	}()
	f()
	close(done)
	return max(<-peak, before.HeapInuse) - before.HeapInuse
}

// cpu returns the processor time of the process so far. Other processes on the machine hardly affect it.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func benchmarkAsk(b *testing.B, q Question, cold bool) {
	b.Helper()
	s := fillCosts(b)
	store := s.fresh()
	ask := func() {
		if cold {
			store = s.fresh()
		}
		if a, err := store.Ask(s.ctx, testOrg, q); err != nil || a.Total.IsZero() {
			b.Fatal(a.Total, err)
		}
	}
	ask()
	b.ReportAllocs()
	before, n := cpu(b), 0
	for b.Loop() {
		ask()
		n++
	}
	b.ReportMetric(float64((cpu(b)-before).Milliseconds())/float64(n), "cpu-ms")
	b.ReportMetric(float64(peakHeap(ask))/1e6, "MB-peak")
	if cold {
		store = s.fresh()
	}
	ctx, meter := table.WithMeter(s.ctx)
	_, err := store.Ask(ctx, testOrg, q)
	s.Must(err)
	b.ReportMetric(float64(meter.Usage().RoundTrips), "trips")
	b.ReportMetric(meter.Usage().ReadUnits, "R")
}

func BenchmarkBreakdown(b *testing.B) {
	for _, dims := range [][]string{
		{ServiceDim, RegionDim},
		{AccountDim, TeamDim},
		{"tag:env", "tag:owner"},
		{ServiceDim, ResourceDim},
	} {
		for _, cold := range []bool{true, false} {
			b.Run(fmt.Sprintf("%v cold=%v", dims, cold), func(b *testing.B) {
				q := months13()
				q.Dims = dims
				benchmarkAsk(b, q, cold)
			})
		}
	}
}

// BenchmarkTrend asks for each day of all months.
func BenchmarkTrend(b *testing.B) {
	for _, dims := range [][]string{nil, {TeamDim}, {ServiceDim}, {TeamDim, ServiceDim}} {
		b.Run(fmt.Sprint(dims), func(b *testing.B) {
			q := months13()
			q.Dims, q.Daily = dims, true
			benchmarkAsk(b, q, true)
		})
	}
}

// BenchmarkDaily49 asks the question of the anomaly check: each resource on each of 49 days.
func BenchmarkDaily49(b *testing.B) {
	q := Question{
		From: march.End().AddDate(0, 0, -49), To: march.End(), Metric: Effective, Dims: []string{ResourceDim},
		Daily: true, UsageOnly: true,
	}
	benchmarkAsk(b, q, true)
}

func BenchmarkSummaries(b *testing.B) {
	s := fillCosts(b)
	_, months := benchmarkSize()
	read := func(ctx context.Context) {
		got, err := s.fresh().Summaries(ctx, testOrg, march.Add(1-months), march)
		if err != nil || len(got) != months {
			b.Fatal(len(got), err)
		}
	}
	b.ReportAllocs()
	before, n := cpu(b), 0
	for b.Loop() {
		read(s.ctx)
		n++
	}
	b.ReportMetric(float64((cpu(b)-before).Milliseconds())/float64(n), "cpu-ms")
	ctx, meter := table.WithMeter(s.ctx)
	read(ctx)
	b.ReportMetric(float64(meter.Usage().RoundTrips), "trips")
	b.ReportMetric(meter.Usage().ReadUnits, "R")
}

// BenchmarkImport imports a month of 10,000 resources: once with costs that vary each day, which compress worst, and
// once with constant costs.
func BenchmarkImport(b *testing.B) {
	for name, nth := range map[string]int64{"varying": 20, "steady": 0} {
		b.Run(name, func(b *testing.B) {
			var items int
			var rows int64
			var meter *table.Meter
			for b.Loop() {
				s := newFixture(b)
				s.ctx, meter = table.WithMeter(s.ctx)
				rows, items = s.bill(b, march, 10_000, nth).Rows, s.countItems()
			}
			b.ReportMetric(meter.Usage().WriteUnits, "W")
			b.ReportMetric(float64(rows), "rows")
			b.ReportMetric(float64(items), "items")
		})
	}
}

// countItems counts the items of the organization's costs.
func (s *fixture) countItems() int {
	s.Helper()
	page, err := s.Table.Query(s.ctx, table.Query{PK: PK(testOrg), Limit: table.MaxPage})
	s.Must(err)
	pks, err := ChunkPartitions(testOrg, page.Items)
	s.Must(err)
	n := len(page.Items)
	for _, pk := range pks {
		q := table.Query{PK: pk, Limit: table.MaxPage}
		for {
			chunks, err := s.Table.Query(s.ctx, q)
			s.Must(err)
			n += len(chunks.Items)
			if q.Cursor = chunks.Next; q.Cursor == "" {
				break
			}
		}
	}
	return n
}
