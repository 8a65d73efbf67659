// Package billfile reads and writes files of bills. Read converts a vendor's file of any form into charges (package
// bill): line by line, in bounded memory, with exact amounts. It reports the sums stated in the file separately from
// the charges, so that the money of a delivery can be checked. LineItemWriter stores each charge in a Parquet file
// beside the sums of package cost, and LineItemEngine answers the questions of package costquery from those files.
// ParquetWriter writes exports.
//
// The package links a library of Parquet, so API functions must not import it.
package billfile

import (
	"context"
	"errors"
	"io"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
)

// The limits of a file.
const (
	MaxRowBytes = 1 << 20 // a longer row is probably an unclosed quote, or not CSV at all
	MaxColumns  = 2000    // a CUR of many products has some 400
)

// nameLength is the most characters of a file's name in an error.
const nameLength = 200

// table is a file as rows of named columns.
type table interface {
	// columns returns the names of the columns as in the file. open reports whether a row can have further columns.
	columns() (names []string, open bool)
	// bind sets the destinations of columns. It is called once, before next.
	bind(bindings []binding) error
	// next sets the values of the next row, or returns io.EOF. Its errors name the column and the reason, not the row.
	next() error
}

// reading is one call of Read.
type reading struct {
	name   string
	take   func(*bill.Charge) error
	totals Totals
	taken  error // the error of take
}

// Read reads a file of a bill and passes each of its charges to take, which must not keep the pointer nor change the
// charge. The content is Parquet, or CSV or JSON objects, also gzipped or zipped. Read detects the type from the
// content and does not rely on the name. The form may be empty if the columns identify it. They do not distinguish
// actual from amortized cost of Azure; such a file counts as actual.
//
// A row that cannot be read ends the reading, because a bill without it would be wrong: Read returns fault.Invalid
// with the file, the row (from 1, without the header) and the reason. The same applies to a missing column, an invalid
// currency and a truncated file. Errors of take and of reading r keep their kind. A file without rows has no charges.
func Read(ctx context.Context, form cloud.BillForm, name string, r cloud.BillReader,
	take func(*bill.Charge) error,
) (Totals, error) {
	g := &reading{name: fault.CleanText(name, nameLength), take: take}
	return g.watch(r, func(r cloud.BillReader) error {
		return g.read(ctx, r, func(t table) (layout, error) { return newLayout(form, t) })
	})
}

// ReadRows is Read with a take that also gets the row of each charge, from 1. A row may have several charges, or none.
func ReadRows(ctx context.Context, form cloud.BillForm, name string, r cloud.BillReader,
	take func(row int64, c *bill.Charge) error,
) (Totals, error) {
	g := &reading{name: fault.CleanText(name, nameLength)}
	g.take = func(c *bill.Charge) error { return take(g.totals.Rows, c) }
	return g.watch(r, func(r cloud.BillReader) error {
		return g.read(ctx, r, func(t table) (layout, error) { return newLayout(form, t) })
	})
}

// Taker passes on charges that another process has read, and adds them up as Read does.
type Taker struct {
	g   reading
	err error
}

// NewTaker returns a Taker for the charges of the named file.
func NewTaker(name string, take func(*bill.Charge) error) *Taker {
	return &Taker{g: reading{name: fault.CleanText(name, nameLength), take: take}}
}

// Name returns the name of the file in the form that errors have.
func (t *Taker) Name() string { return t.g.name }

// SetRows sets the number of rows that were read.
func (t *Taker) SetRows(n int64) { t.g.totals.Rows = n }

// Take passes on a charge. It returns the same errors as Read.
func (t *Taker) Take(c *bill.Charge) error {
	if err := t.g.put(c); err != nil {
		t.err = t.g.refuseRow(err)
	}
	return t.err
}

// Err returns the error of Take.
func (t *Taker) Err() error { return t.err }

// Totals returns the sums of the charges passed to Take.
func (t *Taker) Totals() Totals { return t.g.totals }

// watch separates errors of the file's content from errors of reading the file.
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

// readRows checks ctx only once in a while, because a check costs more than a row.
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

// put counts a charge and passes it on.
func (g *reading) put(c *bill.Charge) error {
	if err := g.totals.add(c); err != nil {
		return err
	}
	g.taken = g.take(c)
	return g.taken
}

// refuseRow adds the number of the row to an error. An invalid row makes the file invalid for its reader too.
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

// watchedReader records errors of reading the file itself, which are not errors of its content.
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
