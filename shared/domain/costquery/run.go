package costquery

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/focus"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Row is a row of an answer: the values of the columns, and of the measures.
type Row struct {
	Keys    []string
	Amounts []money.Amount
}

// Answer is what a question's line items add up to. Columns are those of GroupBy, and BillingCurrency where it was not among them.
type Answer struct {
	Columns  []string
	Measures []string
	Rows     []Row
	Groups   int // how many rows there are without the limit
	Scanned  int // line items
}

// Run answers a question that was checked. each hands over the line items of the months that the question is about; what it hands over may
// be used again. More than MaxDistinct groups are fault.Invalid: the question is to be narrowed.
func Run(ctx context.Context, q Query, each func(take func(*focus.Charge) error) error) (Answer, error) {
	r := newRun(q)
	err := each(func(c *focus.Charge) error {
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
	keys    []func(*focus.Charge) string
	sums    []func(*focus.Charge) money.Amount
	filters []func(*focus.Charge) string
	groups  map[string]int // keys, each behind its length → position in rows
	rows    []Row
	key     []byte
	scanned int
}

func newRun(q Query) *run {
	r := &run{query: q, columns: slices.Clone(q.GroupBy), groups: map[string]int{}}
	if !slices.Contains(r.columns, currency) {
		r.columns = append(r.columns, currency)
	}
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
	}
	return r
}

func (r *run) add(c *focus.Charge) error {
	if c.ChargePeriodStart.Before(r.query.From) || !c.ChargePeriodStart.Before(r.query.To) || !r.meets(c) {
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
			return fault.New(fault.Invalid, "groupBy: %s has more than %d combinations: filter, or group by fewer columns",
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

func (r *run) newRow(c *focus.Charge) Row {
	keys := make([]string, len(r.keys))
	for i, get := range r.keys {
		keys[i] = get(c)
	}
	return Row{keys, make([]money.Amount, len(r.sums))}
}

func (r *run) meets(c *focus.Charge) bool {
	for i := range r.filters {
		if !r.query.Filters[i].meets(r.filters[i](c)) {
			return false
		}
	}
	return true
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
	slices.SortFunc(r.rows, r.order())
	out := Answer{Columns: r.columns, Measures: r.query.Measures, Rows: r.rows, Groups: len(r.rows), Scanned: r.scanned}
	if limit := cmp.Or(r.query.Limit, MaxRows); len(out.Rows) > limit {
		out.Rows = out.Rows[:limit]
	}
	return out
}

// order compares rows as the question wants them; ties go by their keys.
func (r *run) order() func(a, b Row) int {
	name, descending := strings.CutPrefix(cmp.Or(r.query.OrderBy, "-"+r.query.Measures[0]), "-")
	sign := 1
	if descending {
		sign = -1
	}
	column, measure := slices.Index(r.columns, name), slices.Index(r.query.Measures, name)
	return func(a, b Row) int {
		if column >= 0 {
			return cmp.Or(sign*cmp.Compare(a.Keys[column], b.Keys[column]), slices.Compare(a.Keys, b.Keys))
		}
		return cmp.Or(sign*a.Amounts[measure].Cmp(b.Amounts[measure]), slices.Compare(a.Keys, b.Keys))
	}
}
