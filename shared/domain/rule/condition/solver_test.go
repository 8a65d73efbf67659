package condition

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/testkit/seed"
)

// solver finds the fixtures of a condition. It changes one value at a time, and keeps a change that makes more parts of
// the conjunction true. It evaluates with the second implementation.
type solver struct {
	*Condition
	tree    *node
	parts   []*node
	fields  []fieldOf
	pools   *pools
	random  *rand.Rand
	present sample
}

// fieldOf is a value that the condition reads.
type fieldOf struct {
	group, name string
	candidates  []any // nil: queried without points
}

// tries limits the starts from random values.
const tries = 300

func newSolver(t *testing.T, c *Condition, trees map[string]*node) *solver {
	t.Helper()
	id := fnv.New64a()
	_, _ = id.Write([]byte(c.ID))
	s := &solver{
		Condition: c, tree: trees[c.ID], parts: trees[c.ID].conjuncts(),
		random: seed.Fixed(t, 22, id.Sum64()), // of each rule, so that a changed rule changes one line
		pools:  poolsOf([]*Condition{c}, trees),
	}
	s.pools.combine()
	s.tree.each(func(n *node) {
		if n.op == "." && n.args[0].op == "name" {
			s.addField(n.args[0].text, n.text)
		}
	})
	slices.SortFunc(s.fields, func(a, b fieldOf) int { return strings.Compare(a.group+a.name, b.group+b.name) })
	return s
}

func (s *solver) addField(group, name string) {
	l := map[string]*layout{"res": s.schema.facts, "m": s.schema.metrics, "org": s.schema.org}[group]
	known := func(f fieldOf) bool { return f.group == group && f.name == name }
	if l == nil || slices.ContainsFunc(s.fields, known) {
		return
	}
	f := fieldOf{group, name, s.pools.candidates(l.fields[l.number[name]].Kind)}
	f.candidates = slices.DeleteFunc(f.candidates, func(v any) bool { return s.isImpossible(f, v) })
	if strings.Contains(s.Rule.Condition, "has("+group+"."+name+")") {
		f.candidates = append(f.candidates, nil)
	}
	s.fields = append(s.fields, f)
}

// isImpossible reports whether no provider gives a value. No use is negative; a fact is -1 only where the condition
// says so, for a setting without a limit. No share is above 100 %, and no window has more hours than it has.
func (s *solver) isImpossible(f fieldOf, v any) bool {
	n, isNumber := v.(float64)
	if !isNumber {
		return false
	}
	metric, _ := rule.MetricOf(s.Type, f.name)
	fact, _ := rule.FactOf(s.Type, f.name)
	unit := map[string]string{"res": fact.Unit, "m": metric.Unit}[f.group]
	most, limited := map[string]float64{
		"%": 100, "0..1": 1, "0/1": 1, "hours/week": 168, "h/day": 24, "h": float64(metric.Days) * 24,
		"days": float64(metric.Days),
	}[unit]
	if limited && n > most && (f.group == "m" || unit == "%") {
		return true
	}
	return n < 0 && (n != -1 || !strings.Contains(s.Rule.Condition, f.group+"."+f.name+" < 0"))
}

// set sets a value of the present sample.
func (s *solver) set(f fieldOf, v any) {
	group := map[string]map[string]any{"res": s.present.res, "m": s.present.m, "org": s.present.org}[f.group]
	delete(group, f.name)
	delete(s.present.none, f.name)
	if v == nil {
		s.present.none[f.name] = true
	} else {
		group[f.name] = v
	}
}

func (s *solver) get(f fieldOf) any {
	return map[string]map[string]any{"res": s.present.res, "m": s.present.m, "org": s.present.org}[f.group][f.name]
}

// score is the number of parts that are true.
func (s *solver) score() int {
	n := 0
	for _, part := range s.parts {
		if v, _ := plainResult(part, s.present); v == True {
			n++
		}
	}
	return n
}

