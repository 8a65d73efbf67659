package simulated

import (
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// csvText is rows of comma-separated values, as text.
type csvText struct{ b []byte }

// texts appends cells that need no quotes.
func (t *csvText) texts(cells ...string) {
	for _, cell := range cells {
		t.b = append(append(t.b, cell...), ',')
	}
}

// quoteCell returns a text as a cell: in quotes if it needs them.
func quoteCell(text string) string {
	if strings.ContainsAny(text, "\",\r\n") || strings.HasPrefix(text, " ") {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}

// count appends a cell of a number and a text.
func (t *csvText) count(n int64, text string) {
	t.b = append(append(strconv.AppendInt(t.b, n, 10), text...), ',')
}

// amount appends an amount of billionths of a dollar.
func (t *csvText) amount(n int64) { t.b = append(appendDecimal(t.b, n, 9), ',') }

// quantity appends thousandths; none as nothing.
func (t *csvText) quantity(thousandth int64) {
	if thousandth != 0 {
		t.b = appendDecimal(t.b, thousandth, 3)
	}
	t.b = append(t.b, ',')
}

// endRow ends the row in place of the comma of its last cell.
func (t *csvText) endRow() { t.b[len(t.b)-1] = '\n' }

// appendDecimal appends n × 10^-places without zeros at its end: appendDecimal(nil, -1250, 3) is "-1.25".
func appendDecimal(b []byte, n int64, places int) []byte {
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	for places > 0 && n%10 == 0 {
		n, places = n/10, places-1
	}
	unit := int64(1)
	for range places {
		unit *= 10
	}
	if b = strconv.AppendInt(b, n/unit, 10); places == 0 {
		return b
	}
	at := len(b)
	b = strconv.AppendInt(b, unit+n%unit, 10) // a 1 and the places, with their zeros
	b[at] = '.'
	return b
}

// resourcesAtOnce is the number of resources whose rows are made at once: some 300 kB.
const resourcesAtOnce = 20

// billText is a file of a bill that is made while it is read. It is packed without compression: to compress it would
// take longer than all else.
type billText struct {
	b     *bill
	file  int
	rows  *rows
	next  int // resource of the file
	z     *gzip.Writer
	out   []byte
	ended bool
}

// openFile returns the text of a file of the bill.
func (b *bill) openFile(file int, fault string) (*billText, error) {
	t := &billText{b: b, file: file, rows: newRows(b, fault)}
	var err error
	if t.z, err = gzip.NewWriterLevel(t, gzip.NoCompression); err != nil {
		return nil, fmt.Errorf("pack a simulated bill: %w", err)
	}
	t.rows.writeHeader()
	return t, nil
}

// Write takes packed text.
func (t *billText) Write(p []byte) (int, error) {
	t.out = append(t.out, p...)
	return len(p), nil
}

// page returns the next packed part of the file, which holds until the next call, or io.EOF.
func (t *billText) page() ([]byte, error) {
	for t.out = t.out[:0]; len(t.out) == 0; {
		if t.ended {
			return nil, io.EOF
		}
		if err := t.writeOn(); err != nil {
			return nil, err
		}
	}
	return t.out, nil
}

// writeOn packs the rows of the next resources, or those of the account in the last file.
func (t *billText) writeOn() error {
	if last := t.b.fileCount() - 1; t.file == last {
		t.b.accountLines(t.rows.writeLine)
		t.ended = true
	} else {
		some := min(resourcesAtOnce, nodesInFile-t.next)
		t.b.eachNode(t.file*nodesInFile+t.next, some, func(n node) { t.b.nodeLines(n, t.rows.writeLine) })
		t.next += some
		t.ended = t.next == nodesInFile
	}
	_, err := t.z.Write(t.rows.csvText.b)
	if t.rows.csvText.b = t.rows.csvText.b[:0]; err == nil && t.ended {
		err = t.z.Close()
	}
	return err
}

// reader returns a reader of the file. Of a truncated one the second half is missing.
func (t *billText) reader(truncated bool) (cloud.BillReader, error) {
	r := cloud.NewPagedBill(t.page)
	if !truncated {
		return r, nil
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	half := [][]byte{content[:len(content)/2]}
	return cloud.NewPagedBill(func() ([]byte, error) {
		if len(half) == 0 {
			return nil, io.EOF
		}
		page := half[0]
		half = nil
		return page, nil
	}), nil
}
