package costquery

import (
	"cmp"
	"context"
	"slices"
	"strings"

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

// Run answers a checked question. each passes the line items of the question's months to take in blocks, and may reuse
// its argument. More than MaxDistinct groups are fault.Invalid: the question must be narrowed.
func Run(ctx context.Context, q Query, each func(take func(*bill.Block) error) error) (Answer, error) {
	r := newRun(q)
	err := each(func(b *bill.Block) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.scanned += b.Rows
		return r.add(b)
	})
	if err != nil {
		return Answer{}, err
	}
	return r.answer(), nil
}

// numbers are those of a group's keys. Keys that the question does not have are 0.
type numbers [MaxGroups + 1]int32

type run struct {
	query   Query
	keys    []key
	filters []condition
	sums    []measure
	days    days
	groups  map[numbers]int // → position in rows
	rows    []Row
	last    numbers // of the line before
	lastRow int     // of last; -1 before the first line
	scanned int
}

func newRun(q Query) *run {
	r := &run{query: q, groups: map[numbers]int{}, lastRow: -1, days: days{from: q.From, to: q.To}}
	for _, name := range q.keys() {
		r.keys = append(r.keys, newKey(name))
	}
	for _, name := range q.Measures {
		r.sums = append(r.sums, measure{name: name})
	}
	for i := range q.Filters {
		r.filters = append(r.filters, newCondition(&q.Filters[i]))
	}
	return r
}

func (r *run) add(b *bill.Block) error {
	r.use(b)
	for row := range b.Rows {
		if !r.days.meets(row) || !r.meets(row) {
			continue
		}
		i, err := r.find(row)
		if err != nil {
			return err
		}
		amounts := r.rows[i].Amounts
		for n := range r.sums {
			amounts[n].Increase(r.sums[n].at(row))
		}
	}
	return nil
}

// use makes b the block of the following rows.
func (r *run) use(b *bill.Block) {
	r.days.use(b)
	for _, k := range r.keys {
		k.use(b)
	}
	for _, f := range r.filters {
		f.use(b)
	}
	for i := range r.sums {
		r.sums[i].use(b)
	}
}

// find returns the position of the row's group.
func (r *run) find(row int) (int, error) {
	var at numbers
	for i, k := range r.keys {
		at[i] = k.at(row)
	}
	if at == r.last && r.lastRow >= 0 {
		return r.lastRow, nil
	}
	i, ok := r.groups[at]
	if !ok {
		if len(r.rows) == MaxDistinct {
			return 0, fault.New(fault.Invalid,
				"groupBy: %s has more than %d combinations: filter, or group by fewer columns",
				strings.Join(r.query.GroupBy, ", "), MaxDistinct)
		}
		i = len(r.rows)
		r.groups[at] = i
		r.rows = append(r.rows, r.newRow(&at))
	}
	r.last, r.lastRow = at, i
	return i, nil
}

func (r *run) newRow(at *numbers) Row {
	keys := make([]string, len(r.keys))
	for i, k := range r.keys {
		keys[i] = k.word(at[i])
	}
	return Row{keys, make([]money.Amount, len(r.sums))}
}

func (r *run) meets(row int) bool {
	for _, f := range r.filters {
		if !f.meets(row) {
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
