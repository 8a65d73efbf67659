package scheduling

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/emersion/go-ical"

	"lamplighter.dev/shared/foundation/fault"
)

// Bounds of an iCalendar text.
const (
	maxEvents    = 500
	maxRecurring = 50 // events that repeat
	maxListed    = 500
	firstEvent   = 2000 // the earliest year in which an event may begin
)

// parseEvents parses the events of an iCalendar text (RFC 5545) and omits cancelled and replaced events. The error is
// fault.Invalid and names the field, the line and the invalid part. With strict false it parses a text that an
// earlier version accepted: it ignores the parts that the earlier version ignored, so that a schedule does not stop
// firing.
func parseEvents(field, text string, strict bool) ([]event, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > MaxICalendar {
		return nil, fault.New(
			fault.Invalid, "%s: it has %d bytes, at most %d are taken; leave out past events", field, len(text),
			MaxICalendar)
	}
	found, err := decodeEvents(text)
	if err != nil {
		return nil, fault.NewWithCause(
			fault.Invalid, err, "%s: it is no iCalendar text (RFC 5545): %.200s", field,
			strings.TrimPrefix(err.Error(), "ical: "))
	}
	if len(found) == 0 || len(found) > maxEvents {
		return nil, fault.New(
			fault.Invalid, "%s: it has %d events (VEVENT); send 1 to %d", field, len(found), maxEvents)
	}
	out := make([]event, len(found))
	if bad, err := readEvents(found, out, strict); err != nil {
		return nil, fault.New(
			fault.Invalid, "%s: %sevent %d (%.60s): %s", field, indexLines(text).name(bad, err), bad+1, out[bad].name,
			err)
	}
	out = slices.DeleteFunc(out, func(e event) bool { return e.cancelled })
	recurring := 0
	for i := range out {
		if out[i].rule != nil {
			recurring++
		}
	}
	if recurring > maxRecurring {
		return nil, fault.New(fault.Invalid, "%s: %d events repeat; at most %d may", field, recurring, maxRecurring)
	}
	return out, nil
}

// readEvents converts the decoded events. On error it returns the index of the bad event.
func readEvents(found []decoded, out []event, strict bool) (bad int, err error) {
	for i := range found {
		r := eventReader{from: &found[i].Event, strict: strict}
		if out[i], err = r.read(); err != nil {
			return i, err
		}
		out[i].cancelled = out[i].cancelled || found[i].cancelled
	}
	return replaceInstances(out, strict)
}

// decoded is an event from the iCalendar library. cancelled is true when the METHOD of its whole calendar is CANCEL.
type decoded struct {
	ical.Event
	cancelled bool
}

// decodeEvents decodes all calendars of a text. It recovers because the library panics on some malformed parameters.
func decodeEvents(text string) (out []decoded, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed: %v", r)
		}
	}()
	for dec := ical.NewDecoder(strings.NewReader(text)); ; {
		c, err := dec.Decode()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		method := c.Props.Get(ical.PropMethod)
		for _, e := range c.Events() {
			out = append(out, decoded{e, method != nil && strings.EqualFold(method.Value, "CANCEL")})
		}
	}
}
