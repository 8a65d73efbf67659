package rest

import (
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/foundation/fault"
)

// Time is a moment that a client sends, in a query or in a body: RFC 3339, or a date, which is the start of that day in
// UTC. It is the only type for a moment in an input: Mount refuses a time.Time there, whose errors name a layout. A moment
// before 1970 counts as the beginning of that year: there was nothing to list, and the zero Time is one that was not sent.
type Time struct {
	time.Time

	unread bool // a body had something else
}

var (
	errTime  = errors.New("expected a time as RFC 3339, such as 2026-11-22T09:30:00Z, or a date, such as 2026-11-22")
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
)

// UnmarshalText reads a moment.
func (t *Time) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		err = at.UnmarshalText(text) // stricter than time.Parse
	}
	if err != nil {
		return errTime // the library's own words hold a layout, and all of the text
	}
	if t.Time = at.UTC(); at.Before(earliest) {
		t.Time = earliest
	}
	return nil
}

// UnmarshalJSON reads a moment of a body. What is none, Resolve refuses: it knows the name of the member.
func (t *Time) UnmarshalJSON(b []byte) error {
	var text string
	_ = json.Unmarshal(b, &text) // what is no text stays "", which is no moment
	t.unread = t.UnmarshalText([]byte(text)) != nil
	return nil
}

// Resolve refuses a member of a body that was none of the forms, by its name.
func (t *Time) Resolve(_ huma.Context, prefix *huma.PathBuffer) []error {
	if !t.unread {
		return nil
	}
	return []error{&huma.ErrorDetail{Location: prefix.String(), Message: errTime.Error()}}
}

// Schema documents both forms. UnmarshalText alone holds a moment to them, so that every error has the same words.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Examples: []any{"2026-11-22", "2026-11-22T09:30:00Z"}}
}

// Window is the query that bounds a list by time; embed it in an operation's input.
type Window struct {
	From Time `query:"from" doc:"At or after this time: RFC 3339, or a date, which is the start of that day in UTC"`
	To   Time `query:"to" doc:"Before this time: RFC 3339, or a date, which is the start of that day in UTC"`
}

// Open reports whether the window bounds nothing.
func (w *Window) Open() bool { return w.From.IsZero() && w.To.IsZero() }

func (w *Window) bounds() bounds { return bounds{"from", w.From, "to", w.To} }

// Created is the query that bounds a list by when its things were made; embed it in an operation's input.
type Created struct {
	After  Time `query:"created_after" doc:"Made at or after this time: RFC 3339, or a date, which is the start of that day in UTC"`
	Before Time `query:"created_before" doc:"Made before this time: RFC 3339, or a date, which is the start of that day in UTC"`
}

func (c *Created) bounds() bounds {
	return bounds{"created_after", c.After, "created_before", c.Before}
}

// bounds are two parameters between which something must lie.
type bounds struct {
	first string
	from  Time
	last  string
	to    Time
}

// check refuses a time that ends before it begins.
func (b bounds) check() error {
	if b.from.IsZero() || b.to.IsZero() || !b.from.After(b.to.Time) {
		return nil
	}
	return fault.New(fault.Invalid, "%s: %s is after %s, which is %s", b.first, b.from.Format(time.RFC3339Nano), b.last,
		b.to.Format(time.RFC3339Nano))
}

type bounded interface{ bounds() bounds }

// boundedIn returns the places in an input, which is a struct, of what bounds a list by time.
func boundedIn(input reflect.Type) [][]int {
	var out [][]int
	for f := range inputFields(input) {
		if f.Anonymous && (f.Type == reflect.TypeFor[Window]() || f.Type == reflect.TypeFor[Created]()) {
			out = append(out, f.Index)
		}
	}
	return out
}

// checkBounds refuses an input of which a time at one of the places ends before it begins.
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
