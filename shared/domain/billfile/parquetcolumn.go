package billfile

import (
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"lamplighter.dev/shared/foundation/fault"
)

// valueBatch is the number of values that are read from a page at once.
const valueBatch = 256

// valueColumn reads a column that has one value or none in each row.
type valueColumn[T any] struct {
	column   int
	defined  byte // the definition level of an existing value
	target   *T
	filled   *bool
	required bool
	convert  func(*parquet.Value) (T, error)
	// convertAll is convert of the values from … to at once; nil if there is none.
	convertAll func(into []T, values encoding.Values, from, to int) ([]T, error)

	pages      parquet.Pages
	page       parquet.Page
	dictionary parquet.Dictionary
	words      []T     // the dictionary, converted
	indexes    []int32 // of the page's values in the dictionary; nil when the page has the values themselves
	values     []T
	levels     []byte // of the page's rows; nil when each has a value
	rows, row  int
	value      int

	block   numbered[T]
	pending encoding.Values // of a page of values that convertAll converts block by block
	base    int             // the value that is the first one in values
	full    bool            // each row of the page has a value; set for blocks
}

func (c *valueColumn[T]) open(g rowGroup) {
	c.pages = g.pages(c.column)
	clear(c.words) // before the next dictionary is read
	c.dictionary, c.words, c.rows, c.row = nil, c.words[:0], 0, 0
}

func (c *valueColumn[T]) close() error {
	if c.pages == nil {
		return nil
	}
	c.release()
	err := c.pages.Close()
	c.pages = nil
	return err
}

func (c *valueColumn[T]) release() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page = nil
	}
}

func (c *valueColumn[T]) next() error {
	for c.row == c.rows {
		if err := c.turn(); err != nil {
			return err
		}
	}
	absent := c.levels != nil && c.levels[c.row] != c.defined
	c.row++
	if c.filled != nil {
		*c.filled = !absent
	}
	if absent {
		var none T
		*c.target = none
		return c.checkRequired()
	}
	if c.indexes != nil {
		*c.target = c.words[c.indexes[c.value]]
	} else {
		*c.target = c.values[c.value]
	}
	c.value++
	return nil
}

func (c *valueColumn[T]) checkRequired() error {
	if c.required {
		return fault.New(fault.Invalid, "it is empty, and must not be")
	}
	return nil
}

// turn reads the next page.
func (c *valueColumn[T]) turn() error {
	c.release()
	page, err := c.pages.ReadPage()
	if err != nil {
		return err
	}
	c.page = page
	c.levels, c.rows, c.row, c.value = page.DefinitionLevels(), int(page.NumRows()), 0, 0
	c.indexes, c.values = nil, c.values[:0]
	if d := page.Dictionary(); d != nil {
		data := page.Data()
		if c.indexes = data.Int32(); c.indexes == nil { // no row has a value
			c.indexes = []int32{}
		}
		return c.readDictionary(d)
	}
	if c.convertAll != nil {
		c.pending = page.Data()
		return nil
	}
	return c.readValues(page.Values())
}

func (c *valueColumn[T]) readDictionary(d parquet.Dictionary) error {
	if c.dictionary == d {
		return nil
	}
	c.dictionary, c.words = d, c.words[:0]
	if c.convertAll != nil {
		var err error
		c.words, err = c.convertAll(c.words, d.Page().Data(), 0, d.Len())
		return err
	}
	var v parquet.Value
	for i := range d.Len() {
		v = d.Index(int32(i))
		word, err := c.convert(&v)
		if err != nil {
			return err
		}
		c.words = append(c.words, word)
	}
	return nil
}

func (c *valueColumn[T]) readValues(from parquet.ValueReader) error {
	var batch [valueBatch]parquet.Value
	for {
		n, err := from.ReadValues(batch[:])
		for i := range batch[:n] {
			if batch[i].IsNull() {
				continue
			}
			v, err := c.convert(&batch[i])
			if err != nil {
				return err
			}
			c.values = append(c.values, v)
		}
		if isEnd(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrNoProgress
		}
	}
}
