package rest

import (
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/foundation/fault"
)

// Time is a time in a query or a body: RFC 3339, or a date, which means the start of that day in UTC. It is the only
// type for times in inputs: Mount refuses time.Time, whose errors show a Go layout. Times before 1970 count as the
// start of 1970. The zero Time was not sent.
type Time struct {
	time.Time

	unread bool // a body contained an invalid time
}

var (
	errTime  = errors.New("expected a time as RFC 3339, such as 2026-11-22T09:30:00Z, or a date, such as 2026-11-22")
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
)

// UnmarshalText reads a time.
func (t *Time) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		err = at.UnmarshalText(text) // stricter than time.Parse
	}
	if err != nil {
		return errTime // the library's error contains a layout, and the whole text
	}
	if t.Time = at.UTC(); at.Before(earliest) {
		t.Time = earliest
	}
	return nil
}

// UnmarshalJSON reads a time of a body. Resolve returns the error for an invalid one, because it gets the name of the
// member.
func (t *Time) UnmarshalJSON(b []byte) error {
	var text string
	_ = json.Unmarshal(b, &text) // if it is not a string, text stays "", which is invalid
	t.unread = t.UnmarshalText([]byte(text)) != nil
	return nil
}

// Resolve returns the error for an invalid time of a body, with the name of the member.
func (t *Time) Resolve(_ huma.Context, prefix *huma.PathBuffer) []error {
	if !t.unread {
		return nil
	}
	return []error{&huma.ErrorDetail{Location: prefix.String(), Message: errTime.Error()}}
}

// Schema documents both forms. UnmarshalText validates them, not the framework, so that all errors have the same words.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Examples: []any{"2026-11-22", "2026-11-22T09:30:00Z"}}
}

// Window is the query that restricts a list by time. Embed it in an operation's input.
type Window struct {
	From Time `query:"from" doc:"At or after this time: RFC 3339, or a date, which is the start of that day in UTC"`
	To   Time `query:"to" doc:"Before this time: RFC 3339, or a date, which is the start of that day in UTC"`
}

// Open reports whether the window has no bounds.
func (w *Window) Open() bool { return w.From.IsZero() && w.To.IsZero() }

func (w *Window) bounds() bounds { return bounds{"from", w.From, "to", w.To} }

// Created is the query that restricts a list by creation time. Embed it in an operation's input.
type Created struct {
	After  Time `query:"created_after" doc:"Created at or after this time: RFC 3339, or a date, which is the start of that day in UTC"`
	Before Time `query:"created_before" doc:"Created before this time: RFC 3339, or a date, which is the start of that day in UTC"`
}

func (c *Created) bounds() bounds {
	return bounds{"created_after", c.After, "created_before", c.Before}
}

// bounds are two parameters that restrict a time.
type bounds struct {
	first string
	from  Time
	last  string
	to    Time
}

// check returns an error if the start is after the end.
func (b bounds) check() error {
	if b.from.IsZero() || b.to.IsZero() || !b.from.After(b.to.Time) {
		return nil
	}
	return fault.New(fault.Invalid, "%s: %s is after %s, which is %s", b.first, b.from.Format(time.RFC3339Nano), b.last,
		b.to.Format(time.RFC3339Nano))
}

type bounded interface{ bounds() bounds }

// boundedIn returns the indexes of Window and Created in an input, which is a struct.
func boundedIn(input reflect.Type) [][]int {
	var out [][]int
	for f := range inputFields(input) {
		if f.Anonymous && (f.Type == reflect.TypeFor[Window]() || f.Type == reflect.TypeFor[Created]()) {
			out = append(out, f.Index)
		}
	}
	return out
}

// checkBounds returns an error if a Window or Created of an input starts after its end.
func checkBounds(in any, places [][]int) error {
	v := reflect.ValueOf(in).Elem()
	for _, at := range places {
		b, _ := reflect.TypeAssert[bounded](v.FieldByIndex(at).Addr())
		if err := b.bounds().check(); err != nil {
			return err
		}
	}
	return nil
}