// findTrue looks for a sample that makes the condition true, from the plainest values in the first try and from random
// ones later.
func (s *solver) findTrue(try int) bool {
	s.present = sample{map[string]any{}, map[string]any{}, map[string]any{}, paramsOf(s.Condition), map[string]bool{}}
	for _, f := range s.fields {
		if s.set(f, f.candidates[0]); try > 0 {
			s.set(f, pick(s.random, f.candidates))
		}
	}
	for before := -1; before < s.score(); {
		before = s.score()
		for _, f := range s.fields {
			s.improve(f)
		}
	}
	return s.score() == len(s.parts)
}

// improve sets the value of a field that makes most parts true.
func (s *solver) improve(f fieldOf) {
	best, most := s.get(f), s.score()
	for _, v := range f.candidates {
		if s.set(f, v); s.score() > most {
			best, most = v, s.score()
		}
	}
	s.set(f, best)
}

// solve returns the fixtures.
func (s *solver) solve() (Fixtures, bool) {
	for try := range tries {
		if s.findTrue(try) {
			out := Fixtures{True: s.present.example()}
			if s.findFalse(&out) && s.findUnknown(&out) {
				return out, true
			}
		}
	}
	return Fixtures{}, false
}

// findFalse looks for a single change that makes the condition false.
func (s *solver) findFalse(out *Fixtures) bool {
	for _, f := range s.fields {
		was := s.get(f)
		for _, v := range f.candidates {
			s.set(f, v)
			if got, _ := plainResult(s.tree, s.present); got == False {
				out.False = changeOf(f, v)
				s.set(f, was)
				return true
			}
		}
		s.set(f, was)
	}
	return false
}

// findUnknown looks for a single value that the condition needs.
func (s *solver) findUnknown(out *Fixtures) bool {
	for _, f := range s.fields {
		was := s.get(f)
		s.set(f, nil)
		delete(s.present.none, f.name)
		got, names := plainResult(s.tree, s.present)
		s.set(f, was)
		if got == Unknown && len(names) == 1 {
			out.Unknown = names
			return true
		}
	}
	return false
}

// changeOf returns an example of one value.
func changeOf(f fieldOf, v any) Example {
	one := sample{map[string]any{}, map[string]any{}, map[string]any{}, nil, map[string]bool{}}
	s := &solver{present: one}
	s.set(f, v)
	return one.example()
}

// example returns a sample as JSON has it.
func (v sample) example() Example {
	out := Example{Res: map[string]any{}, M: map[string]float64{}, Org: map[string]any{}}
	for name, value := range v.res {
		out.Res[name] = jsonOf(value)
	}
	for name, value := range v.org {
		out.Org[name] = jsonOf(value)
	}
	for name, value := range v.m {
		out.M[name] = value.(float64)
	}
	for name := range v.none {
		out.NoPoints = append(out.NoPoints, name)
	}
	return out
}

func jsonOf(v any) any {
	if t, is := v.(time.Time); is {
		return t.Format(time.RFC3339)
	}
	return v
}

// sample returns an example as the second implementation reads it.
func (c *Condition) sample(e Example) sample {
	out := sample{map[string]any{}, map[string]any{}, map[string]any{}, paramsOf(c), map[string]bool{}}
	for _, of := range []struct {
		from, to map[string]any
		*layout
	}{{e.Res, out.res, c.schema.facts}, {e.Org, out.org, c.schema.org}} {
		for name, v := range of.from {
			of.to[name] = plainOf(of.fields[of.number[name]].Kind, v)
		}
	}
	for name, v := range e.M {
		out.m[name] = v
	}
	for _, name := range e.NoPoints {
		out.none[name] = true
	}
	return out
}

// plainOf returns a value of JSON as the second implementation has it.
func plainOf(k Kind, v any) any {
	switch v := v.(type) {
	case string:
		if k == Timestamp {
			t, _ := time.Parse(time.RFC3339, v)
			return t
		}
	case map[string]any:
		out := map[string]string{}
		for key, value := range v {
			out[key], _ = value.(string)
		}
		return out
	}
	return v
}
