package condition

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
)

// pools are the values that decide about conditions: their literals, their parameters and the values beside them.
type pools struct {
	numbers   []float64
	texts     []string
	durations []time.Duration
}

// poolsOf collects the values of conditions.
func poolsOf(conditions []*Condition, trees map[string]*node) *pools {
	p := &pools{numbers: []float64{0, 1}, texts: []string{"", "nonprod", "prod"}, durations: []time.Duration{time.Hour}}
	for _, c := range conditions {
		for _, v := range paramsOf(c) {
			p.add(v)
		}
		trees[c.ID].each(func(n *node) {
			switch n.op {
			case "number":
				p.add(n.num)
			case "text":
				p.add(n.text)
			}
		})
	}
	slices.Sort(p.numbers)
	slices.Sort(p.texts)
	slices.Sort(p.durations)
	p.numbers, p.texts = slices.Compact(p.numbers), slices.Compact(p.texts)
	p.durations = slices.Compact(p.durations)
	return p
}

func (p *pools) add(v any) {
	switch v := v.(type) {
	case float64:
		p.numbers = append(p.numbers, v, v+1, v-1, v*2, v/2, v*1.01, v*0.99)
	case time.Duration:
		p.durations = append(p.durations, v)
	case string:
		if d, err := time.ParseDuration(v); err == nil {
			p.durations = append(p.durations, d)
		}
		p.texts = append(p.texts, v, v+"x", "x"+v)
	}
}

// value returns a random value of a kind.
func (p *pools) value(r *rand.Rand, k Kind) any {
	switch k { //nolint:exhaustive // the rest are texts
	case Number:
		return pick(r, p.numbers)
	case Bool:
		return r.IntN(2) == 0
	case Timestamp:
		return p.time(r)
	case Texts:
		var out []any
		for range r.IntN(4) {
			out = append(out, pick(r, p.texts))
		}
		return out
	case TextMap:
		return p.tags(r)
	}
	return pick(r, p.texts)
}

// time returns a time at, or a second beside, a duration of a condition from now; or a time of known absence.
func (p *pools) time(r *rand.Rand) time.Time {
	switch r.IntN(8) {
	case 0:
		return cloud.Never
	case 1:
		return cloud.Epoch
	}
	d := pick(r, p.durations) + time.Duration(r.IntN(3)-1)*time.Second
	return at.Add(-d * time.Duration(r.IntN(4)-1))
}

func (p *pools) tags(r *rand.Rand) map[string]string {
	out := map[string]string{}
	for range r.IntN(4) {
		out[pick(r, []string{"team", "retain", "env", "expires-at", "cost-center"})] = pick(r, p.texts)
	}
	if r.IntN(2) == 0 {
		out["expires-at"] = pick(r, []string{"2026-01-01", "2027-01-01", "2026-13-45", "soon"})
	}
	return out
}

// combine adds sums and products of numbers, and texts of two parts.
func (p *pools) combine() {
	for _, a := range slices.Clone(p.numbers) {
		for _, b := range p.numbers[:min(len(p.numbers), 8)] {
			p.numbers = append(p.numbers, a*b+0, a+b, a*100, -1) // +0: zero has no sign
		}
	}
	slices.Sort(p.numbers)
	p.numbers = slices.Compact(p.numbers)
	for _, a := range slices.Clone(p.texts) {
		for _, b := range slices.Clone(p.texts[:min(len(p.texts), 12)]) {
			p.texts = append(p.texts, a+b)
		}
	}
}

// candidates lists the values of a kind that may matter.
func (p *pools) candidates(k Kind) []any {
	var out []any
	switch k {
	case Number:
		for _, v := range p.numbers {
			out = append(out, v)
		}
		// the plain values first: none is negative without need
		slices.SortStableFunc(out, func(a, b any) int { return cmp.Compare(awkward(a), awkward(b)) })
	case Bool:
		return []any{false, true}
	case Timestamp:
		for _, d := range p.durations {
			out = append(out, at.Add(-d-24*time.Hour), at.Add(-d/2), at.Add(d/2), at.Add(d+24*time.Hour))
		}
	case Texts:
		out = append(out, []any{})
		for _, t := range p.texts {
			out = append(out, []any{t})
		}
	case TextMap:
		out = append(out, map[string]string{})
		for _, t := range p.texts {
			out = append(out, map[string]string{t: "x"}, map[string]string{t: "2026-01-01"})
		}
	default:
		for _, t := range p.texts {
			out = append(out, t)
		}
	}
	return out
}

// awkward orders numbers by how odd they look in an example.
func awkward(v any) int {
	n := v.(float64)
	switch {
	case n < 0:
		return 2
	case n != math.Trunc(n):
		return 1
	}
	return 0
}
