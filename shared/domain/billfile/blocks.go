package billfile

import (
	"context"
	"errors"
	"io"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
)

// blockRows is the most rows of a block. The numbers of some columns fit into the cache of a processor.
const blockRows = 4096

// ReadBlocks reads the named FOCUS columns from a file in FOCUS form, and passes them to take in blocks, which take
// must not keep. Months are not added up. From Parquet it fetches only these columns, and converts each word of a
// dictionary once. With the column ExactAmounts, which is not passed to take, amounts are exact. It returns the same
// errors as Read.
func ReadBlocks(ctx context.Context, columns []string, name string, r cloud.BillReader,
	take func(*bill.Block) error,
) (Totals, error) {
	g := &reading{name: fault.CleanText(name, nameLength)}
	return g.watch(r, func(r cloud.BillReader) error { return g.readBlocks(ctx, columns, r, take) })
}

func (g *reading) readBlocks(
	ctx context.Context, columns []string, r cloud.BillReader, take func(*bill.Block) error,
) error {
	t, err := openTable(r)
	if errors.Is(err, io.EOF) {
		return nil // not even a header
	}
	if err != nil {
		return g.refuse(err)
	}
	from, err := newBlockSource(columns, t)
	if err != nil {
		return g.refuse(err)
	}
	for ctx.Err() == nil {
		if err := g.readBlock(from, take); err != nil {
			return cutEnd(err)
		}
	}
	return fault.Wrap("read bill "+g.name, ctx.Err())
}

// cutEnd returns nil for the end of a file.
func cutEnd(err error) error {
	if err == io.EOF { //nolint:errorlint // the bare error of readBlock
		return nil
	}
	return err
}

// readBlock passes on the next block. It returns io.EOF behind the last one.
func (g *reading) readBlock(from blockSource, take func(*bill.Block) error) error {
	b, err := from.nextBlock()
	if isEnd(err) {
		return io.EOF
	}
	if err != nil {
		g.totals.Rows++
		return g.refuseRow(err)
	}
	rows := int64(b.Rows) // take can remove rows
	if g.taken = take(b); g.taken != nil {
		g.totals.Rows++
		return g.refuseRow(g.taken)
	}
	g.totals.Rows += rows
	return nil
}

// blockSource is a file as blocks.
type blockSource interface {
	// nextBlock returns the next block, or io.EOF. Its errors do not name the row, which is the next one.
	nextBlock() (*bill.Block, error)
}

func newBlockSource(columns []string, t table) (blockSource, error) {
	s := &rowBlocks{rows: t}
	bound, err := s.selected(columns, t)
	if err != nil {
		return nil, err
	}
	if p, ok := t.(*parquetTable); ok {
		return newParquetBlocks(p, bound)
	}
	for _, b := range bound {
		b.cache.shares = true
	}
	s.collector = bill.NewCollector(columns)
	return s, t.bind(bound)
}

// rowBlocks makes blocks of the rows of a table.
type rowBlocks struct {
	focusLayout

	rows      table
	collector *bill.Collector
	err       error // of the row behind the last block
}

// selected returns the bindings of the requested columns.
func (s *rowBlocks) selected(columns []string, t table) ([]binding, error) {
	all := s.bindings(nil)
	bound := make([]binding, 0, len(columns))
	for _, name := range columns {
		i := slices.IndexFunc(all, func(b binding) bool { return b.names[0] == name })
		if i < 0 {
			return nil, fault.New(fault.Invalid, "%.64q is none of the columns of FOCUS that are read", name)
		}
		bound = append(bound, all[i])
	}
	names, open := t.columns()
	return bound, place(bound, names, open)
}

func (s *rowBlocks) nextBlock() (*bill.Block, error) {
	for s.err == nil && s.collector.Len() < blockRows {
		if s.err = s.nextRow(); s.err == nil {
			s.collector.Add(&s.out)
		}
	}
	if s.collector.Len() > 0 {
		return s.collector.Block(), nil
	}
	return nil, s.err
}

// nextRow reads a row without a check, because only some columns are read. Exact amounts, if they are read, replace
// the rounded ones.
func (s *rowBlocks) nextRow() error {
	if err := s.rows.next(); err != nil {
		return err
	}
	s.out = s.row
	if s.exact != "" {
		return s.setExact()
	}
	return nil
}
