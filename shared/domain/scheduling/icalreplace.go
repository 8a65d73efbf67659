package scheduling

import (
	"errors"
	"fmt"
	"strings"

	"github.com/emersion/go-ical"
)

// replaceInstances removes from repeating events the instances that other events with their uid replace or cancel
// (RECURRENCE-ID). It marks outdated revisions as cancelled, and also the replacements in a series that is cancelled
// as a whole. On error it returns the index of the bad event.
func replaceInstances(events []event, strict bool) (int, error) {
	dropOutdated(events)
	series := map[string][]*event{}
	for i := range events {
		if e := &events[i]; e.instance == nil && e.uid != "" {
			series[e.uid] = append(series[e.uid], e)
		}
	}
	for i := range events {
		e := &events[i]
		if e.instance == nil {
			continue
		}
		for _, s := range series[e.uid] {
			if s.start.day != e.instance.day && strict {
				return i,
					wrongProp(ical.PropRecurrenceID, 0,
						"RECURRENCE-ID and the DTSTART of the event that it belongs to are not both dates, or "+
							"both times")
			}
			s.not = append(s.not, *e.instance)
		}
		e.cancelled = e.cancelled || allCancelled(series[e.uid])
	}
	return 0, nil
}

// allCancelled reports whether there are events, and all of them are cancelled.
func allCancelled(all []*event) bool {
	for _, e := range all {
		if !e.cancelled {
			return false
		}
	}
	return len(all) > 0
}

// dropOutdated marks the events or instances that have a later revision in the text (SEQUENCE) as cancelled.
func dropOutdated(events []event) {
	latest := map[string]int{}
	for i := range events {
		k := events[i].revisionKey()
		if n, known := latest[k]; !known || events[i].sequence > n {
			latest[k] = events[i].sequence
		}
	}
	for i := range events {
		if e := &events[i]; e.uid != "" && e.sequence < latest[e.revisionKey()] {
			e.cancelled = true
			if e.instance == nil {
				e.uid = "" // replacements belong to the latest revision
			}
		}
	}
}

// revisionKey returns a key that all revisions of an event or instance share.
func (e *event) revisionKey() string {
	if e.instance == nil {
		return e.uid
	}
	zone := ""
	if e.instance.loc != nil {
		zone = e.instance.loc.String()
	}
	return fmt.Sprintf("%s\n%s %s", e.uid, e.instance.at, zone)
}

// eventLines holds the line on which an event begins, and the lines of its properties by name.
type eventLines struct {
	begin int
	props map[string][]int
}

// textLines are the lines of the events of a text, counted from 1.
type textLines []eventLines

// name returns the line of the error in the nth event as "line 12: ".
func (l textLines) name(n int, err error) string {
	if n >= len(l) {
		return ""
	}
	line := l[n].begin
	if wrong, ok := errors.AsType[*propError](err); ok && wrong.nth < len(l[n].props[wrong.prop]) {
		line = l[n].props[wrong.prop][wrong.nth]
	}
	return fmt.Sprintf("line %d: ", line)
}

// indexLines finds the lines of the events of an iCalendar text.
func indexLines(text string) textLines {
	var out textLines
	var inside []string // the open components at the line
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		if line == "" || line[0] == ' ' || line[0] == '\t' { // continuation of the previous line
			continue
		}
		name, value, _ := strings.Cut(strings.ToUpper(strings.TrimRight(line, "\r")), ":")
		name, _, _ = strings.Cut(name, ";")
		isEvent := len(inside) == 2 && inside[1] == ical.CompEvent
		switch {
		case name == "BEGIN":
			if inside = append(inside, value); len(inside) == 2 && value == ical.CompEvent {
				out = append(out, eventLines{number, map[string][]int{}})
			}
		case name == "END" && len(inside) > 0:
			inside = inside[:len(inside)-1]
		case isEvent:
			props := out[len(out)-1].props
			props[name] = append(props[name], number)
		}
	}
	return out
}
