package condition

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
)

// Example is a set of values to try a condition with.
type Example = rule.Example

// Fixtures are the examples that show what a condition means.
type Fixtures = rule.Fixtures

// CheckFixtures tries a condition with its fixtures at a time. An error is of kind fault.Invalid. It names the example,
// its result and the missing values.
func (c *Catalogue) CheckFixtures(of *Condition, f Fixtures, now time.Time) error {
	s, err := c.NewSubject(of.Type)
	if err != nil {
		return err
	}
	s.Now = now
	for _, try := range []struct {
		name    string
		example Example
		want    Truth
		missing []string
	}{
		{"true", f.True, True, nil},
		{"false", withChange(f.True, f.False), False, nil},
		{"unknown", withoutNames(f.True, f.Unknown), Unknown, f.Unknown},
	} {
		if err := s.Give(try.example); err != nil {
			return invalid(of.Rule, "fixture %q: %s", try.name, fault.Message(err))
		}
		got := s.Evaluate(of, of.Default())
		if names := missingNames(got); got.Truth != try.want || !sameNames(names, try.missing) {
			return invalid(of.Rule, "fixture %q: the condition is %s, and %s; it must be %s, and %s", try.name,
				got.Truth, describeNames(names), try.want, describeNames(try.missing))
		}
	}
	return nil
}

// NewSubject returns a subject of a type without values. Its settings of the organization are unknown.
func (c *Catalogue) NewSubject(kind string) (*Subject, error) {
	s, err := c.schema(kind)
	if err != nil {
		return nil, err
	}
	return &Subject{Facts: newFacts(s.facts), Metrics: newMetrics(s.metrics), Org: newFacts(c.org)}, nil
}

// Give replaces the values of a subject by those of an example. An error is of kind fault.Invalid: the example names a
// value that the type does not have, or a value is of another kind.
func (s *Subject) Give(e Example) error {
	if err := s.Facts.give(e.Res); err != nil {
		return err
	}
	if err := s.Org.give(e.Org); err != nil {
		return err
	}
	fixed := Fixed{}
	for _, name := range e.NoPoints {
		fixed[name] = Measured{Reason: NoPoints}
	}
	for name, v := range e.M {
		fixed[name] = Measured{Value: v}
	}
	for name := range fixed {
		if _, declared := s.Metrics.number[name]; !declared {
			return fault.New(fault.Invalid, "metric %q is not declared%s", show(name),
				rule.Nearest(name, s.Metrics.names()))
		}
	}
	s.Metrics.Reset(fixed)
	return nil
}

// give replaces the facts by values as JSON has them.
func (f *Facts) give(values map[string]any) error {
	for name := range values {
		if _, declared := f.number[name]; !declared {
			return fault.New(fault.Invalid, "%s.%s is not declared%s", f.layout.group, show(name),
				rule.Nearest(name, f.names()))
		}
	}
	object, err := json.Marshal(values)
	if err != nil {
		return fault.NewWithCause(fault.Invalid, err, "the values are no JSON")
	}
	if values == nil {
		object = []byte("{}")
	}
	if err := f.ReadFacts(object); err != nil {
		return err
	}
	for at := range f.values {
		f.value(at)
	}
	if len(f.reasons) > 0 {
		bad := f.reasons[0]
		return fault.New(fault.Invalid, "%s: %s %s", bad.Name, bad.Reason, bad.Detail)
	}
	return nil
}

// withChange returns an example with other values in their place.
func withChange(e, change Example) Example {
	out := Example{Res: merged(e.Res, change.Res), M: merged(e.M, change.M), Org: merged(e.Org, change.Org)}
	for _, name := range change.NoPoints {
		delete(out.M, name)
	}
	for _, name := range append(slices.Clone(e.NoPoints), change.NoPoints...) {
		if _, measured := out.M[name]; !measured {
			out.NoPoints = append(out.NoPoints, name)
		}
	}
	return out
}

func merged[V any](a, b map[string]V) map[string]V {
	out := map[string]V{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// withoutNames returns an example without some values.
func withoutNames(e Example, names []string) Example {
	out := withChange(e, Example{})
	for _, full := range names {
		group, name, _ := strings.Cut(full, ".")
		switch group {
		case "res":
			delete(out.Res, name)
		case "m":
			delete(out.M, name)
			out.NoPoints = slices.DeleteFunc(out.NoPoints, func(n string) bool { return n == name })
		case "org":
			delete(out.Org, name)
		}
	}
	return out
}

// missingNames returns the names of the missing values of a result.
func missingNames(r Result) []string {
	var out []string
	for _, m := range r.Missing {
		out = append(out, m.Name)
	}
	return out
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func describeNames(names []string) string {
	if len(names) == 0 {
		return "nothing is missing"
	}
	return strings.Join(names, ", ") + " missing"
}
