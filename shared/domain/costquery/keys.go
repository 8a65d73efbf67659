package costquery

import (
	"time"

	"lamplighter.dev/shared/domain/bill"
)

// key is a column of the answer. It numbers the values of the column.
type key interface {
	use(b *bill.Block)
	at(row int) int32
	word(number int32) string
}

// condition is a filter on a column.
type condition interface {
	use(b *bill.Block)
	meets(row int) bool
}

// source returns the column of a block, and the text of its values.
type source[T any] struct {
	of    func(*bill.Block) *bill.Column[T]
	text  func(T) string
	month time.Time      // of the block
	none  bill.Column[T] // for blocks without the column
}

// column returns the column of the block, or one without values.
func (s *source[T]) column(b *bill.Block) *bill.Column[T] {
	s.month = b.Month
	if c := s.of(b); c != nil {
		return c
	}
	s.none.Words = make([]T, 1)
	s.none.Edition++ // the month may be another one
	if len(s.none.Numbers) < b.Rows {
		s.none.Numbers = make([]int32, b.Rows)
	}
	return &s.none
}

func textSource(name string) *source[string] {
	return &source[string]{
		of:   func(b *bill.Block) *bill.Column[string] { return b.Texts[name] },
		text: func(s string) string { return s },
	}
}

func tagSource(key string) *source[[]bill.Tag] {
	return &source[[]bill.Tag]{
		of:   func(b *bill.Block) *bill.Column[[]bill.Tag] { return b.Tags },
		text: func(tags []bill.Tag) string { return tagOf(tags, key) },
	}
}

func tagOf(tags []bill.Tag, key string) string {
	for _, t := range tags {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

// timeSource returns the source of a column of times. The month of the block stands for a missing time.
func timeSource(name, form string) *source[time.Time] {
	s := &source[time.Time]{of: func(b *bill.Block) *bill.Column[time.Time] { return b.Times[name] }}
	s.text = func(t time.Time) string { return orMonth(t, s.month).Format(form) }
	return s
}

func orMonth(t, month time.Time) time.Time {
	if t.IsZero() {
		return month
	}
	return t
}

func newKey(name string) key {
	if k, ok := tagKey(name); ok {
		return newColumnKey(tagSource(k))
	}
	if form := timeColumns[name]; form != "" {
		return newColumnKey(timeSource(name, form))
	}
	return newColumnKey(textSource(name))
}

// columnKey is a key of a column of any type.
type columnKey[T any] struct {
	from      *source[T]
	numbering *bill.Numbering[T]
}

func newColumnKey[T any](from *source[T]) key {
	return &columnKey[T]{from, bill.NewNumbering(from.text)}
}

func (k *columnKey[T]) use(b *bill.Block)        { k.numbering.Use(k.from.column(b)) }
func (k *columnKey[T]) at(row int) int32         { return k.numbering.At(row) }
func (k *columnKey[T]) word(number int32) string { return k.numbering.Text(number) }

func newCondition(f *Filter) condition {
	if k, ok := tagKey(f.Column); ok {
		return newColumnCondition(tagSource(k), f.test())
	}
	if form := timeColumns[f.Column]; form != "" {
		return newColumnCondition(timeSource(f.Column, form), f.test())
	}
	return newColumnCondition(textSource(f.Column), f.test())
}

// columnCondition is a condition on a column of any type. It tests each word once.
type columnCondition[T any] struct {
	from    *source[T]
	tested  *bill.Translation[T, bool]
	column  *bill.Column[T]
	results []bool
}

func newColumnCondition[T any](from *source[T], test func(string) bool) condition {
	return &columnCondition[T]{from: from, tested: bill.NewTranslation(func(word T) bool {
		return test(from.text(word))
	})}
}

func (c *columnCondition[T]) use(b *bill.Block) {
	c.column = c.from.column(b)
	c.results = c.tested.Of(c.column)
}

func (c *columnCondition[T]) meets(row int) bool { return c.results[c.column.Numbers[row]] }

// days is the condition that a line counts on a day of the question.
type days struct {
	from, to     time.Time
	month        time.Time
	billed, used *bill.Column[time.Time] // nil for a column that was not read
	last         [2]int32                // the numbers of the line before
	within       bool                    // the result for it
	known        bool                    // there is a line before in the block
}

func (d *days) use(b *bill.Block) {
	d.month, d.billed, d.used = b.Month, b.Times["BillingPeriodStart"], b.Times["ChargePeriodStart"]
	d.known = false
}

// meets computes a result only when the times differ from those of the line before.
func (d *days) meets(row int) bool {
	var at [2]int32
	if d.billed != nil {
		at[0] = d.billed.Numbers[row]
	}
	if d.used != nil {
		at[1] = d.used.Numbers[row]
	}
	if !d.known || at != d.last {
		day := dayOf(wordOf(d.billed, at[0], d.month), wordOf(d.used, at[1], d.month))
		d.known, d.last, d.within = true, at, !day.Before(d.from) && day.Before(d.to)
	}
	return d.within
}

func wordOf(c *bill.Column[time.Time], number int32, month time.Time) time.Time {
	if c == nil {
		return month
	}
	return orMonth(c.Words[number], month)
}

// dayOf returns the day on which a line item of a billing period counts: in the month of the period.
func dayOf(period, at time.Time) time.Time {
	if period.IsZero() {
		return at
	}
	y, n, _ := period.UTC().Date()
	first := time.Date(y, n, 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1)
	switch {
	case at.Before(first):
		return first
	case at.After(last):
		return last
	}
	return at
}
