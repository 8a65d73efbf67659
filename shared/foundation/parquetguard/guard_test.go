package parquetguard_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/parquetguard"
	"lamplighter.dev/shared/testkit/hostilebill"
)

// row has columns of all kinds that bills have.
type row struct {
	Text     string            `parquet:"text,dict"`
	Long     string            `parquet:"long,delta"`
	Amount   int64             `parquet:"amount,decimal(4:18)"`
	Small    int32             `parquet:"small,delta"`
	Ratio    *float64          `parquet:"ratio,optional"`
	At       int64             `parquet:"at,timestamp(millisecond)"`
	Tags     map[string]string `parquet:"tags,optional"`
	Present  bool              `parquet:"present"`
	Fixed    [16]byte          `parquet:"fixed"`
	Repeated []string          `parquet:"repeated"`
}

func rows(n int) []row {
	out := make([]row, n)
	for i := range out {
		v := float64(i) / 7
		out[i] = row{
			Text: strconv.Itoa(i % 5), Long: fmt.Sprintf("resource-%08d", i), Amount: int64(i) * 1_000_003,
			Small: int32(i), At: int64(i),
			Present: i%3 == 0, Fixed: [16]byte{byte(i)},
		}
		if i%2 == 0 {
			out[i].Ratio, out[i].Tags, out[i].Repeated = &v, map[string]string{"team": strconv.Itoa(i % 4)},
				[]string{"a", "b"}
		}
	}
	return out
}

func write(t testing.TB, n int, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, append(options, parquet.PageBufferSize(2000))...)
	if _, err := w.Write(rows(n / 2)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(rows(n)[n/2:]); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// values returns all values of a file as the library reads them, through the guard or without it.
func values(file []byte, guarded bool) (out string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the library panicked: %v", p)
		}
	}()
	var r io.ReaderAt = bytes.NewReader(file)
	size := int64(len(file))
	var guard *parquetguard.File
	if guarded {
		if guard, err = parquetguard.Open(r, size); err != nil {
			return "", err
		}
		r, size = guard, guard.Size()
	}
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return "", err
	}
	for i, g := range f.RowGroups() {
		for k, c := range g.ColumnChunks() {
			pages := c.Pages()
			if guarded {
				pages = c.(*parquet.FileColumnChunk).PagesFrom(guard.Chunk(i, k))
			}
			text, err := valuesOf(pages)
			out += fmt.Sprintf("%d/%d %s\n", i, k, text)
			if err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// mostValues is how many values of a page are written: a hostile one may have millions that are null.
const mostValues = 10_000

func valuesOf(pages parquet.Pages) (string, error) {
	defer func() { _ = pages.Close() }()
	var out strings.Builder
	batch := make([]parquet.Value, 256)
	for {
		p, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return out.String(), nil
		}
		if err != nil {
			return out.String(), err
		}
		values := p.Values()
		for written := 0; written < mostValues; {
			n, err := values.ReadValues(batch)
			for _, v := range batch[:n] {
				fmt.Fprintf(&out, "%+v ", v)
			}
			if written += n; errors.Is(err, io.EOF) || n == 0 {
				break
			}
			if err != nil {
				return out.String(), err
			}
		}
		parquet.Release(p)
	}
}

// TestOpen_ShowsTheSameValues compares with the library's reading of a file that is not compressed. Its reading of
// LZ4_RAW lacks values.
func TestOpen_ShowsTheSameValues(t *testing.T) {
	want, err := values(write(t, 600, parquet.Compression(&parquet.Uncompressed)), false)
	if err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string][]parquet.WriterOption{
		"not compressed":      {parquet.Compression(&parquet.Uncompressed)},
		"snappy":              {parquet.Compression(&parquet.Snappy)},
		"gzip":                {parquet.Compression(&parquet.Gzip)},
		"zstd":                {parquet.Compression(&parquet.Zstd)},
		"brotli":              {parquet.Compression(&parquet.Brotli)},
		"LZ4":                 {parquet.Compression(&parquet.Lz4Raw)},
		"pages of version 1":  {parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1)},
		"pages of version 2":  {parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(2)},
		"statistics of pages": {parquet.DataPageStatistics(true)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := values(write(t, 600, options...), true)
			if err != nil || got != want {
				t.Errorf("%v; the guard shows %d bytes of values, the library %d", err, len(got), len(want))
			}
		})
	}
}

