package azure

import "lamplighter.dev/shared/cloud"

// largestSize is a bound on sizes that no service of Azure comes near.
const largestSize = 1_000_000

// size is the capacity of a scaled resource. A resource without an autoscaler has no bounds of its own.
type size struct {
	desired int64
	bounds  *bounds
}

// bounds are the limits that an autoscaler keeps a size within.
type bounds struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// withCapacity returns the size with the wanted numbers. Numbers that contradict each other are class Invalid, before
// a request is sent.
func (s size) withCapacity(c cloud.Capacity) (size, error) {
	for _, n := range []*int64{c.Min, c.Max, c.Desired} {
		if n != nil && (*n < 0 || *n > largestSize) {
			return s, cloud.ErrInvalid("a size of %d is not possible", *n)
		}
	}
	if c.Min != nil && c.Max != nil && *c.Min > *c.Max {
		return s, cloud.ErrInvalid("minimum %d is above maximum %d", *c.Min, *c.Max)
	}
	if s.bounds == nil && (c.Min != nil || c.Max != nil) {
		return s, cloud.ErrInvalid(
			"it is not autoscaled, so it has no minimum and maximum: give the desired size alone")
	}
	s.desired = given64(c.Desired, s.desired)
	if s.bounds == nil {
		return s, nil
	}
	s.bounds = &bounds{given64(c.Min, s.bounds.Min), given64(c.Max, s.bounds.Max)}
	return s, s.checkSize()
}

func (s size) checkSize() error {
	switch b := s.bounds; {
	case b.Min > b.Max:
		return cloud.ErrInvalid("minimum %d is above maximum %d: give both", b.Min, b.Max)
	case s.desired < b.Min:
		return cloud.ErrInvalid("desired %d is below minimum %d: lower the minimum too", s.desired, b.Min)
	case s.desired > b.Max:
		return cloud.ErrInvalid("desired %d is above maximum %d: raise the maximum too", s.desired, b.Max)
	}
	return nil
}

func given64(n *int64, otherwise int64) int64 {
	if n == nil {
		return otherwise
	}
	return *n
}

func (s size) capacityMap() map[string]int64 {
	m := map[string]int64{"desired": s.desired}
	if s.bounds != nil {
		m["min"], m["max"] = s.bounds.Min, s.bounds.Max
	}
	return m
}
