package cost

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/foundation/money"
)

// tally adds up the answer to a question.
type tally struct {
	q      *Question
	metric int
	days   int
	// by are the dimensions that lines are grouped by: those of the question, and behind them those that its amounts depend on.
	by          []string
	needs       []string // families of columns
	rows        map[string]*Row
	estimated   []bool
	unconverted map[string]money.Amount

	keys   []string
	codes  []uint32
	buffer []byte
	cells  []money.Amount
}

func newTally(q *Question) *tally {
	t := &tally{
		q: q, metric: metricNumber[q.Metric], days: daysBetween(q.From, q.To), by: slices.Clone(q.Dims),
		rows: map[string]*Row{}, unconverted: map[string]money.Amount{}, keys: make([]string, len(q.Dims)),
	}
	t.estimated = make([]bool, t.days)
	if q.Filter[TeamDim] != nil {
		t.group(TeamDim)
	}
	t.group(CurrencyDim)
	t.codes = make([]uint32, len(t.by))
	need := map[string]bool{resourceFamily: q.Within != nil, wordsFamily: true}
	for _, dim := range slices.AppendSeq(slices.Clone(t.by), maps.Keys(q.Filter)) {
		family, _ := familyOf(dim)
		need[family] = true
	}
	delete(need, "")
	for family, needed := range need {
		if needed {
			t.needs = append(t.needs, family)
		}
	}
	slices.Sort(t.needs)
	return t
}

func (t *tally) group(dim string) {
	if !slices.Contains(t.by, dim) {
		t.by = append(t.by, dim)
	}
}

// families returns what is to be read of a span.
func (t *tally) families(s *span) []string {
	if s.whole() && !t.q.Daily {
		return append(slices.Clip(t.needs), totalsFamily)
	}
	return append(slices.Clip(t.needs), dayFamilies[t.metric])
}

// passes reports whether the filter allows a word in a dimension. Of a set it allows one of which it allows a member.
func (q *Question) passes(dim, word string) bool {
	listed, ok := q.Filter[dim]
	if !ok {
		return true
	}
	if dim == TeamDim || dim == GroupDim {
		return slices.ContainsFunc(splitSet(word), func(id string) bool { return slices.Contains(listed, id) })
	}
	return slices.Contains(listed, word)
}

// count counts the lines of a block that the question is about.
func (t *tally) count(s *span, b *lineBlock) {
	g := newGrouping(b.lines)
	if !t.filter(g, b) {
		return
	}
	columns := make([]column, len(t.by))
	for i, dim := range t.by {
		columns[i] = b.word(dim)
		g.split(&columns[i])
	}
	sums := t.sum(g, s, b)
	if b.bad {
		return
	}
	if s.pointer.Estimated {
		t.markEstimated(s)
	}
	for n := range g.size {
		t.take(s, columns, g.codes(n, t.codes), sums.of(n, t.cells))
	}
}

// filter leaves out the lines that the question is not about; false when none is left.
func (t *tally) filter(g *grouping, b *lineBlock) bool {
	for dim := range t.q.Filter {
		c := b.word(dim)
		if !g.keep(&c, func(word string) bool { return t.q.passes(dim, word) }) {
			return false
		}
	}
	if t.q.UsageOnly {
		c := b.word(CategoryDim)
		if !g.keep(&c, func(word string) bool { return word == "Usage" }) {
			return false
		}
	}
	if t.q.Within != nil && !t.q.Within.Resources.All() {
		c := b.word(ResourceDim)
		return g.keep(&c, func(word string) bool { return word != "" && t.q.Within.Resources.HasUID(word) })
	}
	return true
}

// sum adds up the amounts of the groups: by day when that is asked for, else in one cell.
func (t *tally) sum(g *grouping, s *span, b *lineBlock) *sums {
	if s.whole() && !t.q.Daily {
		a := b.total(t.metric)
		out := newSums(g.size, 1, &a)
		if !b.bad {
			out.add(g, &a, 0, 0)
		}
		return out
	}
	cells := 1
	if t.q.Daily {
		cells = s.to - s.from
	}
	a := b.byDay(t.metric)
	out := newSums(g.size, cells, &a)
	for d := s.from; d < s.to && !b.bad; d++ {
		out.add(g, &a, d*b.lines, (d-s.from)%cells)
	}
	return out
}

