package cost

import (
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// part is the amounts of a group, or a share of them. Its values of the first n dimensions are determined.
type part struct {
	span  *span
	axes  []axis
	codes []uint32 // words of the group, by axis
	n     int
	cells []money.Amount
}

func (p *part) word(n int) string { return p.axes[n].names[p.codes[n]] }

// take adds the amounts of a group, converted to USD and split among its teams and groups.
func (t *tally) take(p part) {
	if currency := p.word(slices.Index(t.by, CurrencyDim)); currency != USD {
		usd, ok := p.span.pointer.rateOf(currency)
		if !ok {
			if sum := money.Sum(p.cells...); !sum.IsZero() {
				t.unconverted[currency] = t.unconverted[currency].Add(sum)
			}
			return
		}
		for i := range p.cells {
			p.cells[i] = p.cells[i].Mul(usd)
		}
	}
	t.share(&p)
}

// share determines the values of a part's dimensions one after another.
func (t *tally) share(p *part) {
	for ; p.n < len(t.by); p.n++ {
		dim := t.by[p.n]
		if (dim == TeamDim || dim == GroupDim) && p.word(p.n) != "" {
			t.divide(p)
			return
		}
		if p.n < len(t.words) {
			t.key[p.n] = t.number(p)
		}
	}
	t.add(p.span, p.cells)
}

// number returns the number of the part's word in a dimension. It looks the word up once for each block.
func (t *tally) number(p *part) uint32 {
	known := &p.axes[p.n].numbers[p.codes[p.n]]
	if *known == 0 {
		*known = t.words[p.n].internBehind(t.lasts[p.n], p.word(p.n)) + 1
		t.lasts[p.n] = *known - 1
	}
	return *known - 1
}

// divide splits a part among its teams or groups. The filter may exclude some of them. An excluded team still has its
// share, which is dropped; an excluded group has none.
func (t *tally) divide(p *part) {
	n, dim, whole := p.n, t.by[p.n], p.cells
	members := splitSet(p.word(n))
	if dim == GroupDim {
		members = slices.DeleteFunc(members, func(id string) bool { return !t.q.passes(dim, id) })
	}
	shares := splitCells(whole, len(members))
	for i, id := range members {
		if !t.q.passes(dim, id) {
			continue
		}
		if n < len(t.words) {
			t.key[n] = t.words[n].intern(t.q.seen(dim, id))
		}
		p.n, p.cells = n+1, shares[i]
		t.share(p)
	}
}

// splitCells splits each of cells evenly among n.
func splitCells(cells []money.Amount, n int) [][]money.Amount {
	if n == 1 {
		return [][]money.Amount{cells}
	}
	out := make([][]money.Amount, n)
	for i := range cells {
		for m, share := range cells[i].SplitEvenly(n) {
			out[m] = append(out[m], share)
		}
	}
	return out
}

// seen returns the ID of a team or group as the caller may see it.
func (q *Question) seen(dim, id string) string {
	if w := q.Within; dim == TeamDim && w != nil && !w.Teams.All && !slices.Contains(w.Teams.Teams, id) {
		return ""
	}
	return id
}
