package costquery

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Row is a row of an answer: the values of the columns and the sums of the measures.
type Row struct {
	Keys    []string
	Amounts []money.Amount
}

// Answer is the answer to a question. Columns are those of GroupBy, followed by BillingCurrency if GroupBy does not
// contain it.
type Answer struct {
	Columns  []string
	Measures []string
	Rows     []Row
	Groups   int // the number of rows without the limit
	Scanned  int // line items
}

// Run answers a checked question. each passes the line items of the question's months to take, and may reuse its
// argument. More than MaxDistinct groups are fault.Invalid: the question must be narrowed.
func Run(ctx context.Context, q Query, each func(take func(*bill.Charge) error) error) (Answer, error) {
	r := newRun(q)
	err := each(func(c *bill.Charge) error {
		if r.scanned++; r.scanned%10_000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return r.add(c)
	})
	if err != nil {
		return Answer{}, err
	}
	return r.answer(), nil
}

type run struct {
	query   Query
	columns []string
	keys    []func(*bill.Charge) string
	sums    []func(*bill.Charge) money.Amount
	filters []func(*bill.Charge) string
	tests   []func(string) bool // by filter, reports whether a value meets it
	groups  map[string]int      // keys, each behind its length → position in rows
	rows    []Row
	key     []byte
	scanned int
	month   month // of the line before
}

// month is a billing period, with the first and the last day on which its line items count.
type month struct{ period, first, last time.Time }

// dayOf returns the day on which a line item counts.
func (m *month) dayOf(c *bill.Charge) time.Time {
	at := c.ChargePeriodStart
	if c.BillingPeriodStart.IsZero() {
		return at
	}
	if !c.BillingPeriodStart.Equal(m.period) {
		m.period = c.BillingPeriodStart
		y, n, _ := m.period.UTC().Date()
		m.first = time.Date(y, n, 1, 0, 0, 0, 0, time.UTC)
		m.last = m.first.AddDate(0, 1, -1)
	}
	switch {
	case at.Before(m.first):
		return m.first
	case at.After(m.last):
		return m.last
	}
	return at
}

func newRun(q Query) *run {
	r := &run{query: q, columns: q.keys(), groups: map[string]int{}}
	for _, name := range r.columns {
		get, _ := columnOf(name)
		r.keys = append(r.keys, get)
	}
	for _, name := range q.Measures {
		r.sums = append(r.sums, measures[name])
	}
	for _, f := range q.Filters {
		get, _ := columnOf(f.Column)
		r.filters = append(r.filters, get)
		r.tests = append(r.tests, f.test())
	}
	return r
}

func (r *run) add(c *bill.Charge) error {
	if day := r.month.dayOf(c); day.Before(r.query.From) || !day.Before(r.query.To) || !r.meets(c) {
		return nil
	}
	r.key = r.key[:0]
	for _, get := range r.keys {
		v := get(c)
		r.key = append(binary.AppendUvarint(r.key, uint64(len(v))), v...)
	}
	i, ok := r.groups[string(r.key)]
	if !ok {
		if len(r.rows) == MaxDistinct {
			return fault.New(fault.Invalid,
				"groupBy: %s has more than %d combinations: filter, or group by fewer columns",
				strings.Join(r.query.GroupBy, ", "), MaxDistinct)
		}
		i = len(r.rows)
		r.groups[string(r.key)] = i
		r.rows = append(r.rows, r.newRow(c))
	}
	for n, get := range r.sums {
		a := get(c)
		r.rows[i].Amounts[n].Increase(&a)
	}
	return nil
}

func (r *run) newRow(c *bill.Charge) Row {
	keys := make([]string, len(r.keys))
	for i, get := range r.keys {
		keys[i] = get(c)
	}
	return Row{keys, make([]money.Amount, len(r.sums))}
}

func (r *run) meets(c *bill.Charge) bool {
	for i := range r.filters {
		if !r.tests[i](r.filters[i](c)) {
			return false
		}
	}
	return true
}

// manyValues is the number of values from which a set is faster than a linear search.
const manyValues = 16

// test returns a function that reports whether a value meets the condition.
func (f *Filter) test() func(string) bool {
	if len(f.Values) <= manyValues || f.Operator != Is && f.Operator != IsNot {
		return f.meets
	}
	set := make(map[string]bool, len(f.Values))
	for _, v := range f.Values {
		set[v] = true
	}
	is := f.Operator == Is
	return func(v string) bool { return set[v] == is }
}

func (f *Filter) meets(v string) bool {
	switch f.Operator {
	case Is:
		return slices.Contains(f.Values, v)
	case IsNot:
		return !slices.Contains(f.Values, v)
	case StartsWith:
		return slices.ContainsFunc(f.Values, func(w string) bool { return strings.HasPrefix(v, w) })
	case Contains:
		return slices.ContainsFunc(f.Values, func(w string) bool { return strings.Contains(v, w) })
	case IsEmpty:
		return v == ""
	case IsPresent:
		return v != ""
	}
	return false
}

func (r *run) answer() Answer {
	out := NewAnswer(r.query, r.rows)
	out.Scanned = r.scanned
	return out
}

// keys returns the columns of the answer.
func (q *Query) keys() []string {
	if slices.Contains(q.GroupBy, currency) {
		return slices.Clone(q.GroupBy)
	}
	return append(slices.Clone(q.GroupBy), currency)
}

// NewAnswer returns the answer with these rows, which it sorts in the question's order.
func NewAnswer(q Query, rows []Row) Answer {
	slices.SortFunc(rows, q.order())
	out := Answer{Columns: q.keys(), Measures: q.Measures, Rows: rows, Groups: len(rows)}
	if limit := cmp.Or(q.Limit, MaxRows); len(rows) > limit {
		out.Rows = rows[:limit]
	}
	return out
}

// sorting returns the index of the sort column, or else of the sort measure, and the direction.
func (q *Query) sorting() (column, measure int, descending bool) {
	name, descending := strings.CutPrefix(cmp.Or(q.OrderBy, "-"+q.Measures[0]), "-")
	return slices.Index(q.keys(), name), slices.Index(q.Measures, name), descending
}

// order returns a comparison of rows in the question's order, then by their keys.
func (q *Query) order() func(a, b Row) int {
	column, measure, descending := q.sorting()
	sign := 1
	if descending {
		sign = -1
	}
	return func(a, b Row) int {
		if column >= 0 {
			return cmp.Or(sign*cmp.Compare(a.Keys[column], b.Keys[column]), slices.Compare(a.Keys, b.Keys))
		}
		return cmp.Or(sign*a.Amounts[measure].Cmp(b.Amounts[measure]), slices.Compare(a.Keys, b.Keys))
	}
}
