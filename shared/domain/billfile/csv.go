package billfile

import (
	"bytes"
	"errors"
	"io"

	"lamplighter.dev/shared/foundation/fault"
)

// csvTable is a file of comma-separated values with a header.
type csvTable struct {
	scanner *scanner
	header  []string
	cells   []csvCell
	least   int // how many fields a row has at least
}

// csvCell is a column that is read. It keeps the value of the previous row, since most cells of a bill repeat the cell
// above and then need no conversion.
type csvCell struct {
	index  int
	target binding
	last   []byte
	seen   bool
}

func newCSVTable(r io.Reader) (table, error) {
	t := &csvTable{scanner: newScanner(r)}
	record, err := t.scanner.next()
	if err != nil {
		return nil, err
	}
	if len(record) > MaxColumns {
		return nil, fault.New(fault.Invalid, "a header of %d columns; at most %d are read", len(record), MaxColumns)
	}
	for _, name := range record {
		t.header = append(t.header, string(bytes.ToValidUTF8(name, nil)))
	}
	return t, nil
}

func (t *csvTable) columns() ([]string, bool) { return t.header, false }

func (t *csvTable) bind(bindings []binding) error {
	for _, b := range bindings {
		if b.column >= 0 {
			t.cells = append(t.cells, csvCell{index: b.column, target: b})
			t.least = max(t.least, b.column+1)
		}
	}
	return nil
}

func (t *csvTable) next() error {
	record, err := t.scanner.next()
	if err != nil {
		return err
	}
	if err := t.checkLength(len(record)); err != nil {
		return err
	}
	for i := range t.cells {
		c := &t.cells[i]
		field := record[c.index]
		if c.seen && bytes.Equal(field, c.last) {
			continue
		}
		if err := c.target.set(field); err != nil {
			return fault.New(fault.Invalid, "column %.100q: %s", t.header[c.index], fault.Message(err))
		}
		c.seen, c.last = true, append(c.last[:0], field...)
	}
	return nil
}

// checkLength accepts a complete line that lacks only unread fields at its end, as some tools leave out empty fields.
func (t *csvTable) checkLength(n int) error {
	if n == len(t.header) || n < len(t.header) && n >= t.least && !t.scanner.cut {
		return nil
	}
	return fault.New(fault.Invalid, "the row has %d fields, the header %d", n, len(t.header))
}

// isEnd distinguishes the end of a file from a truncated file, which errors.Is also reports as io.EOF for some
// readers.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}
