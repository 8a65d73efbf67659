package resource

import (
	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
)

// Size is a capacity with a minimum, a maximum and a desired count.
type Size struct {
	Min     int32 `json:"min"`
	Max     int32 `json:"max"`
	Desired int32 `json:"desired"`
}

// WithCapacity returns the size with the values of c. A size that contradicts itself is class Invalid: AWS's own
// answers to that differ by service, and some services accept it.
func (s Size) WithCapacity(c cloud.Capacity) (Size, error) {
	for _, f := range []struct {
		to   *int32
		from *int64
	}{{&s.Min, c.Min}, {&s.Max, c.Max}, {&s.Desired, c.Desired}} {
		if f.from == nil {
			continue
		}
		if *f.from < 0 || *f.from > 1_000_000 {
			return s, cloud.ErrInvalid("a size of %d is not possible", *f.from)
		}
		*f.to = int32(*f.from)
	}
	switch {
	case s.Min > s.Max:
		return s, cloud.ErrInvalid("minimum %d is above maximum %d: give both", s.Min, s.Max)
	case s.Desired < s.Min:
		return s, cloud.ErrInvalid("desired %d is below minimum %d: lower the minimum too", s.Desired, s.Min)
	case s.Desired > s.Max:
		return s, cloud.ErrInvalid("desired %d is above maximum %d: raise the maximum too", s.Desired, s.Max)
	}
	return s, nil
}

// CapacityMap returns the size as a resource's capacity.
func (s Size) CapacityMap() map[string]int64 {
	return map[string]int64{"min": int64(s.Min), "max": int64(s.Max), "desired": int64(s.Desired)}
}

// ChangedTo returns the size that a start restores. The stop has set the values to 0; a value in live that is not 0
// was changed since. It stays as it is, and the other values are adjusted to it.
func (s Size) ChangedTo(live Size) Size {
	for _, f := range []struct{ to, live *int32 }{
		{&s.Min, &live.Min},
		{&s.Max, &live.Max},
		{&s.Desired, &live.Desired},
	} {
		if *f.live != 0 {
			*f.to = *f.live
		}
	}
	switch {
	case s.Min > s.Max && live.Min != 0:
		s.Max = s.Min
	case s.Min > s.Max:
		s.Min = s.Max
	}
	s.Desired = min(max(s.Desired, s.Min), s.Max)
	return s
}

// OrUnknown returns the size of a resource without a remembered size. A desired size of 0 is class Unsupported.
func (s Size) OrUnknown(name string) (Size, error) {
	if s.Desired == 0 {
		return s, cloud.ErrUnsupported("%s", cloud.NoSizeRemembered(name))
	}
	return s, nil
}

// CountIf returns the number of members of the list that meet the condition.
func CountIf[T any](list []T, is func(T) bool) int32 {
	var n int32
	for _, v := range list {
		if is(v) {
			n++
		}
	}
	return n
}

// SizeOf returns the size of AWS's numbers; nil is 0.
func SizeOf(least, most, desired *int32) Size {
	return Size{Min: sdk.ToInt32(least), Max: sdk.ToInt32(most), Desired: sdk.ToInt32(desired)}
}
