package scheduling

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// events makes an iCalendar text. Each event is a list of lines.
func events(all ...[]string) string {
	lines := []string{"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x"}
	for _, e := range all {
		lines = append(lines, "BEGIN:VEVENT")
		lines = append(lines, e...)
		lines = append(lines, "END:VEVENT")
	}
	return strings.Join(append(lines, "END:VCALENDAR", ""), "\r\n")
}

// The series has a holiday on every Thursday from 3 December 2026. One holiday is moved, cancelled or removed. The
// test checks 23 to 26 December.
func TestICalendar_InstancesAreReplacedAndCancelled(t *testing.T) {
	weekly := []string{"UID:w", "DTSTART;VALUE=DATE:20261203", "RRULE:FREQ=WEEKLY"}
	berlin := []string{"UID:b", "DTSTART;TZID=Europe/Berlin:20261203T180000", "DURATION:PT2H", "RRULE:FREQ=WEEKLY"}
	for name, c := range map[string]struct {
		events [][]string
		want   string
	}{
		"as it is": {[][]string{weekly}, "24T00-24T23 24"},
		"an instance that is moved applies once": {
			[][]string{weekly, {"UID:w", "RECURRENCE-ID;VALUE=DATE:20261224", "DTSTART;VALUE=DATE:20261225"}},
			"25T00-25T23 24",
		},
		"also when the moved one stands before its series": {
			[][]string{{"UID:w", "RECURRENCE-ID;VALUE=DATE:20261224", "DTSTART;VALUE=DATE:20261225"}, weekly},
			"25T00-25T23 24",
		},
		"an instance that is moved away": {
			[][]string{weekly, {"UID:w", "RECURRENCE-ID;VALUE=DATE:20261224", "DTSTART;VALUE=DATE:20270105"}}, "never",
		},
		"the instance of another series is another one": {
			[][]string{weekly, {"UID:x", "RECURRENCE-ID;VALUE=DATE:20261224", "DTSTART;VALUE=DATE:20270105"}},
			"24T00-24T23 24",
		},
		"an instance that is cancelled": {
			[][]string{
				weekly,
				{"UID:w", "RECURRENCE-ID;VALUE=DATE:20261224", "DTSTART;VALUE=DATE:20261224", "STATUS:CANCELLED"},
			},
			"never",
		},
		"a series that is cancelled, with a moved instance": {
			[][]string{
				append(slices.Clone(weekly), "STATUS:CANCELLED"),
				{"UID:w", "RECURRENCE-ID;VALUE=DATE:20261224", "DTSTART;VALUE=DATE:20261225"},
			}, "never",
		},
		"an event that is cancelled": {[][]string{{
			"UID:e", "DTSTART;VALUE=DATE:20261224",
			"STATUS:CANCELLED",
		}}, "never"},
		"an event that is tentative is one": {[][]string{{
			"UID:e", "DTSTART;VALUE=DATE:20261224",
			"STATUS:TENTATIVE",
		}}, "24T00-24T23 24"},
		"an instance that is named in UTC": {[][]string{
			berlin,
			{"UID:b", "RECURRENCE-ID:20261224T170000Z", "DTSTART:20261225T100000Z", "DURATION:PT1H"},
		}, "25T10-25T10 1"},
		"an instance that is named in its own zone": {
			[][]string{
				berlin,
				{
					"UID:b", "RECURRENCE-ID;TZID=Europe/Berlin:20261224T180000", "DTSTART:20261225T100000Z",
					"DURATION:PT1H",
				},
			},
			"25T10-25T10 1",
		},
		"an exception in UTC": {[][]string{append(slices.Clone(berlin),
			"EXDATE:20261224T170000Z")}, "never"},
		"an exception in another zone": {[][]string{append(slices.Clone(berlin),
			"EXDATE;TZID=America/New_York:20261224T120000")}, "never"},
		"an exception of the same clock elsewhere": {[][]string{append(slices.Clone(berlin),
			"EXDATE;TZID=America/New_York:20261224T180000")}, "24T17-24T18 2"},
		"an added date in UTC": {[][]string{{
			"UID:r", "DTSTART;TZID=Europe/Berlin:20261203T180000",
			"DURATION:PT1H", "RDATE:20261224T170000Z",
		}}, "24T17-24T17 1"},
		"an end in UTC": {[][]string{{
			"UID:z", "DTSTART;TZID=Europe/Berlin:20261224T100000",
			"DTEND:20261224T110000Z",
		}}, "24T09-24T10 2"},
		"an end in another zone": {[][]string{{
			"UID:z", "DTSTART;TZID=Europe/Berlin:20261224T100000",
			"DTEND;TZID=America/New_York:20261224T060000",
		}}, "24T09-24T10 2"},
		"an end without a zone is in the start's": {[][]string{{
			"UID:z", "DTSTART;TZID=Europe/Berlin:20261224T100000",
			"DTEND:20261224T120000",
		}}, "24T09-24T10 2"},
		"an older revision": {[][]string{
			{"UID:v", "SEQUENCE:1", "DTSTART;VALUE=DATE:20261225"},
			{"UID:v", "DTSTART;VALUE=DATE:20261224"},
		}, "25T00-25T23 24"},
	} {
		t.Run(name, func(t *testing.T) {
			equal(t, name, closedHours(t, "UTC", Calendar{ICalendar: events(c.events...)}, "2026-12-23T00:00Z"), c.want)
		})
	}
}

