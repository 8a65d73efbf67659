package billfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// benchLines is the number of lines in the benchmarks: a million, and few with -short, which says nothing about time.
func benchLines() int {
	if testing.Short() {
		return 50_000
	}
	return 1_000_000
}

// passLines passes lines of 20,000 resources, 40 services, 10 regions and a thousand sets of tags to take, day by day.
func passLines(take func(*bill.Charge) error) error {
	var services, regions, resources []string
	for i := range 20_000 {
		resources = append(resources, fmt.Sprintf("arn:aws:ec2:eu-west-1:123456789012:instance/i-%017d", i))
		services, regions = append(services, "Service "+strconv.Itoa(i%40)),
			append(regions, "region-"+strconv.Itoa(i%10))
	}
	tags := make([][]bill.Tag, 1000)
	for i := range tags {
		tags[i] = []bill.Tag{
			{Key: "app", Value: "app-" + strconv.Itoa(i)},
			{Key: "env", Value: []string{"prod", "dev"}[i%2]},
			{Key: "team", Value: "team-" + strconv.Itoa(i%50)},
		}
	}
	var c bill.Charge
	for i := range benchLines() {
		n := i % 20_000
		c = bill.Charge{
			BillingPeriodStart: importedMonth.Start(),
			ChargePeriodStart:  importedMonth.Start().AddDate(0, 0, i/20_000%28),
			ChargePeriodEnd:    importedMonth.Start().AddDate(0, 0, i/20_000%28+1),
			ChargeCategory:     bill.Usage, BillingCurrency: "USD", ProviderName: "AWS", SubAccountID: "123456789012",
			ServiceName: services[n], RegionID: regions[n],
			ResourceID: resources[n], SkuID: "SKU" + strconv.Itoa(n%300), PricingCategory: bill.Standard, Unit: "Hrs",
			Tags:          tags[n%1000],
			BilledCost:    money.FromScaled(int64(i*7919%10_000_000), 8),
			EffectiveCost: money.FromScaled(int64(i*7919%9_000_000), 8),
			ListCost:      money.FromScaled(int64(i*7919%12_000_000), 8), Quantity: money.FromInt(1),
		}
		if err := take(&c); err != nil {
			return err
		}
	}
	return nil
}

// peak runs a function and returns the peak memory of the process in MiB, or 0 if the system does not report it.
func peak(run func()) float64 {
	runtime.GC()
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600)
	run()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseFloat(kib, 64)
	return n / 1024
}