// markEstimated notes the days on which an estimate counts.
func (t *tally) markEstimated(s *span) {
	start := s.pointer.Month.Start()
	for d := s.from; d < s.to && !start.AddDate(0, 0, d).After(s.pointer.BilledThrough); d++ {
		t.estimated[s.offset+d-s.from] = true
	}
}

// take counts the amounts of a group: in USD, and split among the teams and groups that it is of.
func (t *tally) take(s *span, columns []column, codes []uint32, cells []money.Amount) { //nolint:revive // a group, as it stands
	t.cells = cells
	at := slices.Index(t.by, CurrencyDim)
	if currency := columns[at].names[codes[at]]; currency != USD {
		rate, ok := s.pointer.Rates[currency]
		if !ok {
			t.unconverted[currency] = t.unconverted[currency].Add(money.Sum(cells...))
			return
		}
		for i := range cells {
			cells[i] = cells[i].Mul(rate.USD)
		}
	}
	t.share(part{s, columns, codes, 0, cells})
}

// part is a share of a group's amounts, of which the dimensions before the n-th are settled.
type part struct {
	span    *span
	columns []column
	codes   []uint32
	n       int
	cells   []money.Amount
}

// share settles the dimensions of a part one after another.
func (t *tally) share(p part) {
	if p.n == len(t.by) {
		t.add(p.span, p.cells)
		return
	}
	dim, word := t.by[p.n], p.columns[p.n].names[p.codes[p.n]]
	n := p.n
	p.n++
	if dim != TeamDim && dim != GroupDim || !strings.Contains(word, setSeparator) {
		t.settle(n, dim, word)
		t.share(p)
		return
	}
	members := splitSet(word)
	if dim == GroupDim {
		members = slices.DeleteFunc(members, func(id string) bool { return !t.q.passes(dim, id) })
	}
	whole := p.cells
	for i, id := range members {
		if !t.q.passes(dim, id) {
			continue
		}
		p.cells = make([]money.Amount, len(whole))
		for c := range whole {
			p.cells[c] = whole[c].SplitEvenly(len(members))[i]
		}
		t.settle(n, dim, id)
		t.share(p)
	}
}

// settle notes the key of a dimension, if the question asks for it.
func (t *tally) settle(n int, dim, word string) {
	if n >= len(t.keys) {
		return
	}
	if dim == TeamDim && t.q.Within != nil && !t.q.Within.Teams.All && !slices.Contains(t.q.Within.Teams.Teams, word) {
		word = ""
	}
	t.keys[n] = word
}

// add counts amounts under the keys.
func (t *tally) add(s *span, cells []money.Amount) {
	t.buffer = t.buffer[:0]
	for _, k := range t.keys {
		t.buffer = append(append(t.buffer, k...), 0)
	}
	row := t.rows[string(t.buffer)]
	if row == nil {
		row = &Row{Keys: slices.Clone(t.keys)}
		if t.q.Daily {
			row.Days = make([]money.Amount, t.days)
		}
		t.rows[string(t.buffer)] = row
	}
	for i := range cells {
		row.Amount.Increase(&cells[i])
		if t.q.Daily {
			row.Days[s.offset+i].Increase(&cells[i])
		}
	}
}

// answer puts the rows in order.
func (t *tally) answer() Answer {
	a := Answer{Rows: make([]Row, 0, len(t.rows)), Estimated: t.estimated}
	if t.q.Daily {
		a.Days = make([]money.Amount, t.days)
	}
	for _, row := range t.rows {
		a.Rows = append(a.Rows, *row)
		a.Total.Increase(&row.Amount)
		for i := range row.Days {
			a.Days[i].Increase(&row.Days[i])
		}
	}
	slices.SortFunc(a.Rows, func(x, y Row) int { return cmp.Or(y.Amount.Cmp(x.Amount), slices.Compare(x.Keys, y.Keys)) })
	for _, currency := range slices.Sorted(maps.Keys(t.unconverted)) {
		a.Unconverted = append(a.Unconverted, CurrencyTotal{currency, t.unconverted[currency]})
	}
	return a
}
