package aws

import (
	"encoding/json"
	"fmt"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
)

// size is the capacity of something that has a minimum, a maximum and a desired count.
type size struct {
	Min     int32 `json:"min"`
	Max     int32 `json:"max"`
	Desired int32 `json:"desired"`
}

// withCapacity returns the size with what is wanted put in. A size that contradicts itself is class Invalid: AWS's own answers to
// that differ by service, and some accept it.
func (s size) withCapacity(c cloud.Capacity) (size, error) {
	for _, f := range []struct {
		to   *int32
		from *int64
	}{{&s.Min, c.Min}, {&s.Max, c.Max}, {&s.Desired, c.Desired}} {
		if f.from == nil {
			continue
		}
		if *f.from < 0 || *f.from > 1_000_000 {
			return s, errInvalid("a size of %d is not possible", *f.from)
		}
		*f.to = int32(*f.from)
	}
	switch {
	case s.Min > s.Max:
		return s, errInvalid("minimum %d is above maximum %d: give both", s.Min, s.Max)
	case s.Desired < s.Min:
		return s, errInvalid("desired %d is below minimum %d: lower the minimum too", s.Desired, s.Min)
	case s.Desired > s.Max:
		return s, errInvalid("desired %d is above maximum %d: raise the maximum too", s.Desired, s.Max)
	}
	return s, nil
}

func (s size) capacityMap() map[string]int64 {
	return map[string]int64{"min": int64(s.Min), "max": int64(s.Max), "desired": int64(s.Desired)}
}

// changedTo returns the size that a start gives back, where the stop has set what is 0 in live: a number that somebody has changed
// since stays as it is, and the others give way to it.
func (s size) changedTo(live size) size {
	for _, f := range []struct{ to, live *int32 }{{&s.Min, &live.Min}, {&s.Max, &live.Max},
		{&s.Desired, &live.Desired}} {
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

// orUnknown returns the size of something of which nothing is remembered. It is class Unsupported where that is off.
func (s size) orUnknown(name string) (size, error) {
	if s.Desired == 0 {
		return s, errUnsupported("%s", cloud.NoSizeRemembered(name))
	}
	return s, nil
}

// encodeSnapshot encodes what a stop forgets.
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
		return v, false, errInvalid("the remembered size %s cannot be read: %v", raw, err)
	}
	return v, true, nil
}

func countIf[T any](list []T, is func(T) bool) int32 {
	var n int32
	for _, v := range list {
		if is(v) {
			n++
		}
	}
	return n
}

func sizeOf(least, most, desired *int32) size {
	return size{Min: sdk.ToInt32(least), Max: sdk.ToInt32(most), Desired: sdk.ToInt32(desired)}
}
