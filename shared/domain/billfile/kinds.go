package billfile

import (
	"bufio"
	"bytes"

	"lamplighter.dev/shared/foundation/fault"
)

// kind is a kind of file that is no text: its first bytes, and what an error says about it.
type kind struct{ magic, says string }

const (
	isWorkbook  = "it is an Excel workbook; save its sheet as CSV UTF-8 and deliver that"
	isUTF16     = "the file is UTF-16; deliver it as UTF-8"
	deliverGzip = "; deliver it unpacked, or packed with gzip"
)

// otherKinds are kinds of files that people upload in place of bills.
var otherKinds = []kind{
	{"\xff\xfe", isUTF16},
	{"\xfe\xff", isUTF16},
	{"%PDF", "it is a PDF document, probably an invoice; deliver the cost export of the vendor as CSV, JSON lines or " +
		"Parquet"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", isWorkbook},
	{"PAR1", "it is a Parquet file within another packing; deliver the Parquet file itself, which is packed already"},
	{"\x1f\x8b", "it is packed twice; deliver it packed once"},
	{"PK\x03\x04", "it is a zip within another packing; deliver it packed once"},
	{"\x28\xb5\x2f\xfd", "it is packed with Zstandard" + deliverGzip},
	{"BZh91AY&SY", "it is packed with bzip2" + deliverGzip},
	{"\xfd7zXZ\x00", "it is packed with xz" + deliverGzip},
	{"7z\xbc\xaf\x27\x1c", "it is packed with 7-Zip" + deliverGzip},
	{"Rar!\x1a\x07", "it is packed with RAR" + deliverGzip},
	{"Obj\x01", "it is an Avro file; deliver it as Parquet, CSV or JSON lines"},
	{"\x89PNG", "it is an image; deliver the cost export of the vendor as CSV, JSON lines or Parquet"},
	{"\xff\xd8\xff", "it is an image; deliver the cost export of the vendor as CSV, JSON lines or Parquet"},
}

// checkKind returns an error if the beginning of a file is not that of a text.
func checkKind(head []byte) error {
	for _, k := range otherKinds {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return fault.New(fault.Invalid, "%s", k.says)
		}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return fault.New(fault.Invalid, "it is neither text in UTF-8 nor a Parquet file; deliver the cost export of "+
			"the vendor as CSV, JSON lines or Parquet")
	}
	return nil
}

// otherSeparators are the characters that separate the columns of some exports in place of commas.
var otherSeparators = map[byte]string{';': "semicolons", '\t': "tabs", '|': "vertical bars"}

// checkSeparator returns an error if the first line of a text has more of another separator than commas, outside of
// quotes, or only tells Excel its separator.
func checkSeparator(b *bufio.Reader) error {
	head, _ := b.Peek(b.Size())
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if bytes.HasPrefix(line, []byte("sep=")) {
		return fault.New(fault.Invalid, "its first line is %.40q, which only Excel reads; deliver it without that "+
			"line, with commas between its columns", bytes.TrimSpace(line))
	}
	line = withoutQuoted(line)
	commas := bytes.Count(line, []byte(","))
	for separator, name := range otherSeparators {
		if n := bytes.Count(line, []byte{separator}); n > 1 && n > commas {
			return fault.New(fault.Invalid, "its columns are separated by %s; deliver it with commas between its "+
				"columns", name)
		}
	}
	return nil
}

// withoutQuoted returns a line without the texts in quotes.
func withoutQuoted(line []byte) []byte {
	var out []byte
	for i, part := range bytes.Split(line, []byte(`"`)) {
		if i%2 == 0 {
			out = append(out, part...)
		}
	}
	return out
}
