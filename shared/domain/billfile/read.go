// Package bill reads the files in which vendors deliver bills, whatever their form, into charges in FOCUS columns: line by line, in
// bounded memory, with exact amounts. What a file says is told apart from what is made of it: the money of a delivery can be checked.
package billfile

import (
	"context"
	"errors"
	"io"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
)

// The bounds of a file.
const (
	MaxRowBytes = 1 << 20 // a row of more is a file whose quotes do not close, or none at all
	MaxColumns  = 2000    // a CUR of many products has some 400
)

// nameLength is how much of a file's name is told in an error.
const nameLength = 200

// table is a file as rows of named columns.
type table interface {
	// columns names the columns as the file does. The second result tells whether a row can have others.
	columns() (names []string, open bool)
	// bind says where the values of columns go. It is called once, before next.
	bind(bindings []binding) error
	// next puts the values of the next row where they go, or returns io.EOF. Its errors name column and reason, not the row.
	next() error
}

// reading is one call of Read.
type reading struct {
	name   string
	take   func(*bill.Charge) error
	totals Totals
	taken  error // what take returned
}

// Read reads a file of a bill and hands each of its charges to take, which must not keep the pointer nor change what is behind it. The
// content is CSV, JSON objects or Parquet, also gzipped or zipped: it is looked at, as the name is not relied upon. The form may be empty
// when the columns tell it; what they cannot tell is actual from amortized cost of Azure, which are taken for actual.
//
// A row that cannot be read ends the reading, for a bill without it would be wrong: fault.Invalid, naming file, row (from 1, without the
// header) and reason. So do a column that is missing, a currency that is none, and a file that is cut off. Errors of take and of reading r
// keep their kind. A file without rows has no charges.
func Read(ctx context.Context, form cloud.BillForm, name string, r cloud.BillReader,
	take func(*bill.Charge) error) (Totals, error) {
	g := &reading{name: fault.CleanText(name, nameLength), take: take}
	return g.watch(r, func(r cloud.BillReader) error {
		return g.read(ctx, r, func(t table) (layout, error) { return newLayout(form, t) })
	})
}

// ReadRows is Read that tells take the row of each charge, from 1. A row may have several charges, or none.
func ReadRows( //nolint:revive // the parameters of Read
	ctx context.Context, form cloud.BillForm, name string, r cloud.BillReader,
	take func(row int64, c *bill.Charge) error,
) (Totals, error) {
	g := &reading{name: fault.CleanText(name, nameLength)}
	g.take = func(c *bill.Charge) error { return take(g.totals.Rows, c) }
	return g.watch(r, func(r cloud.BillReader) error {
		return g.read(ctx, r, func(t table) (layout, error) { return newLayout(form, t) })
	})
}

// Taker hands on charges that another process has read, and adds them up as Read does.
type Taker struct {
	g   reading
	err error
}

// NewTaker returns a Taker of the charges of the file of the name.
func NewTaker(name string, take func(*bill.Charge) error) *Taker {
	return &Taker{g: reading{name: fault.CleanText(name, nameLength), take: take}}
}

// Name returns the name of the file as errors have it.
func (t *Taker) Name() string { return t.g.name }

// SetRows sets the number of rows that were read.
func (t *Taker) SetRows(n int64) { t.g.totals.Rows = n }

// Take hands on a charge. Its error is that of Read.
func (t *Taker) Take(c *bill.Charge) error {
	if err := t.g.put(c); err != nil {
		t.err = t.g.refuseRow(err)
	}
	return t.err
}

// Err returns the error of Take.
func (t *Taker) Err() error { return t.err }

// Totals returns what was handed on.
func (t *Taker) Totals() Totals { return t.g.totals }

// ReadColumns reads a few columns of FOCUS, by their names, from a file in that form; what is not asked for is empty in the charges, and
// months are not added up. From Parquet, no other columns are even fetched. Its errors are those of Read.
func ReadColumns(ctx context.Context, columns []string, name string, r cloud.BillReader,
	take func(*bill.Charge) error) (Totals, error) {
	g := &reading{name: fault.CleanText(name, nameLength), take: take}
	return g.watch(r, func(r cloud.BillReader) error {
		return g.read(ctx, r, func(t table) (layout, error) { return newSelection(columns, t) })
	})
}

// watch tells what is wrong with the file from what is wrong with reading it.
func (g *reading) watch(r cloud.BillReader, read func(cloud.BillReader) error) (Totals, error) {
	source := &watchedReader{BillReader: r}
	err := read(source)
	if err == nil {
		return g.totals, nil
	}
	if source.err != nil {
		return g.totals, fault.Wrap("read bill "+g.name, source.err)
	}
	return g.totals, err
}

func (g *reading) read(ctx context.Context, r cloud.BillReader, choose func(table) (layout, error)) error {
	t, err := openTable(r)
	if errors.Is(err, io.EOF) {
		return nil // not even a header
	}
	if err != nil {
		return g.refuse(err)
	}
	l, err := choose(t)
	if err != nil {
		return g.refuse(err)
	}
	return g.readRows(ctx, t, l)
}

// readRows looks at ctx once in a while: asking each time would cost more than a row does.
func (g *reading) readRows(ctx context.Context, t table, l layout) error {
	for {
		if g.totals.Rows%1024 == 0 && ctx.Err() != nil {
			return fault.Wrap("read bill "+g.name, ctx.Err())
		}
		err := t.next()
		if isEnd(err) {
			return nil
		}
		g.totals.Rows++
		if err == nil {
			err = l.emit(g)
		}
		if err != nil {
			return g.refuseRow(err)
		}
	}
}

// put counts a charge and hands it on.
func (g *reading) put(c *bill.Charge) error {
	if err := g.totals.add(c); err != nil {
		return err
	}
	g.taken = g.take(c)
	return g.taken
}

// refuseRow says of which row an error is. A row of a file that is Invalid is Invalid for who takes it, too.
func (g *reading) refuseRow(err error) error {
	if g.taken != nil && !fault.Is(g.taken, fault.Invalid) {
		return fault.Wrap("read bill "+g.name, g.taken)
	}
	return fault.New(fault.Invalid, "%s, row %d: %s", g.name, g.totals.Rows, reason(err))
}

func (g *reading) refuse(err error) error {
	return fault.New(fault.Invalid, "%s: %s", g.name, reason(err))
}

func reason(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the file is cut off here; deliver it anew"
	}
	if fault.Is(err, fault.Invalid) {
		return fault.Message(err)
	}
	return fault.CleanText(err.Error(), 500)
}

// watchedReader keeps what reading the file itself failed with: that is no fault of the file.
type watchedReader struct {
	cloud.BillReader
	err error
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.BillReader.Read(p)
	w.note(err)
	return n, err
}

func (w *watchedReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.BillReader.ReadAt(p, off)
	w.note(err)
	return n, err
}

func (w *watchedReader) note(err error) {
	if err != nil && !errors.Is(err, io.EOF) && w.err == nil {
		w.err = err
	}
}
