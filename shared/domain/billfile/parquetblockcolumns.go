package billfile

import (
	"bytes"
	"math"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
)

// numbered is the column of a block that a reader fills. Its last word is that of rows without a value.
type numbered[T any] struct {
	bill.Column[T]
	edition int
	buffer  []int32
}

func (c *numbered[T]) blockColumn() any { return &c.Column }

// space returns a buffer for the numbers of n rows.
func (c *numbered[T]) space(n int) []int32 {
	if cap(c.buffer) < n {
		c.buffer = make([]int32, blockRows)
	}
	return c.buffer[:n]
}

// ahead reads the next page if all rows of the current one were read.
func (c *valueColumn[T]) ahead() (int, error) {
	for c.row == c.rows {
		if err := c.turnBlock(); err != nil {
			return 0, err
		}
	}
	return c.rows - c.row, nil
}

// turnBlock reads the next page, and makes its words those of the column.
func (c *valueColumn[T]) turnBlock() error {
	if err := c.turn(); err != nil {
		return err
	}
	c.full, c.base = c.page.NumNulls() == 0, 0
	var none T
	if c.indexes == nil {
		c.values = append(c.values, none)
		c.words, c.dictionary = c.words[:0], nil
		c.block.edition++
		return nil
	}
	if n := c.dictionary.Len(); len(c.words) == n {
		c.words = append(c.words, none)
		c.block.edition++
	}
	return c.checkIndexes()
}

// checkIndexes checks that each index is of a word of the dictionary.
func (c *valueColumn[T]) checkIndexes() error {
	most := uint32(0)
	for _, i := range c.indexes {
		most = max(most, uint32(i)) //nolint:gosec // a negative index becomes too large
	}
	if len(c.indexes) > 0 && int(most) >= c.dictionary.Len() {
		return fault.New(fault.Invalid, "word %d of a dictionary of %d", most, c.dictionary.Len())
	}
	return nil
}

func (c *valueColumn[T]) blockColumn() any { return c.block.blockColumn() }

func (c *valueColumn[T]) read(n int) error {
	from, out := c.row, &c.block
	c.row += n
	defined := n
	if !c.full {
		defined = bytes.Count(c.levels[from:c.row], []byte{c.defined})
	}
	if defined < n && c.required {
		return c.checkRequired()
	}
	if err := c.convertPending(defined); err != nil {
		return err
	}
	out.Edition, out.Words = out.edition, c.words
	if c.indexes == nil {
		out.Words = c.values
	}
	c.setNumbers(from, n, defined)
	c.value += defined
	if c.indexes == nil && c.value-c.base >= len(c.values) {
		return fault.New(fault.Invalid, "a page has fewer values than rows")
	}
	return nil
}

// convertPending converts the next n values of a page without a dictionary.
func (c *valueColumn[T]) convertPending(n int) (err error) {
	if c.indexes != nil || c.convertAll == nil {
		return nil
	}
	var none T
	c.values, err = c.convertAll(c.values[:0], c.pending, c.value, c.value+n)
	c.values = append(c.values, none)
	c.base = c.value
	c.block.edition++
	return err
}

// setNumbers sets the numbers of the next n rows, of which defined rows have a value. If all rows have a value, the
// numbers are the indexes of the page.
func (c *valueColumn[T]) setNumbers(from, n, defined int) {
	out := &c.block
	switch {
	case defined == n && c.indexes != nil:
		out.Numbers = c.indexes[c.value : c.value+n]
		return
	case c.indexes != nil:
		out.Numbers = out.space(n)
		copy(out.Numbers, c.indexes[c.value:c.value+defined])
	default:
		out.Numbers = out.space(n)
		for i := range defined {
			out.Numbers[i] = int32(c.value - c.base + i) //nolint:gosec // the guard limits the values of a page
		}
	}
	if defined < n {
		out.spread(c.levels[from:from+n], c.defined, defined)
	}
}

// spread moves the numbers of the defined rows to their rows, from the last one to the first.
func (c *numbered[T]) spread(levels []byte, level byte, defined int) {
	absent := int32(len(c.Words) - 1) //nolint:gosec // the guard limits the values of a page
	for i := len(levels) - 1; i >= 0; i-- {
		if levels[i] != level {
			c.Numbers[i] = absent
			continue
		}
		defined--
		c.Numbers[i] = c.Numbers[defined]
	}
}

// absentColumn is a column without values.
type absentColumn[T any] struct{ numbered[T] }

func newAbsentColumn[T any]() *absentColumn[T] {
	c := &absentColumn[T]{}
	c.Words = make([]T, 1)
	return c
}

func (*absentColumn[T]) open(rowGroup)       {}
func (*absentColumn[T]) next() error         { return nil }
func (*absentColumn[T]) close() error        { return nil }
func (*absentColumn[T]) ahead() (int, error) { return math.MaxInt, nil }

func (c *absentColumn[T]) read(n int) error {
	c.Numbers = c.space(n)
	return nil
}

// mostTagWords is the number of sets of tags from which a column of maps begins another edition.
const mostTagWords = 4 << 10

func (*mapColumn) ahead() (int, error) { return math.MaxInt, nil }

func (m *mapColumn) blockColumn() any { return m.block.blockColumn() }

func (m *mapColumn) read(n int) error {
	out := &m.block
	if len(out.Words) > mostTagWords || out.Words == nil {
		clear(m.numbers)
		out.Words = append(out.Words[:0], nil)
		out.Edition++
	}
	out.Numbers = out.space(n)
	for i := range out.Numbers {
		if err := m.next(); err != nil {
			return err
		}
		out.Numbers[i] = m.number(*m.target)
	}
	return nil
}

// number returns the number of a set of tags. The cache returns the same memory for most equal sets.
func (m *mapColumn) number(tags []bill.Tag) int32 {
	if len(tags) == 0 {
		return 0
	}
	if found, ok := m.numbers[&tags[0]]; ok {
		return found
	}
	number := int32(len(m.block.Words)) //nolint:gosec // mostTagWords and a block
	m.block.Words = append(m.block.Words, tags)
	m.numbers[&tags[0]] = number
	return number
}
