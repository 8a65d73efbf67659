// Package hostilebill makes Parquet files that end a process which believes them: small files that claim large things.
// Tests alone import it.
package hostilebill

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// File is a hostile file, with a part of the error that refuses it.
type File struct {
	Name    string
	Content []byte
	Refused string
}

// Five returns the files that ended the whole service when they were uploaded, before footers and pages were checked.
func Five() []File {
	return []File{
		{"a schema of 2147483647 elements in 71 bytes", schemaOf71Bytes(), "claims 2147483647 elements"},
		{"16 MB of nested structs", Wrap(bytes.Repeat([]byte{0x1c}, 16<<20)), "nested more than 16 levels"},
		{"a page that claims 2147483647 values in 914 bytes", claimingPage(), "claims 2147483647 values"},
		{"a footer length of 0xfffffff0", longFooter(), "the footer length is 4294967280 bytes"},
		{"a page of 1 GB in a file of 1 MB", gzipBomb(), "when unpacked"},
	}
}

// Wrap returns a file that consists of a footer alone.
func Wrap(footer []byte) []byte { return appendFooter([]byte("PAR1"), footer) }

func appendFooter(file, footer []byte) []byte {
	file = append(file, footer...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(footer))) //nolint:gosec // it is small
	return append(file, "PAR1"...)
}

func schemaOf71Bytes() []byte {
	footer := []byte{0x15, 0x02, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}
	return Wrap(append(footer, bytes.Repeat([]byte{0x00}, 71-12-len(footer))...))
}

func longFooter() []byte {
	file := Wrap([]byte{0})
	binary.LittleEndian.PutUint32(file[len(file)-8:], 0xfffffff0)
	return file
}

// Page is the only page of each column of a file.
type Page struct {
	Header format.PageHeader
	Body   []byte
}

// Columns are the columns that a bill in FOCUS must have.
var Columns = []string{
	"BilledCost", "EffectiveCost", "ListCost", "BillingCurrency", "BillingPeriodStart", "ChargePeriodStart",
	"ChargeCategory",
}

// Assemble returns a file of one row group, whose columns are all the same optional texts.
func Assemble(rows int64, codec format.CompressionCodec, p Page) []byte {
	header, err := thrift.Marshal(new(thrift.CompactProtocol), &p.Header)
	if err != nil {
		panic(err)
	}
	file := append(append([]byte("PAR1"), header...), p.Body...)
	meta := format.FileMetaData{Version: 1, NumRows: rows, Schema: []format.SchemaElement{
		{Name: "m", NumChildren: thrift.New(int32(len(Columns)))}, //nolint:gosec // seven
	}}
	g := format.RowGroup{NumRows: rows}
	for _, name := range Columns {
		meta.Schema = append(meta.Schema, format.SchemaElement{
			Name: name, Type: thrift.New(format.ByteArray), RepetitionType: thrift.New(format.Optional),
		})
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
			Type: format.ByteArray, Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{name},
			Codec:     codec,
			NumValues: rows, DataPageOffset: 4, TotalCompressedSize: int64(len(file) - 4),
		}})
	}
	meta.RowGroups = []format.RowGroup{g}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		panic(err)
	}
	return appendFooter(file, footer)
}

// DataPage returns a page with the given body of levels and values. Its header claims the numbers of values and bytes.
func DataPage(values, unpacked int32, body []byte) Page {
	return Page{format.PageHeader{
		Type: format.DataPage, CompressedPageSize: int32(len(body)), UncompressedPageSize: unpacked, //nolint:gosec // tests are small
		CRC: int32(crc32.ChecksumIEEE(body)), //nolint:gosec // 32 bits
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: values, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
		}),
	}, body}
}

// Nulls returns the levels of so many values that are all absent, in one run.
func Nulls(values uint64) []byte {
	run := append(binary.AppendUvarint(nil, values<<1), 0)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...) //nolint:gosec // it is small
}

func claimingPage() []byte {
	body := Nulls(math.MaxInt32)
	body = append(body, bytes.Repeat([]byte{0}, 300)...)
	return Assemble(1000, format.Uncompressed, DataPage(math.MaxInt32, int32(len(body)), body)) //nolint:gosec // it is small
}

// gzipBomb returns a file with a page of 64 times 16 MB of zeros, whose header tells its size.
func gzipBomb() []byte {
	const part, parts = 16 << 20, 64
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(make([]byte, part))
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err)
	}
	return Assemble(1000, format.Gzip, DataPage(1000, part*parts, bytes.Repeat(packed.Bytes(), parts)))
}

// GzipBombThatLies returns a page of 16 MB whose header claims 100 bytes.
func GzipBombThatLies() []byte {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(make([]byte, 16<<20))
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err)
	}
	return Assemble(1000, format.Gzip, DataPage(1000, 100, packed.Bytes()))
}
