package billfile

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// parquetBlocks reads a Parquet file in blocks: as many rows as all columns have on their current pages.
type parquetBlocks struct {
	*parquetTable

	runs    []blockReader
	block   bill.Block
	exact   *bill.Column[string] // of ExactAmounts; nil if it is not read
	patches map[string]*bill.Column[money.Amount]
	patched int
}

// blockReader reads a column in runs of rows.
type blockReader interface {
	columnReader
	// ahead returns how many rows can be read at once, at least one.
	ahead() (int, error)
	// read sets the column of the block to the next n rows.
	read(n int) error
	// blockColumn returns the bill.Column.
	blockColumn() any
}

func newParquetBlocks(p *parquetTable, bound []binding) (*parquetBlocks, error) {
	out := &parquetBlocks{parquetTable: p, patches: map[string]*bill.Column[money.Amount]{}, block: bill.Block{
		Texts: map[string]*bill.Column[string]{}, Times: map[string]*bill.Column[time.Time]{},
		Amounts: map[string]*bill.Column[money.Amount]{},
	}}
	for _, b := range bound {
		r, err := p.newBlockReader(b)
		if err != nil {
			return nil, err
		}
		p.readers = append(p.readers, namedReader{r, b.names[0]})
		out.runs = append(out.runs, r)
		out.addColumn(b.names[0], r.blockColumn())
	}
	return out, nil
}

func (p *parquetTable) newBlockReader(b binding) (blockReader, error) {
	if b.column < 0 {
		return absentReader(b), nil
	}
	r, err := newColumnReader(b, p.leaves[b.column])
	if err != nil {
		return nil, fault.New(fault.Invalid, "column %.100q: %s", p.names[b.column], fault.Message(err))
	}
	if texts, ok := r.(*valueColumn[string]); ok && p.leaves[b.column].value.Type().Kind() == parquet.ByteArray {
		texts.convertAll = shareTexts
	}
	return r.(blockReader), nil
}

// shareTexts converts the texts from … to of a page. They share memory.
func shareTexts(into []string, values encoding.Values, from, to int) ([]string, error) {
	raw, offsets := values.ByteArray()
	offsets = offsets[from : to+1]
	first := offsets[0]
	all := string(raw[first:offsets[len(offsets)-1]])
	plain := isASCII(all)
	for i := 1; i < len(offsets); i++ {
		text := all[offsets[i-1]-first : offsets[i]-first]
		if len(text) > MaxRowBytes {
			return nil, longTextError(len(text))
		}
		if !plain || len(text) == len("NULL") {
			text = plainText([]byte(text))
		}
		into = append(into, text)
	}
	return into, nil
}

// isASCII reports whether all bytes are characters of their own, so that any part of s is valid.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// absentReader returns the reader of a column that the file does not have.
func absentReader(b binding) blockReader {
	switch {
	case b.text != nil:
		return newAbsentColumn[string]()
	case b.amount != nil:
		return newAbsentColumn[money.Amount]()
	case b.at != nil:
		return newAbsentColumn[time.Time]()
	default:
		return newAbsentColumn[[]bill.Tag]()
	}
}

func (p *parquetBlocks) addColumn(name string, column any) {
	switch c := column.(type) {
	case *bill.Column[string]:
		if name == ExactAmounts {
			p.exact = c
			return
		}
		p.block.Texts[name] = c
	case *bill.Column[time.Time]:
		p.block.Times[name] = c
	case *bill.Column[money.Amount]:
		p.block.Amounts[name] = c
	case *bill.Column[[]bill.Tag]:
		p.block.Tags = c
	}
}

func (p *parquetBlocks) nextBlock() (b *bill.Block, err error) {
	defer recoverCorrupt(&err)
	for p.left == 0 {
		if err := p.openGroup(); err != nil {
			return nil, err
		}
	}
	n, err := p.ahead()
	if err != nil {
		return nil, err
	}
	for i, c := range p.runs {
		if err := c.read(n); err != nil {
			return nil, p.refuse(i, err)
		}
	}
	p.left -= int64(n)
	p.block.Rows = n
	return &p.block, p.setExact()
}

// ahead returns the number of rows of the next block.
func (p *parquetBlocks) ahead() (int, error) {
	n := int(min(p.left, blockRows))
	for i, c := range p.runs {
		can, err := c.ahead()
		if err != nil {
			return 0, p.refuse(i, err)
		}
		n = min(n, can)
	}
	return n, nil
}

// setExact replaces rounded amounts by the exact ones of ExactAmounts.
func (p *parquetBlocks) setExact() error {
	if p.exact == nil || !slices.ContainsFunc(p.exact.Words, func(s string) bool { return s != "" }) {
		return nil
	}
	fresh := false
	for row := range p.block.Rows {
		text := p.exact.At(row)
		if text == "" {
			continue
		}
		if !fresh {
			p.patch()
			fresh = true
		}
		if err := p.setExactRow(row, text); err != nil {
			return err
		}
	}
	return nil
}

// patch gives the columns of amounts words of their own, one for each row.
func (p *parquetBlocks) patch() {
	p.patched--
	for name, c := range p.block.Amounts {
		own := p.patches[name]
		if own == nil {
			own = &bill.Column[money.Amount]{}
			p.patches[name] = own
		}
		own.Words, own.Numbers = own.Words[:0], own.Numbers[:0]
		for row := range p.block.Rows {
			own.Words = append(own.Words, c.At(row))
			own.Numbers = append(own.Numbers, int32(row)) //nolint:gosec // of a block
		}
		c.Words, c.Numbers, c.Edition = own.Words, own.Numbers, p.patched
	}
}

// amountColumns are the columns of amounts in the order of ExactAmounts.
var amountColumns = [...]string{"BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "PricingQuantity"}

func (p *parquetBlocks) setExactRow(row int, text string) error {
	texts := strings.Fields(text)
	if len(texts) != len(amountColumns) {
		return fault.New(fault.Invalid, "column %q: %.100q is not %d amounts", ExactAmounts, text, len(amountColumns))
	}
	for i, s := range texts {
		a, err := money.Parse(s)
		if err != nil {
			return err
		}
		if c := p.block.Amounts[amountColumns[i]]; c != nil {
			c.Words[row] = a
		}
	}
	return nil
}
