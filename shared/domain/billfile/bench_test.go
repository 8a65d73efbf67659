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
	{"all columns", scanCharges},
	{"all columns into daily sums", sumCharges},
	{"8 columns", scanBlocks},
	{"8 columns into daily sums", sumBlocks},
}

func scanCharges(b *testing.B, path string) billfile.Totals {
	b.Helper()
	return readFile(b, path, ignore)
}

func scanBlocks(b *testing.B, path string) billfile.Totals {
	b.Helper()
	return readEight(b, path, func(*bill.Block) error { return nil })
}

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
