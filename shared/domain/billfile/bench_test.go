package billfile_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/money"
)

// benchRows is the number of rows in the benchmark files: a thousand times the real sample.
const benchRows = 1_000_000

// benchFolder returns the folder of the files. LAMPLIGHTER_BENCH keeps them, so that other programs can read the same
// files.
var benchFolder = sync.OnceValue(func() string {
	if kept := os.Getenv("LAMPLIGHTER_BENCH"); kept != "" {
		return kept
	}
	dir, err := os.MkdirTemp("", "bills")
	if err != nil {
		panic(err)
	}
	return dir
})

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("LAMPLIGHTER_BENCH") == "" {
		_ = os.RemoveAll(benchFolder())
	}
	os.Exit(code)
}

// benchCSV returns a csv.gz with this number of rows. It repeats the real sample on different days and resources, so
// that there are several hundred thousand groups of day, provider, account, service, region and resource.
func benchCSV(b *testing.B, rows int) string {
	b.Helper()
	path := filepath.Join(benchFolder(), fmt.Sprintf("focus-%d.csv.gz", rows))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	sample := oracle(b, readData(b, "focus/focus_1.0_sample_1000.csv.gz"))
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	z, _ := gzip.NewWriterLevel(f, gzip.DefaultCompression)
	w := csv.NewWriter(z)
	_ = w.Write(sample[0])
	for i := range rows {
		_ = w.Write(vary(sample[0], sample[1+i%1000], i/1000))
	}
	w.Flush()
	if err := firstError(w.Error(), z.Close(), f.Close()); err != nil {
		b.Fatal(err)
	}
	return path
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func vary(header, row []string, n int) []string {
	out := slices.Clone(row)
	if i := slices.Index(header, "ResourceId"); out[i] != "NULL" {
		out[i] += "-" + strconv.Itoa(n%440)
	}
	return out
}

// benchParquet returns the same charges in a file by ParquetWriter.
func benchParquet(b *testing.B, rows int) string {
	b.Helper()
	path := filepath.Join(benchFolder(), fmt.Sprintf("focus-%d.parquet", rows))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := billfile.NewParquetWriter(f)
	readFile(b, benchCSV(b, rows), w.Add)
	if err := firstError(w.Close(), f.Close()); err != nil {
		b.Fatal(err)
	}
	return path
}

// onDisk is a file on disk.
type onDisk struct{ *os.File }

func (d onDisk) Size() int64 {
	info, err := d.Stat()
	if err != nil {
		return -1
	}
	return info.Size()
}

// readFile reads all columns into charges.
func readFile(b *testing.B, path string, take func(*bill.Charge) error) billfile.Totals {
	b.Helper()
	return openFile(b, path, func(f onDisk) (billfile.Totals, error) {
		return billfile.Read(context.Background(), cloud.FOCUSForm, path, f, take)
	})
}

// readEight reads eight columns in blocks.
func readEight(b *testing.B, path string, take func(*bill.Block) error) billfile.Totals {
	b.Helper()
	return openFile(b, path, func(f onDisk) (billfile.Totals, error) {
		return billfile.ReadBlocks(context.Background(), eight, path, f, take)
	})
}

func openFile(b *testing.B, path string, read func(onDisk) (billfile.Totals, error)) billfile.Totals {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	totals, err := read(onDisk{f})
	if err != nil {
		b.Fatal(err)
	}
	return totals
}

// group is the key of a resource's daily sums: the day, and the numbers of provider, account, service and region.
type group [5]int32

type sums struct{ billed, effective money.Amount }

// dailySums adds charges up by day, provider, account, service, region and resource. It compares only the groups of
// the resource, because a resource has few.
type dailySums struct {
	days      *bill.Translation[time.Time, int32]
	texts     [4]*bill.Numbering[string]
	resources *bill.Numbering[string]
	first     []int32 // of a resource: the number of its newest group, 0 for none
	count     int32   // the number of the last group
	groups    [][]dailySum
}

// perChunk is the number of groups that are allocated at once.
const perChunk = 4096

func (d *dailySums) at(n int32) *dailySum { return &d.groups[n/perChunk][n%perChunk] }

// dailySum is a group. before is the number of the resource's group before it.
type dailySum struct {
	key    group
	before int32
	sums   sums
}

func newDailySums() *dailySums {
	same := func(s string) string { return s }
	d := &dailySums{
		days:      bill.NewTranslation(func(t time.Time) int32 { return int32(t.Unix() / 86400) }),
		resources: bill.NewNumbering(same), groups: [][]dailySum{make([]dailySum, perChunk)},
	}
	for i := range d.texts {
		d.texts[i] = bill.NewNumbering(same)
	}
	return d
}

func (d *dailySums) take(b *bill.Block) error {
	start := b.Times["ChargePeriodStart"]
	days := d.days.Of(start)
	d.resources.Use(b.Texts["ResourceId"])
	for i, name := range [...]string{"ProviderName", "SubAccountId", "ServiceName", "RegionId"} {
		d.texts[i].Use(b.Texts[name])
	}
	billed, effective := b.Amounts["BilledCost"], b.Amounts["EffectiveCost"]
	for row := range b.Rows {
		s := &d.at(d.find(row, days[start.Numbers[row]])).sums
		s.billed.Increase(&billed.Words[billed.Numbers[row]])
		s.effective.Increase(&effective.Words[effective.Numbers[row]])
	}
	return nil
}

// takeCharge returns a function that adds up charges.
func (d *dailySums) takeCharge() (take func(*bill.Charge) error, end func()) {
	k := bill.NewCollector(eight)
	end = func() { _ = d.take(k.Block()) }
	return func(c *bill.Charge) error {
		if k.Add(c); k.Len() == 4096 {
			end()
		}
		return nil
	}, end
}

// find returns the number of the row's group.
func (d *dailySums) find(row int, day int32) int32 {
	key := group{day}
	for i, t := range d.texts {
		key[i+1] = t.At(row)
	}
	resource := d.resources.At(row)
	for int(resource) >= len(d.first) {
		d.first = append(d.first, 0)
	}
	for n := d.first[resource]; n > 0; n = d.at(n).before {
		if d.at(n).key == key {
			return n
		}
	}
	return d.add(dailySum{key: key, before: d.first[resource]}, resource)
}

func (d *dailySums) add(s dailySum, resource int32) int32 {
	d.count++
	if int(d.count) == len(d.groups)*perChunk {
		d.groups = append(d.groups, make([]dailySum, perChunk))
	}
	*d.at(d.count), d.first[resource] = s, d.count
	return d.count
}

// total returns the sum of all groups. It must be the same for every way of adding up.
func (d *dailySums) total() (out sums) {
	for n := range d.count + 1 {
		out.billed.Increase(&d.at(n).sums.billed)
		out.effective.Increase(&d.at(n).sums.effective)
	}
	return out
}

// measure reports rows for each second of processor time, which other processes on the machine do not affect much, and
// the peak memory.
func measure(b *testing.B, rows int, run func() billfile.Totals) {
	b.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600)
	before := processorTime(b)
	var totals billfile.Totals
	for b.Loop() {
		totals = run()
	}
	if totals.Rows != int64(rows) {
		b.Fatalf("%d rows, want %d", totals.Rows, rows)
	}
	spent := (processorTime(b) - before) / time.Duration(b.N)
	b.ReportMetric(float64(rows)/spent.Seconds(), "rows/cpu-s")
	b.ReportMetric(peakMiB(), "peak-MiB")
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMiB returns the peak memory of the process since measure began, or 0 if the system does not report it.
func peakMiB() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseFloat(kib, 64)
	return n / 1024
}

