package bill

import (
	"archive/zip"
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// readAhead is how much of a file is read at once.
const readAhead = 256 << 10

var (
	gzipMagic    = []byte{0x1f, 0x8b}
	zipMagic     = []byte("PK\x03\x04")
	parquetMagic = []byte("PAR1")
	utf8Mark     = []byte("\xef\xbb\xbf")
	utf16Marks   = [][]byte{{0xff, 0xfe}, {0xfe, 0xff}}
)

// openTable looks at what a file begins with. A file without a byte is io.EOF. Text is read from its beginning alone.
func openTable(r cloud.BillReader) (table, error) {
	b := bufio.NewReaderSize(r, readAhead)
	magic, err := b.Peek(4)
	if err != nil && !isEnd(err) {
		return nil, err
	}
	switch {
	case len(magic) == 0:
		return nil, io.EOF
	case bytes.Equal(magic, parquetMagic):
		return newParquetTable(r, r.Size())
	case bytes.Equal(magic, zipMagic):
		return openZip(r)
	case bytes.HasPrefix(magic, gzipMagic):
		return openGzip(b)
	default:
		return openText(b)
	}
}

func openGzip(b *bufio.Reader) (table, error) {
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, err
	}
	return openText(z)
}

// openZip reads the one file in a zip: AWS puts no more into one.
func openZip(r cloud.BillReader) (table, error) {
	z, err := zip.NewReader(r, r.Size())
	if err != nil {
		return nil, err
	}
	if len(z.File) != 1 {
		return nil, fault.New(fault.Invalid, "a zip of %d files; one file of a bill is wanted in it", len(z.File))
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	f, err := z.File[0].Open()
	if err != nil {
		return nil, err
	}
	return openText(f)
}

// openText tells JSON from CSV by the first character that is none of white space.
func openText(r io.Reader) (table, error) {
	b := bufio.NewReaderSize(r, 4096)
	head, err := b.Peek(4)
	if err != nil && !isEnd(err) {
		return nil, err
	}
	if bytes.HasPrefix(head, utf16Marks[0]) || bytes.HasPrefix(head, utf16Marks[1]) {
		return nil, fault.New(fault.Invalid, "the file is UTF-16; deliver it as UTF-8")
	}
	if bytes.HasPrefix(head, utf8Mark) {
		_, _ = b.Discard(len(utf8Mark))
		head, _ = b.Peek(1)
	}
	if trimmed := bytes.TrimSpace(head); len(trimmed) > 0 && trimmed[0] == '{' {
		return newJSONTable(b)
	}
	return newCSVTable(b)
}
