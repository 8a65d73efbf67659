package gcp

import (
	"maps"

	"lamplighter.dev/shared/cloud"
)

// largestSize bounds a size that something has no maximum for.
const largestSize = 1_000_000

// size is the capacity of something that has a minimum, a maximum and a desired count.
type size struct{ Min, Max, Desired int64 }

// withCapacity returns the size with the wanted numbers. Bounds that contradict each other are class Invalid. So is a
// wanted desired size outside of the bounds.
func (s size) withCapacity(c cloud.Capacity) (size, error) {
	for _, f := range []struct{ to, from *int64 }{{&s.Min, c.Min}, {&s.Max, c.Max}, {&s.Desired, c.Desired}} {
		if f.from == nil {
			continue
		}
		if *f.from < 0 || *f.from > largestSize {
			return s, cloud.ErrInvalid("a size of %d is not possible", *f.from)
		}
		*f.to = *f.from
	}
	switch {
	case s.Min > s.Max:
		return s, cloud.ErrInvalid("minimum %d is above maximum %d: give both", s.Min, s.Max)
	case c.Desired != nil && s.Desired < s.Min:
		return s, cloud.ErrInvalid("desired %d is below minimum %d: lower the minimum too", s.Desired, s.Min)
	case c.Desired != nil && s.Desired > s.Max:
		return s, cloud.ErrInvalid("desired %d is above maximum %d: raise the maximum too", s.Desired, s.Max)
	}
	return s, nil
}

// changesBounds reports whether a minimum or a maximum is wanted.
func changesBounds(c cloud.Capacity) bool { return c.Min != nil || c.Max != nil }

// tagsOf returns labels as tags; never nil.
func tagsOf(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return maps.Clone(labels)
}
