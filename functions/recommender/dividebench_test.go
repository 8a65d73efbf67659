package recommender

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/seed"
)

// benchmarked is the number of resources of BenchmarkShare without LAMPLIGHTER_RESOURCES.
const benchmarked = 2_000

// BenchmarkShare evaluates a share of an organization of LAMPLIGHTER_RESOURCES volumes and instances with 14 days of
// metrics, and of one 16 times as large, whose 16 shares are as large. It reports the time of a share, its round trips
// and units, and the memory at its peak beyond that of the store.
func BenchmarkShare(b *testing.B) {
	per := benchmarked
	if n, err := strconv.Atoi(os.Getenv("LAMPLIGHTER_RESOURCES")); err == nil {
		per = n
	}
	for _, shares := range []int{1, 16} {
		b.Run(fmt.Sprintf("of %d resources in %d shares", per*shares, shares), func(b *testing.B) {
			f := newFixture(b)
			f.largeOrganization(per * shares)
			b.ReportAllocs()
			for b.Loop() {
				f.evaluateOneShare(b, benchmarkedShare{per, shares, 1})
			}
		})
	}
	b.Run(fmt.Sprintf("of the accounts of %d resources", per), func(b *testing.B) {
		f := newFixture(b)
		f.largeOrganization(per)
		for b.Loop() {
			f.evaluateOneShare(b, benchmarkedShare{per, 1, accountsShare})
		}
	})
}

// benchmarkedShare is one of a number of shares that have as many resources each.
type benchmarkedShare struct{ resources, shares, share int }

// largeOrganization is instances and their volumes: one of 50 is waste.
func (f *fixture) largeOrganization(n int) {
	f.Helper()
	kinds := map[string][]cloud.Resource{}
	bill := map[string]string{}
	for i := range n / 2 {
		m, v := f.instance(fmt.Sprintf("i-%06d", i)), f.volume(fmt.Sprintf("vol-%06d", i), 60*(i%50/49))
		if i%50 != 49 {
			v.ParentUID = m.UID
		}
		kinds[cloud.AWSEC2], kinds["aws-ebs"] = append(kinds[cloud.AWSEC2], m), append(kinds["aws-ebs"], v)
		bill[m.UID], bill[v.UID] = "2.4", "0.5"
	}
	for kind, all := range kinds {
		for some := range slices.Chunk(all, 1000) {
			f.discover(kind, some...)
		}
	}
	f.bill(bill)
	s, r := measurement.New(f.Platform), seed.Fixed(f, 22, 41)
	for n := 1; n <= 14; n++ {
		start := f.Clock.Now().Truncate(day).AddDate(0, 0, -n)
		for part, some := range slices.Collect(slices.Chunk(kinds[cloud.AWSEC2], 900)) {
			f.Must(s.WriteDay(f.In(org), org, inventorytest.Account, measurement.Day{Start: start, Part: part},
				seriesOf(some, r)))
		}
	}
}

// seriesOf returns the series of a day of busy instances: random values, with as many digits as are stored, so that
// they compress no better than those of a cloud.
func seriesOf(some []cloud.Resource, r *rand.Rand) (out []measurement.Series) {
	const dropped = 1<<12 - 1 // of the bits of a value
	for i := range some {
		for _, m := range cloud.MeasuresOf(cloud.AWSEC2) {
			one := measurement.Series{UID: some[i].UID, Measure: m}
			for hour := range one.Hours {
				one.Hours[hour] = math.Float32frombits(math.Float32bits(30+20*r.Float32()) &^ dropped)
			}
			out = append(out, one)
		}
	}
	return out
}

// evaluateOneShare evaluates one share twice: it measures the time of the first, and the memory and the writes of the
// second.
func (f *fixture) evaluateOneShare(b *testing.B, of benchmarkedShare) {
	b.Helper()
	f.countResources(of.resources * of.shares)
	evaluate := f.oneShare(b, of)
	began, cpu := time.Now(), processorTime(b) //nolint:forbidigo // of the machine
	usage := evaluate()
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/share") //nolint:forbidigo // of the machine
	b.ReportMetric(float64((processorTime(b)-cpu)/time.Millisecond), "cpu-ms/share")
	b.ReportMetric(usage.ReadUnits, "read-units")
	b.ReportMetric(usage.WriteUnits, "write-units")
	b.ReportMetric(float64(usage.RoundTrips), "round-trips")
	evaluate = f.oneShare(b, of)
	stop := watchHeap()
	usage = evaluate()
	b.ReportMetric(float64(stop())/(1<<20), "peak-MiB")
	b.ReportMetric(usage.WriteUnits, "write-units-again")
}

// oneShare returns a function that evaluates a share of a new pass in a new process.
func (f *fixture) oneShare(b *testing.B, of benchmarkedShare) func() table.Usage {
	b.Helper()
	w := newWorker(f.Platform, nil)
	w.perShare = of.resources
	in := recommendation.RefreshInput{Org: org, JobID: id.New("job", f.Clock.Now())}
	r, _, err := w.openJob(f.In(org), in)
	f.Must(err)
	r.prepare(in.JobID, dayOf(f.Clock.Now()))
	r.state.Shares = of.shares
	f.Must(r.save(f.In(org)))
	return func() table.Usage {
		ctx, meter := table.WithMeter(f.In(org))
		got, err := w.evaluateShare(ctx, ShareInput{RefreshInput: in, Share: of.share})
		f.Must(err)
		if !got.Done {
			b.Fatalf("%+v", got)
		}
		return meter.Usage()
	}
}

// processorTime returns the processor time of this process: other processes do not disturb it.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// watchHeap watches the live heap. The returned function ends that, and returns the bytes of the peak beyond those of
// the beginning. Frequent collections keep the garbage out of it.
func watchHeap() func() uint64 {
	before := debug.SetGCPercent(5)
	runtime.GC()
	at, peak := liveHeap(), uint64(0)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			peak = max(peak, liveHeap())
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return func() uint64 {
		cancel()
		<-ended
		debug.SetGCPercent(before)
		return max(peak, at) - at
	}
}

// liveHeap returns the bytes that the last collection found in use.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