// benchFiles are the files of the benchmarks. The files of a tenth show how memory grows with the size.
var benchFiles = []struct {
	name string
	rows int
	file func(*testing.B, int) string
}{
	{"csv.gz of a tenth", benchRows / 10, benchCSV},
	{"csv.gz", benchRows, benchCSV},
	{"Parquet of a tenth", benchRows / 10, benchParquet},
	{"Parquet", benchRows, benchParquet},
	{"Parquet of a peer", benchRows, benchPeer},
}

// benchPeer returns the sample as another program wrote it (docs/performance.md explains how), with all its columns
// and with amounts as doubles.
func benchPeer(b *testing.B, rows int) string {
	b.Helper()
	path := filepath.Join(benchFolder(), fmt.Sprintf("focus-%d-peer.parquet", rows))
	if _, err := os.Stat(path); err != nil {
		b.Skipf("NOT MEASURED: %v", err)
	}
	return path
}

// eight are the columns that daily sums use.
var eight = []string{
	"ChargePeriodStart", "ProviderName", "SubAccountId", "ServiceName", "RegionId", "ResourceId", "BilledCost",
	"EffectiveCost",
}

func BenchmarkRead(b *testing.B) {
	for _, f := range benchFiles {
		if testing.Short() && f.rows == benchRows {
			continue
		}
		for _, w := range benchWays {
			b.Run(f.name+"/"+w.name, func(b *testing.B) {
				path := f.file(b, f.rows)
				measure(b, f.rows, func() billfile.Totals { return w.read(b, path) })
			})
		}
	}
}

var benchWays = []struct {
	name string
	read func(b *testing.B, path string) billfile.Totals
}{
	{"all columns", func(b *testing.B, path string) billfile.Totals { return readFile(b, path, ignore) }},
	{"all columns into daily sums", sumCharges},
	{"8 columns", func(b *testing.B, path string) billfile.Totals {
		return readEight(b, path, func(*bill.Block) error { return nil })
	}},
	{"8 columns into daily sums", sumBlocks},
}

// benchTotals are the sums of a million rows, a thousand times those of the sample.
var benchTotals = sums{money.MustParse("20520.22672899"), money.MustParse("14976.51418586")}

func sumCharges(b *testing.B, path string) billfile.Totals {
	b.Helper()
	d := newDailySums()
	take, end := d.takeCharge()
	totals := readFile(b, path, take)
	end()
	return d.check(b, totals)
}

func sumBlocks(b *testing.B, path string) billfile.Totals {
	b.Helper()
	d := newDailySums()
	return d.check(b, readEight(b, path, d.take))
}

func (d *dailySums) check(b *testing.B, totals billfile.Totals) billfile.Totals {
	b.Helper()
	if totals.Rows == benchRows && d.total() != benchTotals {
		b.Fatalf("the sums are %v", d.total())
	}
	b.ReportMetric(float64(d.count), "groups")
	return totals
}