func TestICalendar_ACalendarThatCancelsClosesNothing(t *testing.T) {
	text := strings.Replace(events([]string{"UID:1", "DTSTART;VALUE=DATE:20261224"}), "PRODID:x",
		"PRODID:x\r\nMETHOD:CANCEL", 1)
	equal(t, "closed", closedHours(t, "UTC", Calendar{ICalendar: text}, "2026-12-23T00:00Z"), "never")
}

// Strict parsing refuses unsupported properties and names their line. A text that an earlier version accepted can
// still be read.
func TestICalendar_WhatIsRefusedNamesItsLine(t *testing.T) {
	weekly := []string{"UID:w", "DTSTART;VALUE=DATE:20261203", "RRULE:FREQ=WEEKLY"}
	clock := []string{"UID:w", "DTSTART:20261203T100000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY"}
	for name, c := range map[string]struct {
		events [][]string
		words  string
		old    bool // an earlier version accepted it
	}{
		"a whole future": {
			[][]string{
				weekly,
				{"UID:w", "RECURRENCE-ID;VALUE=DATE;RANGE=THISANDFUTURE:20261224", "DTSTART;VALUE=DATE:20261225"},
			},
			"line 11: event 2 (): RECURRENCE-ID with RANGE", true,
		},
		"an instance of a time": {
			[][]string{
				weekly,
				{"UID:w", "DTSTART;VALUE=DATE:20261225", "RECURRENCE-ID:20261224T100000"},
			},
			"line 12: event 2 (): RECURRENCE-ID and the DTSTART", true,
		},
		"an instance of no event": {
			[][]string{{"DTSTART;VALUE=DATE:20261225", "RECURRENCE-ID;VALUE=DATE:20261224"}},
			"line 6: event 1 (): RECURRENCE-ID", true,
		},
		"an exception of a day": {
			[][]string{append(slices.Clone(clock), "EXDATE;VALUE=DATE:20261210")},
			"line 9: event 1 (): EXDATE", true,
		},
		"the second exception": {[][]string{append(slices.Clone(clock), "EXDATE:20261210T100000",
			"EXDATE:tomorrow")}, "line 10: event 1 (): EXDATE", false},
		"a folded line before": {[][]string{{
			"UID:w", "DESCRIPTION:long", " and longer",
			"DTSTART;VALUE=DATE:20261203", "EXRULE:FREQ=DAILY",
		}}, "line 9: event 1 (): EXRULE", true},
		"an end of another form": {
			[][]string{{"UID:w", "DTSTART;VALUE=DATE:20261203", "DTEND:20261204T100000Z"}},
			"line 7: event 1 (): DTEND", true,
		},
		"a zone of the end alone": {[][]string{{
			"UID:w", "DTSTART:20261203T100000",
			"DTEND;TZID=Europe/Berlin:20261203T120000",
		}}, "line 7: event 1 (): DTEND", true},
		"a zone nobody knows": {[][]string{{
			"UID:w", "SUMMARY:New Year", "DTSTART;TZID=Mars:20261203T100000",
			"DURATION:PT1H",
		}}, "line 7: event 1 (New Year): DTSTART names the zone", false},
	} {
		t.Run(name, func(t *testing.T) {
			cal := Calendar{ID: "cal_1", ICalendar: events(c.events...)}
			err := cal.Check(year.From, nil)
			if err == nil || !strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), "iCalendar: ") {
				t.Errorf("%v; want %q", err, c.words)
			}
			if _, err = cal.closures(time.UTC, year); c.old && err != nil {
				t.Errorf("an earlier version has taken it, and it cannot be read any more: %v", err)
			}
		})
	}
}
