package condition

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/testkit/nightly"
	"lamplighter.dev/shared/testkit/seed"
)

// paramsOf returns the parameters of a condition as plain values.
func paramsOf(c *Condition) map[string]any {
	out := map[string]any{}
	for i, f := range c.params.fields {
		out[f.Name] = c.params.values[i].Value()
	}
	return out
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// draw returns a random sample of a type. One value in eight is missing.
func (p *pools) draw(r *rand.Rand, s *schema) sample {
	out := sample{none: map[string]bool{}}
	group := func(l *layout) map[string]any {
		values := map[string]any{}
		for _, f := range l.fields {
			if r.IntN(8) > 0 {
				values[f.Name] = p.value(r, f.Kind)
			} else if r.IntN(2) == 0 {
				out.none[f.Name] = true
			}
		}
		return values
	}
	out.res, out.m, out.org = group(s.facts), group(s.metrics), group(s.org)
	return out
}

// give puts a sample into a subject.
func (s *Subject) give(v sample) {
	giveFacts(s.Facts, v.res)
	giveFacts(s.Org, v.org)
	fixed := Fixed{}
	for name, value := range v.m {
		fixed[name] = Measured{Value: value.(float64)}
	}
	for name := range v.none {
		if _, measured := v.m[name]; !measured {
			fixed[name] = Measured{Reason: NoPoints}
		}
	}
	s.Metrics.Reset(fixed)
}

func giveFacts(f *Facts, values map[string]any) {
	f.Reset()
	for name, v := range values {
		if list, is := v.([]any); is {
			texts := []string{}
			for _, one := range list {
				texts = append(texts, one.(string))
			}
			v = texts
		}
		if !f.Set(name, v) {
			panic(fmt.Sprintf("%s is no %T", name, v))
		}
	}
}

// plainResult evaluates a sample with the second implementation: the truth and the sorted names of missing values.
func plainResult(tree *node, v sample) (Truth, []string) {
	switch got := (scope{sample: v}).plainly(tree).(type) {
	case bool:
		if got {
			return True, nil
		}
		return False, nil
	case missing:
		var names []string
		for name := range got {
			names = append(names, name)
		}
		slices.Sort(names)
		return Unknown, names
	}
	return Unknown, []string{""} // failed
}

// namesOf returns the sorted names of the missing values of a result.
func namesOf(r Result) []string {
	var names []string
	for _, m := range r.Missing {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

// plainTrees parses all conditions by the second implementation.
func plainTrees(t testing.TB, all *builtIn) map[string]*node {
	t.Helper()
	trees := map[string]*node{}
	for _, c := range all.conditions {
		tree, err := parsePlain(c.Condition)
		if err != nil {
			t.Fatal(err)
		}
		trees[c.ID] = tree
	}
	return trees
}

// sets is the number of random sets of facts. A nightly run draws more for each type of resource.
const (
	sets        = 10_000
	setsAtNight = 1_000 // of each type
)

func TestEvaluate_AgreesWithASecondImplementation(t *testing.T) {
	all := rules(t)
	trees := plainTrees(t, all)
	kinds := make([]string, 0, len(all.byType))
	for kind := range all.byType {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	each := nightly.CountTries(sets/len(kinds)+1, setsAtNight)
	r, seen := seed.Fixed(t, 22, 10), [3]int{}
	for _, kind := range kinds {
		conditions := all.byType[kind]
		p, s := poolsOf(conditions, trees), all.subject(t, kind)
		for range each {
			v := p.draw(r, conditions[0].schema)
			s.give(v)
			for _, c := range conditions {
				v.p = paramsOf(c)
				want, names := plainResult(trees[c.ID], v)
				got := s.Evaluate(c, c.Default())
				if got.Truth != want || !slices.Equal(namesOf(got), names) {
					t.Fatalf("%s is %s, missing %v; the second implementation says %s, missing %v\n%s\n%+v", c.ID,
						got.Truth, got.Missing, want, names, c.Condition, v)
				}
				seen[want]++
			}
		}
	}
	t.Logf("%d sets of facts for each of %d types: %d true, %d false, %d unknown", each, len(kinds), seen[True],
		seen[False], seen[Unknown])
	for truth, n := range seen {
		if n < sets/10 {
			t.Errorf("%d evaluations are %s; want more, so that the agreement tells something", n, Truth(truth))
		}
	}
}

func TestPlain_RefusesWhatItCannotRead(t *testing.T) {
	for _, text := range []string{"", "a &&", "(a", "a b", "a ? b", "[1,", "&"} {
		if n, err := parsePlain(text); err == nil || !strings.HasPrefix(err.Error(), text) {
			t.Errorf("%q is %+v, %v; want an error", text, n, err)
		}
	}
}
