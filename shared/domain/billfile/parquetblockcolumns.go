package billfile

import (
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
	c.full = c.page.NumNulls() == 0
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
	out := &c.block
	out.Edition, out.Words = out.edition, c.words
	if c.indexes == nil {
		out.Words = c.values
	}
	from := c.row
	c.row += n
	switch {
	case !c.full:
		return c.readSparse(c.levels[from:c.row])
	case c.indexes != nil:
		out.Numbers = c.indexes[c.value : c.value+n]
	default:
		out.Numbers = out.space(n)
		for i := range out.Numbers {
			out.Numbers[i] = int32(c.value + i) //nolint:gosec // the guard limits the values of a page
		}
	}
	c.value += n
	return c.checkValues()
}

// checkValues checks that the page had a value for each row that has one.
func (c *valueColumn[T]) checkValues() error {
	if c.indexes == nil && c.value >= len(c.values) {
		return fault.New(fault.Invalid, "a page has fewer values than rows")
	}
	return nil
}

// readSparse reads rows of which some have no value.
func (c *valueColumn[T]) readSparse(levels []byte) error {
	if c.required {
		return c.checkRequired()
	}
	numbers := c.block.space(len(levels))
	absent := int32(len(c.block.Words) - 1) //nolint:gosec // the guard limits the values of a page
	for i, level := range levels {
		switch {
		case level != c.defined:
			numbers[i] = absent
			continue
		case c.indexes != nil:
			numbers[i] = c.indexes[c.value]
		default:
			numbers[i] = int32(c.value) //nolint:gosec // as above
		}
		c.value++
	}
	c.block.Numbers = numbers
	return c.checkValues()
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
