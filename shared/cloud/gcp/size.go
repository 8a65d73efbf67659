package gcp

import (
	"encoding/json"
	"fmt"
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

// encodeSnapshot encodes the state that a stop overwrites and a start restores.
func encodeSnapshot(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil { // of structs of numbers and strings: a defect of ours
		panic(fmt.Sprintf("encode snapshot %+v: %v", v, err))
	}
	return b
}

// decodeSnapshot decodes a snapshot; ok is false when there is none.
func decodeSnapshot[T any](raw json.RawMessage) (v T, ok bool, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return v, false, nil
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, false, cloud.ErrInvalid("the remembered state %s cannot be read: %v", raw, err)
	}
	return v, true, nil
}

// tagsOf returns labels as tags; never nil.
func tagsOf(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return maps.Clone(labels)
}
