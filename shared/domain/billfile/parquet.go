package billfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/parquetguard"
)

// parquetTable is a Parquet file, behind a guard that validates the input of the library. It is read column by column
// in pages, which is many times as fast as assembling rows: values of a dictionary are converted once for all their
// rows.
type parquetTable struct {
	guard   *parquetguard.File
	file    *parquet.File
	names   []string
	leaves  []leaf
	readers []columnReader
	group   int
	left    int64 // rows of the group
}

// leaf is a column of the file: one of values, or one that maps keys to values.
type leaf struct{ value, key *parquet.Column }

// columnReader sets the values of one column, one row at a time.
type columnReader interface {
	// open begins the column's part of a row group.
	open(g rowGroup)
	// next goes to the next row.
	next() error
	// close releases the resources of open.
	close() error
}

func newParquetTable(r io.ReaderAt, size int64) (t table, err error) {
	defer recoverCorrupt(&err)
	guard, err := parquetguard.Open(r, size)
	if err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(guard, guard.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("open the Parquet file: %w", err)
	}
	p := &parquetTable{guard: guard, file: f}
	p.addLeaves(f.Root(), nil)
	if len(p.names) > MaxColumns {
		return nil, fault.New(fault.Invalid, "a schema of %d columns; at most %d are read", len(p.names), MaxColumns)
	}
	return p, nil
}

// addLeaves collects the columns under a node. It leaves out repeated columns: they are maps, or cannot be read as one
// value per row.
func (p *parquetTable) addLeaves(node *parquet.Column, path []string) {
	for _, c := range node.Columns() {
		name := slices.Concat(path, []string{c.Name()})
		switch {
		case c.Repeated():
		case c.Leaf():
			p.add(name, leaf{value: c})
		default:
			p.addGroup(c, name)
		}
	}
}

func (p *parquetTable) addGroup(c *parquet.Column, name []string) {
	inner := c.Columns()
	if len(inner) != 1 || !inner[0].Repeated() {
		p.addLeaves(c, name)
		return
	}
	if pair := inner[0].Columns(); len(pair) == 2 && pair[0].Leaf() && pair[1].Leaf() {
		p.add(name, leaf{key: pair[0], value: pair[1]})
	}
}

func (p *parquetTable) add(name []string, l leaf) {
	p.names = append(p.names, strings.Join(name, "."))
	p.leaves = append(p.leaves, l)
}

func (p *parquetTable) columns() ([]string, bool) { return p.names, false }

func (p *parquetTable) bind(bindings []binding) error {
	for _, b := range bindings {
		if b.column < 0 {
			continue
		}
		r, err := newColumnReader(b, p.leaves[b.column])
		if err != nil {
			return fault.New(fault.Invalid, "column %.100q: %s", p.names[b.column], fault.Message(err))
		}
		p.readers = append(p.readers, namedReader{r, p.names[b.column]})
	}
	return nil
}

// namedReader adds the column's name to errors.
type namedReader struct {
	columnReader
	name string
}

func (n namedReader) refuse(err error) error {
	return fault.New(fault.Invalid, "column %.100q: %s", n.name, reason(err))
}

func (p *parquetTable) next() (err error) {
	defer recoverCorrupt(&err)
	for p.left == 0 {
		if err := p.openGroup(); err != nil {
			return err
		}
	}
	p.left--
	for i := range p.readers {
		if err := p.readers[i].next(); err != nil {
			return p.refuse(i, err)
		}
	}
	return nil
}

// refuse adds the position in the file to an error. If a column ends before its row group does, the file is damaged.
func (p *parquetTable) refuse(i int, err error) error {
	if isEnd(err) {
		err = io.ErrUnexpectedEOF
	}
	return fault.New(fault.Invalid, "row group %d: %s", p.group, fault.Message(p.readers[i].(namedReader).refuse(err)))
}

func (p *parquetTable) openGroup() error {
	groups := p.file.RowGroups()
	if p.group == len(groups) {
		return errors.Join(p.close(), io.EOF)
	}
	if err := p.close(); err != nil {
		return err
	}
	g := groups[p.group]
	p.group++
	p.left = g.NumRows()
	for _, r := range p.readers {
		r.open(rowGroup{p.guard, p.group - 1, g.ColumnChunks()})
	}
	return nil
}

// rowGroup is the row group that is being read.
type rowGroup struct {
	guard  *parquetguard.File
	index  int
	chunks []parquet.ColumnChunk
}

// pages returns the pages of a column. They are read through the guard.
func (g rowGroup) pages(column int) parquet.Pages {
	c := g.guard.Chunk(g.index, column)
	return guardedPages{g.chunks[column].(*parquet.FileColumnChunk).PagesFrom(c), c}
}

// guardedPages are the pages of a column behind the guard. The guard's errors are returned unchanged.
type guardedPages struct {
	parquet.Pages
	chunk *parquetguard.Chunk
}

func (p guardedPages) ReadPage() (parquet.Page, error) {
	page, err := p.Pages.ReadPage()
	if why := p.chunk.Err(); err != nil && why != nil {
		err = why
	}
	return page, err
}

func (p guardedPages) Close() error {
	defer p.chunk.Close()
	return p.Pages.Close()
}

func (p *parquetTable) close() error {
	var errs []error
	for _, r := range p.readers {
		errs = append(errs, r.close())
	}
	return errors.Join(errs...)
}

// recoverCorrupt turns a panic of the library into an error. The library panics on files that contradict their
// metadata.
func recoverCorrupt(err *error) {
	if p := recover(); p != nil {
		*err = fault.New(fault.Invalid, "the Parquet file is damaged: %.200s", fmt.Sprint(p))
	}
}
