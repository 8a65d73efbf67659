package billfile

import (
	"archive/zip"
	"bufio"
	"bytes"
	"io"
	"slices"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// readAhead is the number of bytes of one read.
const readAhead = 256 << 10

var (
	gzipMagic    = []byte{0x1f, 0x8b}
	zipMagic     = []byte("PK\x03\x04")
	parquetMagic = []byte("PAR1")
	utf8Mark     = []byte("\xef\xbb\xbf")
)

// openTable detects the content from the first bytes of a file. It returns io.EOF for an empty file. It reads only the
// beginning of text.
func openTable(r cloud.BillReader) (table, error) {
	packed := &countedReader{BillReader: r}
	b := bufio.NewReaderSize(packed, readAhead)
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
		return openZip(packed)
	case bytes.HasPrefix(magic, gzipMagic):
		return openGzip(b, packed)
	default:
		return openText(b)
	}
}

func openGzip(b *bufio.Reader, packed *countedReader) (table, error) {
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, err
	}
	return openText(&unpackedText{z, packed, 0})
}

// The limit of unpacked text: freeText bytes, and textPerByte more for each packed byte. Bills have 10 to 40 unpacked
// bytes for each packed byte.
const (
	freeText    = 256 << 20
	textPerByte = 200
	// maxZipDirectory is the size of the directory of a zip of one file, with room for comments.
	maxZipDirectory = 1 << 20
)

// countedReader counts the bytes that are read from a packed file.
type countedReader struct {
	cloud.BillReader
	n    int64
	most int64 // the limit of n; 0 means no limit
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.BillReader.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *countedReader) ReadAt(p []byte, off int64) (int, error) {
	if c.most > 0 && c.n > c.most {
		return 0, fault.New(fault.Invalid, "the directory of the zip has more than %d bytes; one file of a bill is "+
			"wanted in it", c.most)
	}
	n, err := c.BillReader.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

// unpackedText is a reader that fails when the text exceeds its limit.
type unpackedText struct {
	io.Reader
	packed *countedReader
	n      int64
}

func (u *unpackedText) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	u.n += int64(n)
	if most := freeText + textPerByte*u.packed.n; u.n > most {
		return n, fault.New(fault.Invalid, "it unpacks to more than %d bytes from %d: deliver the file unpacked, "+
			"or in parts", most, u.packed.n)
	}
	return n, err
}

// openZip opens the only file in a zip. AWS never puts more than one into it.
func openZip(r *countedReader) (table, error) {
	r.most = r.n + maxZipDirectory
	z, err := zip.NewReader(r, r.Size())
	r.most = 0
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == "[Content_Types].xml" }) {
		return nil, fault.New(fault.Invalid, isWorkbook)
	}
	if len(z.File) != 1 {
		return nil, fault.New(fault.Invalid, "a zip of %d files; one file of a bill is wanted in it", len(z.File))
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	f, err := z.File[0].Open()
	if err != nil {
		return nil, err
	}
	return openText(&unpackedText{f, r, 0})
}

// mostBlanks is the most white space that is skipped at the beginning of a text.
const mostBlanks = 1024

// firstCharacter returns the first character that is not white space, or 0.
func firstCharacter(b *bufio.Reader) byte {
	head, _ := b.Peek(mostBlanks)
	if trimmed := bytes.TrimSpace(head); len(trimmed) > 0 {
		return trimmed[0]
	}
	return 0
}

// openText distinguishes JSON from CSV by the first character that is not white space.
func openText(r io.Reader) (table, error) {
	b := bufio.NewReaderSize(r, 4096)
	if _, err := b.Peek(1); err != nil && !isEnd(err) {
		return nil, err
	}
	head, _ := b.Peek(b.Size()) // an error occurs again where the rows are read
	if err := checkKind(head); err != nil {
		return nil, err
	}
	if bytes.HasPrefix(head, utf8Mark) {
		_, _ = b.Discard(len(utf8Mark))
	}
	switch firstCharacter(b) {
	case '{':
		return newJSONTable(b)
	case '[':
		return nil, fault.New(fault.Invalid, "it is a JSON array; deliver one JSON object on each line, without the "+
			"brackets and commas around them (jq -c '.[]' does that)")
	case '<':
		return nil, fault.New(fault.Invalid, "it is an HTML or XML page, probably a login page or an error message in "+
			"place of the download; open it in a browser, and deliver the export itself")
	}
	if err := checkSeparator(b); err != nil {
		return nil, err
	}
	return newCSVTable(b)
}