func TestOpen_RefusesFooters(t *testing.T) {
	file := write(t, 10)
	footer := func(b ...byte) []byte { return hostilebill.Wrap(b) }
	for name, c := range map[string]struct {
		file   []byte
		reason string
	}{
		"nothing":                   {nil, "the file has 0 bytes"},
		"no magic":                  {bytes.Repeat([]byte("x"), 100), "it begins with"},
		"an encrypted footer":       {append(file[:len(file)-4:len(file)-4], "PARE"...), "encrypted"},
		"an empty footer":           {footer(), "ends within a value"},
		"a footer without a schema": {footer(0), "the schema has no root"},
		"bytes behind the footer":   {footer(0, 0), "1 bytes behind its end"},
		"a type that Parquet lacks": {footer(0x1d, 0), "does not use"},
		"a number of 80 bits": {
			footer(0x15, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1),
			"more than 64 bits",
		},
		"a text beyond the footer": {footer(0x68, 0xff, 0xff, 0xff, 0xff, 0x07), "ends within a value"},
		"20,000 schema elements": {
			footer(append([]byte{0x29, 0xfc, 0xa0, 0x9c, 0x01}, make([]byte, 20_001)...)...),
			"at most 10000 are read",
		},
		"40,000 row groups": {
			footer(append([]byte{0x49, 0xfc, 0xc0, 0xb8, 0x02}, make([]byte, 40_001)...)...),
			"at most 32767 are read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parquetguard.Open(bytes.NewReader(c.file), int64(len(c.file)))
			if !fault.Is(err, fault.Invalid) || !bytes.Contains([]byte(fault.Message(err)), []byte(c.reason)) {
				t.Errorf("got %v; want %q", err, c.reason)
			}
		})
	}
}

func TestOpen_KeepsErrorsOfTheReader(t *testing.T) {
	_, err := parquetguard.Open(failing{}, 1000)
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
	cut := write(t, 100)
	if _, err := parquetguard.Open(bytes.NewReader(cut[:50]), int64(len(cut))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file shorter than its size: %v", err)
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

// FuzzFooter gives the guard any footer, and the library every accepted file: neither may panic beyond recovery,
// or allocate more than a file of this size is worth.
func FuzzFooter(f *testing.F) {
	for _, file := range [][]byte{
		write(f, 10),
		write(f, 10, parquet.DataPageVersion(1), parquet.DataPageStatistics(true)),
	} {
		n := int(file[len(file)-8]) | int(file[len(file)-7])<<8
		f.Add(file[len(file)-8-n:len(file)-8], file[4:len(file)-8-n])
	}
	for _, h := range hostilebill.Five() {
		if n := len(h.Content); n < 1000 {
			f.Add(h.Content[4:n-8], []byte{})
		}
	}
	f.Fuzz(func(t *testing.T, footer, pages []byte) {
		if len(footer) > 1<<16 || len(pages) > 1<<16 {
			return
		}
		file := hostilebill.Wrap(footer)
		file = append(append([]byte("PAR1"), pages...), file[4:]...)
		_, _ = values(file, true)
	})
}

// FuzzFile changes a byte here and there in files that are sound.
func FuzzFile(f *testing.F) {
	files := [][]byte{
		write(f, 40, parquet.Compression(&parquet.Uncompressed)), write(f, 40, parquet.Compression(&parquet.Snappy)),
		write(f, 40, parquet.Compression(&parquet.Uncompressed), parquet.DataPageVersion(1)),
		writeLarge(f, parquet.Compression(&parquet.Snappy)),
	}
	f.Add(uint8(3), uint32(500), uint8(255), uint32(20), uint8(1))
	f.Add(uint8(0), uint32(100), uint8(255), uint32(2000), uint8(1))
	f.Add(uint8(2), uint32(math.MaxUint32), uint8(7), uint32(50), uint8(128))
	f.Fuzz(func(t *testing.T, which uint8, at1 uint32, x1 uint8, at2 uint32, x2 uint8) {
		file := bytes.Clone(files[int(which)%len(files)])
		file[int(at1)%len(file)] ^= x1
		file[int(at2)%len(file)] ^= x2
		_, _ = values(file, true)
	})
}
