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
	pdfMagic     = []byte("%PDF")
	utf8Mark     = []byte("\xef\xbb\xbf")
	utf16Marks   = [][]byte{{0xff, 0xfe}, {0xfe, 0xff}}
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
	case bytes.Equal(magic, pdfMagic):
		return nil, fault.New(fault.Invalid, "it is a PDF document, probably an invoice; deliver the cost export of "+
			"the vendor as CSV, JSON lines or Parquet")
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
		return nil, fault.New(fault.Invalid, "it is an Excel workbook; save its sheet as CSV UTF-8 and deliver that")
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

// otherSeparators are the characters that separate the columns of some exports in place of commas.
var otherSeparators = map[byte]string{';': "semicolons", '\t': "tabs", '|': "vertical bars"}

// checkSeparator returns an error if the first line of a text has no comma and several other separators.
func checkSeparator(b *bufio.Reader) error {
	head, _ := b.Peek(b.Size())
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if bytes.IndexByte(line, ',') >= 0 {
		return nil
	}
	for separator, name := range otherSeparators {
		if bytes.Count(line, []byte{separator}) > 1 {
			return fault.New(fault.Invalid, "its columns are separated by %s; deliver it with commas between its "+
				"columns", name)
		}
	}
	return nil
}

// openText distinguishes JSON from CSV by the first character that is not white space.
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
