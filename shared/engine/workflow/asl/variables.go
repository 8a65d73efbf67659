package asl

import (
	"fmt"
	"maps"
	"slices"
)

// variables are the variables of one level: the assigned ones, and those that its states read.
type variables struct {
	outer    int // index of the level around it, or -1
	assigned map[string]bool
	used     map[string]string
}

// noteVariables records the variables that s assigns and reads.
func (p *parser) noteVariables(s *state, self int) {
	v := p.levels[self]
	for _, e := range s.assignments() {
		for _, name := range assignedNames(e) {
			v.assigned[name] = true
		}
	}
	for _, e := range s.expressions() {
		e.paths(func(p *path) {
			if p.root == rootVariable {
				v.used[p.variable] = s.name
			}
		})
	}
}

// assignedNames lists the names of the variables of an Assign.
func assignedNames(e expr) []string {
	switch x := e.(type) {
	case members:
		return slices.Collect(maps.Keys(x))
	case constant:
		m, _ := x.v.(map[string]any)
		return slices.Collect(maps.Keys(m))
	}
	return nil
}

// assignments returns the Assign fields of a state, of its catchers and of its rules.
func (s *state) assignments() []expr {
	var out []expr
	add := func(e expr) {
		if e != nil {
			out = append(out, e)
		}
	}
	add(s.assign)
	for _, c := range s.catch {
		add(c.assign)
	}
	for _, r := range s.choice {
		add(r.assign)
	}
	return out
}

// expressions returns all expressions of a state.
func (s *state) expressions() []expr {
	out := s.assignments()
	for _, e := range []expr{s.parameters, s.selector, s.fail.name, s.fail.cause, s.each.selector} {
		if e != nil {
			out = append(out, e)
		}
	}
	paths := []*path{s.inputPath, s.outputPath, s.wait.secondsPath, s.wait.timestampPath, s.each.items}
	for _, r := range s.choice {
		paths = append(paths, r.test.reads()...)
	}
	for _, p := range paths {
		if p != nil {
			out = append(out, p)
		}
	}
	return out
}

// checkVariables checks that every variable that is read is assigned in its level or around it, and that an inner level
// does not assign a variable of an outer one. Step Functions refuses both.
func (p *parser) checkVariables() error {
	for i, l := range p.levels {
		for _, name := range slices.Sorted(maps.Keys(l.used)) {
			if !p.isAssigned(i, name) {
				return fmt.Errorf("state %q: variable $%s is assigned nowhere in its scope", l.used[name], name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(l.assigned)) {
			if l.outer >= 0 && p.isAssigned(l.outer, name) {
				return fmt.Errorf("variable $%s is assigned both inside and outside of a Map or Parallel state", name)
			}
		}
	}
	return nil
}

func (p *parser) isAssigned(at int, name string) bool {
	for ; at >= 0; at = p.levels[at].outer {
		if p.levels[at].assigned[name] {
			return true
		}
	}
	return false
}
