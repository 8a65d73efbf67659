package cost

import (
	"math/bits"

	"lamplighter.dev/shared/foundation/money"
)

// outside is the group of lines that a question excludes.
const outside = ^uint32(0)

// grouping groups the lines of a block by some columns.
type grouping struct {
	of     []uint32 // by line
	size   int      // groups
	levels [][]pair // by column: which group of the columns before, and which word, makes each group
}

type pair struct{ group, code uint32 }

func newGrouping(lines int) *grouping { return &grouping{of: make([]uint32, lines), size: 1} }

// keep excludes the lines whose word does not pass, and reports whether any line is left.
func (g *grouping) keep(c *column, passes func(word string) bool) bool {
	allowed := make([]bool, len(c.names))
	for i, name := range c.names {
		allowed[i] = passes(name)
	}
	some := false
	for i := range g.of {
		if !allowed[c.code(i)] {
			g.of[i] = outside
		}
		some = some || g.of[i] != outside
	}
	return some
}

// denseGroups is the most possible groups that are numbered by a table; more are numbered by a map.
const denseGroups = 1 << 19

// split splits each group by the words of a column.
func (g *grouping) split(c *column) {
	if c.codes == nil {
		same := make([]pair, g.size)
		for i := range same {
			same[i].group = uint32(i) //nolint:gosec // at most blockLines
		}
		g.levels = append(g.levels, same)
		return
	}
	number := func(_ pair, next uint32) (uint32, bool) { return next, true } // where each line has a word of its own
	if len(c.names) < len(c.codes) {
		number = g.numbering(len(c.names))
	}
	var made []pair
	last, lastNumber := pair{outside, 0}, uint32(0)
	for i, group := range g.of {
		if group == outside {
			continue
		}
		if p := (pair{group, c.codes[i]}); p != last {
			n, isNew := number(p, uint32(len(made))) //nolint:gosec // at most blockLines
			if isNew {
				made = append(made, p)
			}
			last, lastNumber = p, n
		}
		g.of[i] = lastNumber
	}
	g.levels, g.size = append(g.levels, made), len(made)
}

// numbering returns a function that numbers pairs. It returns the number of a pair, which is next for a new one.
func (g *grouping) numbering(names int) func(p pair, next uint32) (n uint32, isNew bool) {
	if possible := g.size * names; possible <= denseGroups {
		at := make([]uint32, possible) // 0 is none
		return func(p pair, next uint32) (uint32, bool) {
			cell := &at[int(p.group)*names+int(p.code)]
			if *cell != 0 {
				return *cell - 1, false
			}
			*cell = next + 1
			return next, true
		}
	}
	at := make(map[pair]uint32, len(g.of))
	return func(p pair, next uint32) (uint32, bool) {
		if n, ok := at[p]; ok {
			return n, false
		}
		at[p] = next
		return next, true
	}
}

// codes returns the word numbers of a group, by column.
func (g *grouping) codes(group int, into []uint32) []uint32 {
	into = into[:len(g.levels)]
	n := uint32(group) //nolint:gosec // at most blockLines
	for i := len(g.levels) - 1; i >= 0; i-- {
		p := g.levels[i][n]
		into[i], n = p.code, p.group
	}
	return into
}

// sums adds up amounts by group and, if a group has several cells, by day.
type sums struct {
	cells  int
	places int
	narrow []sum
	wide   []money.Amount
}

// sum is a sum of 64-bit integers in 128 bits.
type sum struct {
	hi int64
	lo uint64
}

func (s *sum) add(v int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(v), 0) //nolint:gosec // two's complement
	s.hi += v>>63 + int64(carry)                 //nolint:gosec // 0 or 1
}

// amount returns the sum of integers of a scale.
func (s *sum) amount(places int) money.Amount {
	low := int64(s.lo) //nolint:gosec // two's complement
	if s.hi == low>>63 {
		return money.FromScaled(low, places)
	}
	high := money.FromScaled(s.hi, places).MulInt(1 << 32).MulInt(1 << 32)
	half := money.FromScaled(int64(s.lo>>1), places)                             //nolint:gosec // 63 bits
	return high.Add(half).Add(half).Add(money.FromScaled(int64(s.lo&1), places)) //nolint:gosec // 0 or 1
}

// reset prepares the sums for other amounts.
func (s *sums) reset(groups, cells int, a *amounts) {
	s.cells, s.places, s.wide = cells, a.places, nil
	if a.wide != nil {
		s.wide = make([]money.Amount, groups*cells)
		return
	}
	s.narrow = grown(s.narrow, groups*cells)
	clear(s.narrow)
}

// add adds the amounts of all lines, from index from on, to a cell of their groups.
func (s *sums) add(g *grouping, a *amounts, from, cell int) {
	if s.wide != nil {
		for i, group := range g.of {
			if group != outside {
				s.wide[int(group)*s.cells+cell].Increase(&a.wide[from+i])
			}
		}
		return
	}
	values := a.narrow[from : from+len(g.of)]
	for i, group := range g.of {
		if group != outside {
			s.narrow[int(group)*s.cells+cell].add(values[i])
		}
	}
}

// of returns the sums of a group.
func (s *sums) of(group int, into []money.Amount) []money.Amount {
	into = into[:0]
	for i := group * s.cells; i < (group+1)*s.cells; i++ {
		if s.wide != nil {
			into = append(into, s.wide[i])
		} else {
			into = append(into, s.narrow[i].amount(s.places))
		}
	}
	return into
}
