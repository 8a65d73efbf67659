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
	readFile(b, benchCSV(b, rows), nil, w.Add)
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

// readFile reads all columns, or only the given ones.
func readFile(b *testing.B, path string, columns []string, take func(*bill.Charge) error) billfile.Totals {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var totals billfile.Totals
	if columns == nil {
		totals, err = billfile.Read(context.Background(), cloud.FOCUSForm, path, onDisk{f}, take)
	} else {
		totals, err = billfile.ReadColumns(context.Background(), columns, path, onDisk{f}, take)
	}
	if err != nil {
		b.Fatal(err)
	}
	return totals
}

// group is the key of a resource's daily sums: the day, and the numbers of its provider, account, service and region.
type group struct {
	day  int32
	keys [4]uint32
}

type sums struct{ billed, effective money.Amount }

// dailySums adds charges up by day, provider, account, service, region and resource. It looks up only the resource in
// a large map, because a resource has few groups.
type dailySums struct {
	numbers   map[string]uint32 // of values with few distinct ones
	resources map[string]uint32
	groups    [][]uint32 // of a resource: their numbers in sums
	keys      []group
	sums      []sums

	last     [4]string
	group    group
	resource string
	number   uint32
}

func newDailySums() *dailySums {
	return &dailySums{numbers: map[string]uint32{}, resources: map[string]uint32{}}
}

func (d *dailySums) take(c *bill.Charge) error {
	for i, text := range [...]string{c.ProviderName, c.SubAccountID, c.ServiceName, c.RegionID} {
		if d.last[i] != text || d.group.keys[i] == 0 {
			d.last[i], d.group.keys[i] = text, numberOf(d.numbers, text)
		}
	}
	if d.resource != c.ResourceID || d.number == 0 {
		d.resource, d.number = c.ResourceID, numberOf(d.resources, c.ResourceID)
	}
	d.group.day = int32(c.ChargePeriodStart.Unix() / 86400)
	s := &d.sums[d.find()]
	s.billed.Increase(&c.BilledCost)
	s.effective.Increase(&c.EffectiveCost)
	return nil
}

// find returns the index of the group's sums.
func (d *dailySums) find() uint32 {
	if int(d.number) > len(d.groups) {
		d.groups = append(d.groups, nil)
	}
	of := &d.groups[d.number-1]
	for _, n := range *of {
		if d.keys[n] == d.group {
			return n
		}
	}
	n := uint32(len(d.sums))
	*of = append(*of, n)
	d.keys, d.sums = append(d.keys, d.group), append(d.sums, sums{})
	return n
}

func numberOf(numbers map[string]uint32, text string) uint32 {
	n, found := numbers[text]
	if !found {
		n = uint32(len(numbers) + 1)
		numbers[text] = n
	}
	return n
}

// total returns the sum of all groups. It must be the same for every way of adding up.
func (d *dailySums) total() (out sums) {
	for i := range d.sums {
		out.billed.Increase(&d.sums[i].billed)
		out.effective.Increase(&d.sums[i].effective)
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
	ways := []struct {
		name    string
		columns []string
	}{{"all columns", nil}, {"8 columns", eight}}
	for _, f := range benchFiles {
		if testing.Short() && f.rows == benchRows {
			continue
		}
		for _, w := range ways {
			b.Run(f.name+"/"+w.name, func(b *testing.B) {
				path := f.file(b, f.rows)
				measure(b, f.rows, func() billfile.Totals { return readFile(b, path, w.columns, ignore) })
			})
			b.Run(f.name+"/"+w.name+" into daily sums", func(b *testing.B) {
				path := f.file(b, f.rows)
				measure(b, f.rows, func() billfile.Totals { return sumFile(b, path, w.columns) })
			})
		}
	}
}

// benchTotals are the sums of a million rows, a thousand times those of the sample.
var benchTotals = sums{money.MustParse("20520.22672899"), money.MustParse("14976.51418586")}

func sumFile(b *testing.B, path string, columns []string) billfile.Totals {
	b.Helper()
	d := newDailySums()
	totals := readFile(b, path, columns, d.take)
	if totals.Rows == benchRows && d.total() != benchTotals {
		b.Fatalf("the sums are %v", d.total())
	}
	b.ReportMetric(float64(len(d.sums)), "groups")
	return totals
}
