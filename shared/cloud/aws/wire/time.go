package wire

import (
	"encoding/json"
	"time"

	smithytime "github.com/aws/smithy-go/time"
)

// Time is a time in an API. It is written as a number of seconds in JSON, and as ISO 8601 in XML and forms; both are
// read in any place.
type Time struct{ time.Time }

// NewTime returns a time that a request can hold.
func NewTime(t time.Time) *Time { return &Time{t} }

// Value returns the time, or the zero time if t is nil.
func (t *Time) Value() time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// MarshalJSON writes seconds since 1970, with up to three decimals.
func (t Time) MarshalJSON() ([]byte, error) {
	return json.Marshal(smithytime.FormatEpochSeconds(t.Time))
}

// UnmarshalJSON reads seconds since 1970, or ISO 8601.
func (t *Time) UnmarshalJSON(b []byte) error {
	var seconds float64
	if err := json.Unmarshal(b, &seconds); err == nil {
		t.Time = smithytime.ParseEpochSeconds(seconds)
		return nil
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	return t.UnmarshalText([]byte(text))
}

// MarshalText writes ISO 8601.
func (t Time) MarshalText() ([]byte, error) { return []byte(smithytime.FormatDateTime(t.Time)), nil }

// UnmarshalText reads ISO 8601.
func (t *Time) UnmarshalText(b []byte) error {
	at, err := smithytime.ParseDateTime(string(b))
	t.Time = at
	return err
}

// UnwrapTimes returns the times of a list.
func UnwrapTimes(list []Time) []time.Time {
	out := make([]time.Time, len(list))
	for i, t := range list {
		out[i] = t.Time
	}
	return out
}
