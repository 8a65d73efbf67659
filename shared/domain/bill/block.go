package bill

import (
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// Block is some charges of a file by column. The keys of its maps are the names of FOCUS; a column that was not read
// is missing.
type Block struct {
	Rows    int
	Texts   map[string]*Column[string]
	Times   map[string]*Column[time.Time]
	Amounts map[string]*Column[money.Amount]
	Tags    *Column[[]Tag]

	// Month replaces the start of the billing period, and of the charge period, where a charge has none.
	Month time.Time
}

// Column holds the values of a column: row i of the block has Words[Numbers[i]]. A reader uses the same Column for all
// blocks of a file. A text can share its memory with other texts of the file: clone a text to keep it.
type Column[T any] struct {
	Words   []T
	Numbers []int32
	// Edition changes when a number gets another word. In the same edition words are only appended.
	Edition int
}

// At returns the value of a row.
func (c *Column[T]) At(row int) T { return c.Words[c.Numbers[row]] }

// Translation holds a function's results for the words of a column, so that it is called once for each word instead of
// once for each row.
type Translation[T, U any] struct {
	of      func(T) U
	column  *Column[T]
	edition int
	results []U
}

// NewTranslation returns a Translation of a function whose result depends on the word alone.
func NewTranslation[T, U any](of func(T) U) *Translation[T, U] { return &Translation[T, U]{of: of} }

// Of returns the results by number. They are valid until the next call.
func (t *Translation[T, U]) Of(c *Column[T]) []U {
	if t.column != c || t.edition != c.Edition {
		t.column, t.edition, t.results = c, c.Edition, t.results[:0]
	}
	for _, word := range c.Words[len(t.results):] {
		t.results = append(t.results, t.of(word))
	}
	return t.results
}

// Keep leaves only the given rows in the block, in their order.
func (b *Block) Keep(rows []int32) {
	b.Rows = len(rows)
	keepAll(b.Texts, rows)
	keepAll(b.Times, rows)
	keepAll(b.Amounts, rows)
	if b.Tags != nil {
		b.Tags.keep(rows)
	}
}

func keepAll[T any](columns map[string]*Column[T], rows []int32) {
	for _, c := range columns {
		c.keep(rows)
	}
}

// keep makes new Numbers, because those of a reader can be the content of a page.
func (c *Column[T]) keep(rows []int32) {
	kept := make([]int32, len(rows))
	for i, row := range rows {
		kept[i] = c.Numbers[row]
	}
	c.Numbers = kept
}
