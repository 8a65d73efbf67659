package cost

import (
	"cmp"
	"maps"
	"slices"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
)

// tally adds up the answer to a question.
type tally struct {
	q      *Question
	metric int
	days   int
	// by are the grouping dimensions of lines: the dimensions of the question, then the further ones that its amounts
	// depend on.
	by          []string
	needs       []string // families of columns
	words       []words  // by dimension of the question
	at          map[rowKey]int
	keys        []rowKey       // of the rows
	amounts     []money.Amount // by row
	daily       []money.Series // by row
	estimated   []bool
	unconverted map[string]money.Amount

	key     rowKey // of the part that is being split
	last    int    // row
	lasts   rowKey // the most recent words, by dimension
	codes   []uint32
	cells   []money.Amount
	sums    sums
	scratch []int64
}

// rowKey is the words of a row, by their numbers.
type rowKey [MaxDims]uint32

// axis is a grouping column of a block.
type axis struct {
	column
	numbers []uint32 // by word, its number in the tally plus 1; 0 if not looked up yet
}

func newTally(q *Question) *tally {
	t := &tally{
		q: q, metric: metricNumber[q.Metric], days: daysBetween(q.From, q.To), by: slices.Clone(q.Dims),
		at: map[rowKey]int{}, unconverted: map[string]money.Amount{},
	}
	for range q.Dims {
		t.words = append(t.words, newWords())
	}
	t.estimated = make([]bool, t.days)
	if q.Filter[TeamDim] != nil {
		t.group(TeamDim)
	}
	t.group(CurrencyDim)
	t.codes = make([]uint32, len(t.by))
	byResource := q.Resource != nil || q.Within != nil && !q.Within.Resources.All()
	need := map[string]bool{resourceFamily: byResource, wordsFamily: true}
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

// families returns the families of columns to read for a span.
func (t *tally) families(s *span) []string {
	if t.summed(s) {
		return append(slices.Clip(t.needs), totalsFamily)
	}
	return append(slices.Clip(t.needs), dayFamilies[t.metric])
}

// summed reports whether the sums of the month answer the question for a span.
func (t *tally) summed(s *span) bool { return s.whole() && !t.q.Daily && !s.pointer.inexact() }

// rollable reports whether a rollup contains all dimensions that the question uses.
func (t *tally) rollable() bool {
	return !slices.Contains(t.needs, resourceFamily) && !slices.Contains(t.needs, tagsFamily)
}

// passes reports whether the filter allows a word in a dimension. It allows a set if it allows one of its members, as
// the caller may see it.
func (q *Question) passes(dim, word string) bool {
	listed, ok := q.Filter[dim]
	if !ok {
		return true
	}
	if dim == TeamDim || dim == GroupDim {
		return slices.ContainsFunc(splitSet(word), func(id string) bool {
			return slices.Contains(listed, q.seen(dim, id))
		})
	}
	return slices.Contains(listed, word)
}

// count adds the matching lines of a block.
func (t *tally) count(s *span, b *lineBlock) {
	g := newGrouping(b.lines)
	if !s.keep(g, b) || !t.filter(g, b) {
		return
	}
	axes := make([]axis, len(t.by))
	for i, dim := range t.by {
		axes[i].column = b.word(dim)
		axes[i].numbers = make([]uint32, len(axes[i].names))
		g.split(&axes[i].column)
	}
	if t.sum(g, s, b); b.bad {
		return
	}
	if s.pointer.Estimated {
		t.markEstimated(s)
	}
	for n := range g.size {
		t.cells = t.sums.of(n, t.cells)
		t.take(part{s, axes, g.codes(n, t.codes), 0, t.cells})
	}
}

// keep excludes the lines that count on another bill. It returns false if no line is left.
func (s *span) keep(g *grouping, b *lineBlock) bool {
	if len(s.left) == 0 {
		return true
	}
	subs := b.word(SubAccountDim)
	return g.keep(&subs, func(word string) bool { return s.left[s.pointer.holds(word)] == "" })
}

// filter excludes the lines that the filter does not match. It returns false if no line is left.
func (t *tally) filter(g *grouping, b *lineBlock) bool {
	for dim := range t.q.Filter {
		c := b.word(dim)
		if !g.keep(&c, func(word string) bool { return t.q.passes(dim, word) }) {
			return false
		}
	}
	if t.q.UsageOnly {
		c, class := b.word(CategoryDim), b.word(ClassDim)
		if !g.keep(&c, func(word string) bool { return word == bill.Usage }) ||
			!g.keep(&class, func(word string) bool { return word == "" }) {
			return false
		}
	}
	if t.q.Resource != nil {
		c := b.word(ResourceDim)
		if !g.keep(&c, t.q.Resource) {
			return false
		}
	}
	if t.q.Within != nil && !t.q.Within.Resources.All() {
		c := b.word(ResourceDim)
		return g.keep(&c, func(word string) bool { return word != "" && t.q.Within.Resources.HasUID(word) })
	}
	return true
}

// sum adds up the amounts of the groups: by day for a daily question, else in one cell.
func (t *tally) sum(g *grouping, s *span, b *lineBlock) {
	b.scratch = t.scratch
	whole, cells, from, to := t.summed(s), 1, s.from, s.to
	var a amounts
	if whole {
		a, from, to = b.total(t.metric), 0, 1
	} else {
		a = b.byDay(t.metric)
	}
	if s.pointer.inexact() {
		b.roundForeign(&a)
	}
	if t.q.Daily {
		cells = to - from
	}
	if b.bad {
		return
	}
	t.sums.reset(g.size, cells, &a)
	for d := from; d < to; d++ {
		t.sums.add(g, &a, d*b.lines, (d-from)%cells)
	}
	if a.narrow != nil {
		t.scratch = a.narrow
	}
}

// markEstimated records the days on which an estimate counts.
func (t *tally) markEstimated(s *span) {
	start := s.pointer.Month.Start()
	for d := s.from; d < s.to && !start.AddDate(0, 0, d).After(s.pointer.BilledThrough); d++ {
		t.estimated[s.offset+d-s.from] = true
	}
}

// add adds amounts under the key.
func (t *tally) add(s *span, cells []money.Amount) {
	row := t.row()
	for i := range cells {
		t.amounts[row].Increase(&cells[i])
		if t.q.Daily {
			t.daily[row].Increase(s.offset+i, &cells[i])
		}
	}
}

// row returns the number of the row of the key. It tries the row after the last one first, because consecutive months
// have their lines in about the same order.
func (t *tally) row() int {
	n := t.last + 1
	if n >= len(t.keys) || t.keys[n] != t.key {
		var had bool
		if n, had = t.at[t.key]; !had {
			n = len(t.keys)
			t.at[t.key] = n
			t.keys, t.amounts = append(t.keys, t.key), append(t.amounts, money.Amount{})
			if t.q.Daily {
				t.daily = append(t.daily, money.NewSeries(t.days))
			}
		}
	}
	t.last = n
	return n
}

// named returns the words of the rows, by row and dimension.
func (t *tally) named() [][]string {
	all, out := make([]string, len(t.keys)*len(t.words)), make([][]string, len(t.keys))
	for i := range out {
		out[i] = all[:len(t.words):len(t.words)]
		all = all[len(t.words):]
		for n := range out[i] {
			out[i][n] = t.words[n].names[t.keys[i][n]]
		}
	}
	return out
}

// order returns the numbers of the rows, the largest amount first.
func (t *tally) order(named [][]string) []ranked {
	out := make([]ranked, len(t.keys))
	for i := range out {
		out[i] = ranked{t.amounts[i].Rank(), i}
	}
	slices.SortFunc(out, func(x, y ranked) int {
		if x.rank != y.rank {
			return cmp.Compare(y.rank, x.rank)
		}
		return cmp.Or(t.amounts[y.row].Cmp(t.amounts[x.row]), slices.Compare(named[x.row], named[y.row]))
	})
	return out
}

// ranked is a row with the rank of its amount.
type ranked struct {
	rank int64
	row  int
}

// answer returns the answer with its rows in order.
func (t *tally) answer() Answer {
	named := t.named()
	a := Answer{Rows: make([]Row, len(t.keys)), Estimated: t.estimated}
	if t.q.Daily {
		a.Days = make([]money.Amount, t.days)
	}
	for i, at := range t.order(named) {
		row := Row{Keys: named[at.row], Amount: t.amounts[at.row]}
		if t.q.Daily {
			row.Days = t.daily[at.row]
		}
		a.Rows[i] = row
		a.Total.Increase(&row.Amount)
		row.Days.AddTo(a.Days)
	}
	for _, currency := range slices.Sorted(maps.Keys(t.unconverted)) {
		a.Unconverted = append(a.Unconverted, CurrencyTotal{currency, t.unconverted[currency]})
	}
	return a
}
