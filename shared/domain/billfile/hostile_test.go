package billfile_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/hostilebill"
	"lamplighter.dev/shared/testkit/race"
)

// mostAllocated is the most bytes that reading a hostile file may allocate.
const mostAllocated = 300 << 20

// refuseWithin reads a file that must be refused for the given reason, with at most mostAllocated bytes of
// allocations.
func refuseWithin(t *testing.T, file []byte, reason string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := readAll("focus", "f", file)
	runtime.ReadMemStats(&after)
	if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.Message(err), reason) {
		t.Errorf("got  %.500s\nwant an error with %q", err, reason)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > mostAllocated {
		t.Errorf("reading it allocated %d MB", used>>20)
	}
}

func TestRead_FilesThatEndedTheProcessAreRefused(t *testing.T) {
	for _, f := range hostilebill.Five() {
		t.Run(f.Name, func(t *testing.T) { refuseWithin(t, f.Content, f.Refused) })
	}
	if n := len(hostilebill.Five()[0].Content); n != 71 {
		t.Errorf("the first file has %d bytes", n)
	}
}

// TestRead_PagesThatClaimTooMuchAreRefused reads files that are valid except for one page, which claims more values or
// bytes than it has.
func TestRead_PagesThatClaimTooMuchAreRefused(t *testing.T) {
	data := hostilebill.DataPage
	uncompressed := func(values int32, body []byte) []byte {
		return hostilebill.Assemble(1000, format.Uncompressed, data(values, int32(len(body)), body))
	}
	encoded := func(e format.Encoding, values []byte) []byte {
		body := append([]byte{3, 0, 0, 0, 0xd0, 0x0f, 1}, values...) // 1000 existing values
		p := data(1000, int32(len(body)), body)
		p.Header.DataPageHeader.V.Encoding = e
		return hostilebill.Assemble(1000, format.Uncompressed, p)
	}
	dictionary := data(1000, 4, []byte{0, 0, 0, 0})
	dictionary.Header.Type, dictionary.Header.DataPageHeader = format.DictionaryPage,
		thrift.Null[format.DataPageHeader]{}
	dictionary.Header.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: math.MaxInt32})
	levels := hostilebill.Page{Header: format.PageHeader{
		Type: format.DataPageV2, CompressedPageSize: 4, UncompressedPageSize: 4,
		DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues: 1000, NumRows: 1000,
			DefinitionLevelsByteLength: math.MaxInt32,
		}),
	}, Body: []byte{1, 2, 3, 4}}
	huge := binary.AppendUvarint([]byte{0x80, 0x01, 0x04}, math.MaxInt32)
	for name, c := range map[string]struct {
		file   []byte
		reason string
	}{
		"a run of 2147483647 levels": {
			uncompressed(1000, hostilebill.Nulls(math.MaxInt32)),
			"a run claims 2147483647 values",
		},
		"more rows than a file can have": {hostilebill.Assemble(math.MaxInt32, 0,
			data(1, 3, hostilebill.Nulls(1))), "claims 2147483647 rows"},
		"levels beyond the page": {
			hostilebill.Assemble(1000, 0, levels),
			"bytes of levels in a page of 4 bytes",
		},
		"a gzip page larger than it says": {hostilebill.GzipBombThatLies(), "larger than the 100 bytes"},
		"a snappy page that claims 4 GB": {hostilebill.Assemble(1000, format.Snappy,
			data(1000, 100, []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0})), "larger than the 100 bytes"},
		"a zstd page larger than it says": {hostilebill.Assemble(1000, format.Zstd,
			data(1000, 100, zstandard(t, 64<<20))), "larger than the 100 bytes"},
		"an LZ4 page that is damaged": {hostilebill.Assemble(1000, format.Lz4Raw,
			data(1000, 100, []byte{0xff, 0xff, 0xff})), "cannot be unpacked"},
		"a brotli page that is damaged": {hostilebill.Assemble(1000, format.Brotli,
			data(1000, 100, []byte{0xff, 0xff, 0xff})), "cannot be unpacked"},
		"a codec that is none":             {hostilebill.Assemble(1000, 99, data(1000, 100, []byte{1})), "codec 99"},
		"a dictionary of 2147483647 texts": {hostilebill.Assemble(1000, 0, dictionary), "claims 2147483647 values"},
		"a list of 2147483647 differences": {
			encoded(format.DeltaBinaryPacked, append(huge, 0)),
			"claims 2147483647 values",
		},
		"2147483647 lengths of texts": {
			encoded(format.DeltaLengthByteArray, append(huge, 0)),
			"claims 2147483647 values",
		},
		"texts that repeat 1 MB 1000 times": {
			encoded(format.DeltaByteArray, repeatedPrefixes()),
			"more than 134217728 bytes",
		},
		"indexes without a dictionary": {
			encoded(format.RLEDictionary, []byte{1, 2, 0}),
			"does not have before it",
		},
		"a checksum that is wrong": {badChecksum(data), "checksum"},
		"an encoding that is none": {encoded(77, nil), "encoding is 77"},
		"differences of 200 bits": {encoded(format.DeltaLengthByteArray,
			[]byte{0x80, 0x01, 0x04, 0xe8, 0x07, 0, 0, 200, 200, 200, 200}), "200 bits"},
		"a page that is longer than the file": {longPage(data), "left of the column"},
	} {
		t.Run(name, func(t *testing.T) { refuseWithin(t, c.file, c.reason) })
	}
}

func badChecksum(data func(int32, int32, []byte) hostilebill.Page) []byte {
	p := data(1000, 7, append([]byte{3, 0, 0, 0}, 0xd0, 0x0f, 1))
	p.Header.CRC++
	return hostilebill.Assemble(1000, 0, p)
}

func longPage(data func(int32, int32, []byte) hostilebill.Page) []byte {
	p := data(1000, 100, []byte{1})
	p.Header.CompressedPageSize = 1 << 30
	return hostilebill.Assemble(1000, 0, p)
}

// repeatedPrefixes returns texts in DELTA_BYTE_ARRAY: the first has a megabyte, 999 more repeat it.
func repeatedPrefixes() []byte {
	list := func(first, delta int64, total uint64) []byte {
		b := binary.AppendUvarint([]byte{0x80, 0x01, 0x04}, total)
		b = binary.AppendVarint(b, first)
		for left := int(total) - 1; left > 0; left -= 128 {
			b = append(binary.AppendVarint(b, delta), 0, 0, 0, 0)
			delta = 0
		}
		return b
	}
	prefixes := list(1<<20, 0, 1000)
	return append(append(prefixes, list(1<<20, -(1<<20), 1000)...), make([]byte, 1<<20)...)
}

func zstandard(t *testing.T, n int) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(make([]byte, n), nil)
}

// TestRead_TextThatUnpacksToTooMuchIsRefused uses texts that are a thousand times as large as their files.
func TestRead_TextThatUnpacksToTooMuchIsRefused(t *testing.T) {
	race.SkipSequential(t)
	bomb := gzipped(t, []byte(strings.Join(hostilebill.Columns, ",")+"\n"))
	bomb = append(bomb, bytes.Repeat(gzipped(t, bytes.Repeat([]byte("\n"), 16<<20)), 24)...)
	refuseWithin(t, bomb, "unpacks to more than")
	t.Run("a zip of 50,000 files", func(t *testing.T) {
		refuseWithin(t, crowdedZip(t, 50_000), "directory of the zip")
	})
}

func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func crowdedZip(t *testing.T, files int) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for range files {
		if _, err := z.CreateHeader(&zip.FileHeader{Name: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