// BenchmarkImport imports a million lines, with and without storing their line items.
func BenchmarkImport(b *testing.B) {
	for name, keep := range map[string]bool{"sums alone": false, "sums and lines": true} {
		b.Run(name, func(b *testing.B) {
			k := newKept(b)
			for b.Loop() {
				most := peak(func() {
					into, err := cost.New(k.Platform).Begin(k.In(apitest.Org), cost.Import{
						Org: apitest.Org, AccountID: "ca_1", Provider: "aws", Month: importedMonth,
						Fingerprint: strconv.Itoa(b.N), DeliveredAt: k.Clock.Now(),
					})
					k.Must(err)
					w := billfile.NewLineItemWriter(k.files, into)
					k.Must(passLines(func(c *bill.Charge) error {
						if err := into.Add(c); err != nil || !keep {
							return err
						}
						return w.Add(k.In(apitest.Org), c)
					}))
					k.Must(w.Close(k.In(apitest.Org)))
				})
				b.ReportMetric(most, "peak-MiB")
			}
			b.ReportMetric(float64(benchLines()*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkEngine asks questions about a million lines. LAMPLIGHTER_BENCH names a folder that keeps them, so that
// other programs can read the same files.
func BenchmarkEngine(b *testing.B) {
	k := newKept(b)
	items := []cost.LineItems{k.bring("ca_1", importedMonth, passLines)}
	if kept := os.Getenv("LAMPLIGHTER_BENCH"); kept != "" {
		k.Must(os.CopyFS(kept, os.DirFS(k.dir)))
	}
	whole := costquery.Query{
		From: importedMonth.Start(), To: importedMonth.End(),
		Measures: []string{"BilledCost", "EffectiveCost"},
	}
	for name, change := range map[string]func(*costquery.Query){
		"total":                 func(*costquery.Query) {},
		"by service and region": func(q *costquery.Query) { q.GroupBy = []string{"ServiceName", "RegionId"} },
		"by resource, of a team": func(q *costquery.Query) {
			q.GroupBy = []string{"ResourceId"}
			q.Filters = []costquery.Filter{{Column: "Tags.team", Operator: costquery.Is, Values: []string{"team-7"}}}
		},
		"a week, by day and resource": func(q *costquery.Query) {
			q.GroupBy, q.To = []string{"ChargePeriodStart", "ResourceId"}, q.From.AddDate(0, 0, 7)
		},
	} {
		b.Run(name, func(b *testing.B) {
			q := whole
			change(&q)
			if kept := os.Getenv("LAMPLIGHTER_BENCH"); kept != "" {
				k.Must(os.WriteFile(kept+"/"+strings.ReplaceAll(name, " ", "-")+".sql",
					[]byte(q.SQL(apitest.Org, items)), 0o600))
			}
			began := time.Now()
			for b.Loop() {
				most := peak(func() {
					_, err := billfile.NewLineItemEngine(k.files, k.Clock).Advance(k.Context(),
						&costquery.Job{Org: apitest.Org, Query: q, Items: items})
					k.Must(err)
				})
				b.ReportMetric(most, "peak-MiB")
			}
			b.ReportMetric(float64(benchLines()*b.N)/time.Since(began).Seconds(), "rows/s")
			b.ReportMetric(float64(q.Scan(items))/1e6, "MB-scanned")
		})
	}
}

// BenchmarkCheckpoints imports a month in files of a hundred thousand lines, and saves a checkpoint after each. Some
// calls continue from a checkpoint. The sums have a line for each resource, so that of 40 files are as many as of one.
func BenchmarkCheckpoints(b *testing.B) {
	for name, of := range map[string]struct{ files, calls int }{
		"1 file": {1, 1}, "40 files in 1 call": {40, 1}, "40 files in 40 calls": {40, 40},
	} {
		b.Run(name, func(b *testing.B) {
			k := newKept(b)
			for b.Loop() {
				var state float64
				var lasted time.Duration
				most := peak(func() {
					for call := range of.calls {
						state, lasted = k.importFiles(strconv.Itoa(b.N), call, of.files/of.calls)
					}
				})
				b.ReportMetric(most, "peak-MiB")
				b.ReportMetric(state, "checkpoint-MB")
				b.ReportMetric(lasted.Seconds(), "s/checkpoint")
			}
			b.ReportMetric(float64(of.files*fileLines()*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// fileLines is the number of lines of a file in BenchmarkCheckpoints: a hundred thousand, and few with -short.
func fileLines() int { return benchLines() / 10 }

var errEnough = errors.New("the file ends here")

// importFiles imports files in a call. It returns the megabytes of the last checkpoint, and how long it took.
func (k *kept) importFiles(fingerprint string, call, files int) (size float64, lasted time.Duration) {
	k.Helper()
	ctx := k.In(apitest.Org)
	into, err := cost.New(k.Platform).Begin(ctx, cost.Import{
		Org: apitest.Org, AccountID: "ca_1", Provider: "aws", Month: importedMonth, Fingerprint: fingerprint,
		DeliveredAt: k.Clock.Now(), Lines: true,
	})
	k.Must(err)
	w := billfile.NewLineItemWriter(k.files, into)
	for file := range files {
		left := fileLines()
		err = passLines(func(c *bill.Charge) error {
			if left--; left < 0 {
				return errEnough
			}
			return errors.Join(into.Add(c), w.Add(ctx, c))
		})
		if !errors.Is(err, errEnough) {
			k.Fatal(err)
		}
		k.Must(w.EndFile())
		began := time.Now()
		k.Must(w.Checkpoint(ctx, cost.Position{File: call*files + file + 1}))
		lasted = time.Since(began)
	}
	return k.checkpointMB(), lasted
}

// checkpointMB returns the size of the present checkpoint.
func (k *kept) checkpointMB() float64 {
	k.Helper()
	found, err := filepath.Glob(k.dir + "/*/*/*/*/*/_checkpoints/*/state")
	k.Must(err)
	if len(found) == 0 {
		return 0
	}
	about, err := os.Stat(found[len(found)-1])
	k.Must(err)
	return float64(about.Size()) / 1e6
}
