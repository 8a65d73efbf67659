package parquetguard_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/parquetguard"
)

// longRow has columns of large pages and of a large dictionary.
type longRow struct {
	Plain string  `parquet:"plain"`
	Dict  *string `parquet:"dict,optional,dict"`
}

// writeLarge returns a file whose pages and dictionary are larger than pages that are unpacked at once.
func writeLarge(t testing.TB, options ...parquet.WriterOption) []byte {
	t.Helper()
	rows := make([]longRow, 5000)
	for i := range rows {
		text := strings.Repeat("x", 150) + strconv.Itoa(i)
		if rows[i].Plain = text; i%3 > 0 {
			rows[i].Dict = &text
		}
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[longRow](&b, append(options, parquet.PageBufferSize(1<<20))...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestChunk_ShowsTheSameValuesOfLargePages(t *testing.T) {
	want, err := values(writeLarge(t, parquet.Compression(&parquet.Uncompressed)), false)
	if err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string][]parquet.WriterOption{
		"snappy, pages of version 1": {parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1)},
		"snappy, pages of version 2": {parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(2)},
		"zstd":                       {parquet.Compression(&parquet.Zstd)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := values(writeLarge(t, options...), true)
			if err != nil || got != want {
				t.Errorf("%v; the guard shows %d bytes of values, the library %d", err, len(got), len(want))
			}
		})
	}
}

// readChunk reads a column of the first row group in steps of n bytes.
func readChunk(t *testing.T, file []byte, column, n int) ([]byte, error) {
	t.Helper()
	f, err := parquetguard.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	c := f.Chunk(0, column)
	defer c.Close()
	var out []byte
	step := make([]byte, n)
	for {
		got, err := c.ReadAt(step, int64(len("PAR1")+len(out)))
		out = append(out, step[:got]...)
		if err != nil || got == 0 {
			return out, err
		}
	}
}

func TestChunk_ShowsTheSameBytesInStepsOfAnySize(t *testing.T) {
	file := writeLarge(t, parquet.Compression(&parquet.Snappy))
	for column := range 2 {
		want, err := readChunk(t, file, column, 4<<20)
		if !errors.Is(err, io.EOF) || len(want) < 500_000 {
			t.Fatalf("%d bytes, %v", len(want), err)
		}
		for _, n := range []int{7, 4096, 256<<10 - 1, 800_000} {
			if got, err := readChunk(t, file, column, n); !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
				t.Errorf("column %d in steps of %d bytes: %d bytes of %d, %v", column, n, len(got), len(want), err)
			}
		}
	}
}

// changeFirstPage changes the header and the packed bytes of the first page of a file. The checksum stays right.
func changeFirstPage(t *testing.T, file []byte, change func(h *format.PageHeader, packed []byte)) []byte {
	t.Helper()
	var h format.PageHeader
	in := new(thrift.CompactProtocol).NewReader(bytes.NewReader(file[len("PAR1"):]))
	if err := thrift.NewDecoder(in).Decode(&h); err != nil {
		t.Fatal(err)
	}
	old, _ := thrift.Marshal(new(thrift.CompactProtocol), &h)
	start := len("PAR1") + len(old)
	out := bytes.Clone(file)
	packed := out[start : start+int(h.CompressedPageSize)]
	for try := range 100 {
		change(&h, packed)
		packed[len(packed)-1] ^= byte(try)
		h.CRC = int32(crc32.ChecksumIEEE(packed))
		if header, _ := thrift.Marshal(new(thrift.CompactProtocol), &h); len(header) == len(old) {
			copy(out[len("PAR1"):], header)
			return out
		}
	}
	t.Fatal("no header is as long as the first one")
	return nil
}

func TestChunk_RefusesDamagedLargePages(t *testing.T) {
	file := writeLarge(t, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1))
	for reason, change := range map[string]func(*format.PageHeader, []byte){
		"page 1: it cannot be unpacked": func(_ *format.PageHeader, packed []byte) {
			for i := 1000; i < 1100; i++ {
				packed[i] = 0xff
			}
		},
		"page 1: its values are indexes": func(h *format.PageHeader, _ []byte) {
			h.DataPageHeader.V.Encoding = format.RLEDictionary
		},
	} {
		damaged := changeFirstPage(t, file, change)
		for _, n := range []int{100, 4 << 20} {
			shown, err := readChunk(t, damaged, 0, n)
			if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(fault.Message(err), reason) || len(shown) > 100 {
				t.Errorf("in steps of %d bytes: %d bytes, then %v; want %q", n, len(shown), err, reason)
			}
		}
	}
}

func TestChunk_UnpacksLargePagesWithoutABufferOfItsOwn(t *testing.T) {
	file := writeLarge(t, parquet.Compression(&parquet.Snappy))
	f, err := parquetguard.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	c, step, at := f.Chunk(0, 0), make([]byte, 4<<20), int64(len("PAR1"))
	defer c.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for err == nil {
		var n int
		n, err = c.ReadAt(step, at)
		at += int64(n)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, io.EOF) || taken > uint64(at)/2 {
		t.Errorf("%d bytes were allocated to show %d bytes, %v", taken, at, err)
	}
}
