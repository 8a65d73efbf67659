package scheduling

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

var year = Span{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}

// newSchedule makes an enabled schedule of lines like "start 0 8 * * *".
func newSchedule(id, zone string, lines ...string) Schedule {
	s := Schedule{ID: id, Name: id, Timezone: zone, Enabled: true}
	for i, l := range lines {
		verb, cron, _ := strings.Cut(l, " ")
		s.Crons = append(s.Crons, CronLine{fmt.Sprint("cron_", i), cron, cloud.Verb(verb)})
	}
	return s
}

func timetable(t testing.TB, s Schedule, calendars ...Calendar) *Timetable {
	t.Helper()
	by := map[string]Calendar{}
	for _, c := range calendars {
		by[c.ID] = c
		s.CalendarIDs = append(s.CalendarIDs, c.ID)
	}
	out, err := NewTimetable(s, by, year)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func printFirings(t *Timetable, s Span) string {
	var b strings.Builder
	for f := range t.Firings(s) {
		fmt.Fprintf(&b, "%s %s %s|", f.At.Format("01-02T15:04"), f.Cron.Action, f.Skip.Reason)
	}
	return b.String()
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestTimetable_Firings(t *testing.T) {
	day := Span{at(t, "2026-12-24T00:00Z"), at(t, "2026-12-25T00:00Z")}
	plain := newSchedule("sch_1", "UTC", "stop 0 20 * * *", "start 0 8 * * *", "start 0 20 * * *")
	equal(t, "in order, those of a minute in the order of their crons", printFirings(timetable(t, plain), day),
		"12-24T08:00 start |12-24T20:00 stop |12-24T20:00 start |")
	equal(t, "the beginning is in it, the end is not",
		printFirings(timetable(t, plain), Span{at(t, "2026-12-24T08:00Z"), at(t, "2026-12-24T20:00Z")}),
		"12-24T08:00 start |")
	equal(t, "a second after the beginning of a minute it is over",
		printFirings(timetable(t, plain),
			Span{at(t, "2026-12-24T08:00Z").Add(time.Second), at(t, "2026-12-24T20:00Z")}), "")
	off := plain
	off.Enabled = false
	equal(t, "disabled", printFirings(timetable(t, off), day),
		"12-24T08:00 start disabled|12-24T20:00 stop disabled|12-24T20:00 start disabled|")
	for effect, want := range map[Effect]string{
		StayStopped: "12-24T08:00 start calendar|12-24T20:00 stop |12-24T20:00 start calendar|",
		StayRunning: "12-24T08:00 start |12-24T20:00 stop calendar|12-24T20:00 start |",
		NoAction:    "12-24T08:00 start calendar|12-24T20:00 stop calendar|12-24T20:00 start calendar|",
	} {
		c := Calendar{ID: "cal_1", Effect: effect, Entries: []Entry{{From: "2020-12-24", Yearly: true}}}
		equal(t, string(effect), printFirings(timetable(t, plain, c), day), want)
	}
}

// closedHours returns the hours of UTC, as "first-last", at which a calendar closes a schedule of a zone during two
// days.
func closedHours(t *testing.T, zone string, c Calendar, from string) string {
	t.Helper()
	c.ID, c.Effect = "cal_1", NoAction
	var closed []string
	begin := at(t, from)
	for f := range timetable(t, newSchedule("sch_1", zone, "start 0 * * * *"),
		c).Firings(Span{begin, begin.AddDate(0, 0, 3)}) {
		if f.Skip.Reason == ClosedByCalendar {
			closed = append(closed, f.At.Format("02T15"))
		}
	}
	if len(closed) == 0 {
		return "never"
	}
	return fmt.Sprintf("%s-%s %d", closed[0], closed[len(closed)-1], len(closed))
}

func TestCalendar_WhatItCloses(t *testing.T) {
	event := func(lines ...string) Calendar {
		return Calendar{ICalendar: strings.Join(slices.Concat([]string{
			"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x",
			"BEGIN:VEVENT", "UID:1",
		}, lines, []string{"END:VEVENT", "END:VCALENDAR", ""}), "\r\n")}
	}
	entry := func(e Entry) Calendar { return Calendar{Entries: []Entry{e}} }
	for name, c := range map[string]struct {
		zone     string
		calendar Calendar
		from     string
		want     string
	}{
		"a day is that of the zone": {
			"Europe/Berlin", entry(Entry{From: "2026-12-24"}),
			"2026-12-23T00:00Z", "23T23-24T22 24",
		},
		"a day of 23 hours": {
			"Europe/Berlin", entry(Entry{From: "2026-03-29"}),
			"2026-03-28T00:00Z", "28T23-29T21 23",
		},
		"a day of 25 hours is 24 firings of an hour": {
			"Europe/Berlin", entry(Entry{From: "2026-10-25"}),
			"2026-10-24T00:00Z", "24T22-25T22 24",
		},
		"a range has its last day": {
			"UTC", entry(Entry{From: "2026-12-24", To: "2026-12-25"}),
			"2026-12-23T12:00Z", "24T00-25T23 48",
		},
		"a window ends before its end": {
			"UTC",
			entry(Entry{From: "2026-12-24T18:00", To: "2026-12-25T06:00"}), "2026-12-23T12:00Z", "24T18-25T05 12",
		},
		"yearly": {
			"UTC", entry(Entry{From: "2019-12-24", Yearly: true}),
			"2026-12-23T12:00Z", "24T00-24T23 24",
		},
		"yearly across the turn of the year": {
			"UTC",
			entry(Entry{From: "2019-12-30", To: "2020-01-01", Yearly: true}), "2026-12-29T12:00Z", "30T00-01T11 60",
		},
		"yearly begins with its first year": {
			"UTC", entry(Entry{From: "2027-12-24", Yearly: true}),
			"2026-12-23T12:00Z", "never",
		},
		"29 February is none in other years": {
			"UTC", entry(Entry{From: "2024-02-29", Yearly: true}),
			"2026-02-27T12:00Z", "never",
		},
		"the calendar's own zone": {
			"America/New_York",
			Calendar{Timezone: "UTC", Entries: []Entry{{From: "2026-12-24"}}},
			"2026-12-23T12:00Z", "24T00-24T23 24",
		},
		"an event of a day": {
			"Europe/Berlin", event("DTSTART;VALUE=DATE:20261224"),
			"2026-12-23T00:00Z", "23T23-24T22 24",
		},
		"an event of days ends before its end": {
			"UTC",
			event("DTSTART;VALUE=DATE:20261224", "DTEND;VALUE=DATE:20261226"), "2026-12-23T12:00Z", "24T00-25T23 48",
		},
		"an event in UTC": {
			"Europe/Berlin",
			event("DTSTART:20261224T100000Z", "DURATION:PT2H"), "2026-12-23T12:00Z", "24T10-24T11 2",
		},
		"an event in a zone": {
			"Europe/Berlin",
			event("DTSTART;TZID=America/New_York:20261224T100000", "DTEND;TZID=America/New_York:20261224T120000"),
			"2026-12-23T12:00Z", "24T15-24T16 2",
		},
		"a floating event is of the schedule's zone": {
			"Europe/Berlin",
			event("DTSTART:20261224T100000", "DURATION:PT2H"), "2026-12-23T12:00Z", "24T09-24T10 2",
		},
		"an event of each year": {
			"UTC", event("DTSTART;VALUE=DATE:20001224", "RRULE:FREQ=YEARLY"),
			"2026-12-23T12:00Z", "24T00-24T23 24",
		},
		"an event of each week until its last": {
			"UTC",
			event("DTSTART;VALUE=DATE:20261203", "RRULE:FREQ=WEEKLY;UNTIL=20261220"), "2026-12-23T12:00Z", "never",
		},
		"an exception": {
			"UTC",
			event("DTSTART;VALUE=DATE:20261203", "RRULE:FREQ=WEEKLY", "EXDATE;VALUE=DATE:20261217,20261224"),
			"2026-12-23T12:00Z", "never",
		},
		"a date besides": {
			"UTC",
			event("DTSTART;VALUE=DATE:20261203", "RDATE;VALUE=DATE:20261224"), "2026-12-23T12:00Z", "24T00-24T23 24",
		},
		"an event that began long before": {
			"UTC",
			event("DTSTART;VALUE=DATE:20260601", "DTEND;VALUE=DATE:20261225"), "2026-12-23T12:00Z", "23T12-24T23 36",
		},
		"one that keeps its local time across DST": {
			"UTC",
			event("DTSTART;TZID=Europe/Berlin:20260101T100000", "DURATION:PT1H", "RRULE:FREQ=DAILY"),
			"2026-07-01T00:00Z", "01T08-03T08 3",
		},
	} {
		equal(t, name, closedHours(t, c.zone, c.calendar, c.from), c.want)
	}
}

func FuzzICalendar(f *testing.F) {
	f.Add("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20261224\r\nRRULE:FREQ=YEARLY\r\nEND:VEVENT\r\n" +
		"END:VCALENDAR\r\n")
	f.Add("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;TZID=\"a\"b:20261224T000000\r\nDURATION:PT1H\r\nEND:VEVENT\r\n" +
		"END:VCALENDAR\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		c := Calendar{ID: "cal_1", ICalendar: text}
		if err := c.Check(year.From, nil); err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		closed, err := c.closures(time.UTC, year)
		if err != nil {
			t.Errorf("%q was taken, and cannot be read: %v", text, err)
		}
		for _, s := range closed {
			if !s.From.Before(s.To) || !s.From.Before(year.To) || !s.To.After(year.From) {
				t.Errorf("%q closes %v", text, s.Span)
			}
		}
	})
}

func TestDecide(t *testing.T) {
	starts := timetable(t, newSchedule("sch_start", "UTC", "start 0 20 * * *"))
	stops := timetable(t, newSchedule("sch_stop", "UTC", "stop 0 20 * * *"))
	closed := timetable(t, newSchedule("sch_closed", "UTC", "start 0 20 * * *"),
		Calendar{ID: "cal_1", Name: "Freeze", Effect: NoAction, Entries: []Entry{{From: "2026-12-24"}}})
	minute := at(t, "2026-12-24T20:00Z")
	held := func(from, to string) []Override {
		return []Override{{"ovr_1", ForceOff, Span{at(t, from), at(t, to)}}}
	}
	for name, c := range map[string]struct {
		subject  Subject
		attached []*Timetable
		want     string
	}{
		"one acts": {Subject{}, []*Timetable{stops}, "[]"},
		"the start wins over the stop": {
			Subject{},
			[]*Timetable{stops, starts},
			"[contradiction ]",
		},
		"in whichever order": {
			Subject{},
			[]*Timetable{starts, stops},
			"[ contradiction]",
		},
		"of several starts each acts": {
			Subject{},
			[]*Timetable{starts, stops, starts},
			"[ contradiction ]",
		},
		"a start that a calendar closes wins over nothing": {Subject{}, []*Timetable{stops, closed}, "[ calendar]"},
		"a read-only account is left alone": {
			Subject{ReadOnly: true},
			[]*Timetable{stops, starts},
			"[read_only_account read_only_account]",
		},
		"what cannot be stopped": {
			Subject{Unschedulable: "a replica"},
			[]*Timetable{stops},
			"[unschedulable]",
		},
		"an override holds it": {Subject{Overrides: held("2026-12-24T19:00Z",
			"2026-12-24T21:00Z")}, []*Timetable{stops, starts}, "[override override]"},
		"one that begins in this minute holds it": {Subject{Overrides: held("2026-12-24T20:00Z",
			"2026-12-24T21:00Z")}, []*Timetable{stops}, "[override]"},
		"one that ends in this minute does not": {Subject{Overrides: held("2026-12-24T19:00Z",
			"2026-12-24T20:00Z")}, []*Timetable{stops}, "[]"},
		"the calendar is named before the account": {
			Subject{ReadOnly: true},
			[]*Timetable{closed},
			"[calendar]",
		},
	} {
		var fs []Firing
		for _, table := range c.attached {
			fs = append(fs, table.FiringsAt(minute)...)
		}
		var got []string
		for _, s := range Decide(&c.subject, fs, time.Time{}) {
			got = append(got, string(s.Reason))
			if (s.Reason == Acts) != (s.Detail == "") {
				t.Errorf("%s: %q says %q", name, s.Reason, s.Detail)
			}
		}
		equal(t, name, fmt.Sprint(got), c.want)
	}
}

func TestWanted(t *testing.T) {
	office := newSchedule("sch_1", "UTC", "start 0 8 * * 1-5", "stop 0 19 * * 1-5")
	nights := newSchedule("sch_2", "UTC", "stop 0 22 * * *")
	mornings := newSchedule("sch_3", "UTC", "start 0 22 * * *")
	off := newSchedule("sch_4", "UTC", "start 0 8 * * *")
	off.Enabled = false
	holiday := Calendar{ID: "cal_1", Effect: StayStopped, Entries: []Entry{{From: "2026-12-23", To: "2026-12-24"}}}
	for name, c := range map[string]struct {
		attached []*Timetable
		at       string
		want     string
	}{
		"within the window": {
			[]*Timetable{timetable(t, office)},
			"2026-12-22T12:00Z",
			"start 12-22T08:00 true",
		},
		"in the minute itself": {
			[]*Timetable{timetable(t, office)},
			"2026-12-22T19:00Z",
			"stop 12-22T19:00 true",
		},
		"at the weekend": {
			[]*Timetable{timetable(t, office)},
			"2026-12-20T12:00Z",
			"stop 12-18T19:00 true",
		},
		"what a calendar closed does not count": {
			[]*Timetable{timetable(t, office, holiday)},
			"2026-12-24T12:00Z",
			"stop 12-23T19:00 true",
		},
		"a stop-only schedule leaves the rest alone": {
			[]*Timetable{timetable(t, nights)},
			"2026-12-22T12:00Z",
			"stop 12-21T22:00 false",
		},
		"the latest of several counts": {
			[]*Timetable{timetable(t, office), timetable(t, nights)},
			"2026-12-22T23:00Z", "stop 12-22T22:00 true",
		},
		"of one minute the start": {
			[]*Timetable{timetable(t, nights), timetable(t, mornings)},
			"2026-12-22T23:00Z", "start 12-22T22:00 true",
		},
		"in any order": {
			[]*Timetable{timetable(t, mornings), timetable(t, nights)},
			"2026-12-22T23:00Z", "start 12-22T22:00 true",
		},
		"one that is not enabled wants nothing": {[]*Timetable{timetable(t, off)}, "2026-12-22T12:00Z", "nothing"},
		"none wants nothing":                    {nil, "2026-12-22T12:00Z", "nothing"},
	} {
		got := "nothing"
		if w, ok := Wanted(at(t, c.at), c.attached); ok {
			got = fmt.Sprint(w.Cron.Action, w.At.Format(" 01-02T15:04 "), w.Lasting)
		}
		equal(t, name, got, c.want)
	}
}

// TestPreview_IsWhatHappens evaluates a month minute by minute, as an evaluator does, and compares it with the
// preview.
func TestPreview_IsWhatHappens(t *testing.T) {
	a := timetable(t, newSchedule("sch_a", "Europe/Berlin", "start 0 8 * * 1-5", "stop 30 2 * * *", "stop 0 19 * * *"),
		Calendar{ID: "cal_1", Effect: StayStopped, Entries: []Entry{{From: "2026-03-20", To: "2026-03-23"}}})
	b := timetable(t, newSchedule("sch_b", "America/New_York", "start 0 14 * * *", "stop 0 3 * * *"))
	target := Target{Subject: Subject{Overrides: []Override{{
		"ovr_1", ForceOn,
		Span{at(t, "2026-03-10T12:00Z"), at(t, "2026-03-12T12:00Z")},
	}}}, Attached: []*Timetable{a, b}}
	month := Span{at(t, "2026-03-01T00:00Z"), at(t, "2026-04-01T00:00Z")}
	foretold, err := Preview(a, []Target{target}, month, 5000)
	if err != nil {
		t.Fatal(err)
	}
	var happened []string
	for minute := month.From; minute.Before(month.To); minute = minute.Add(time.Minute) {
		fs := append(a.FiringsAt(minute), b.FiringsAt(minute)...)
		for i, skip := range Decide(&target.Subject, fs, time.Time{}) {
			if fs[i].Timetable == a {
				happened = append(happened, fmt.Sprint(minute, fs[i].Cron.ID, skip.Reason))
			}
		}
	}
	var said []string
	reasons := map[Reason]int{}
	for _, f := range foretold {
		said = append(said, fmt.Sprint(f.At, f.Cron.ID, f.Skips[0].Reason))
		reasons[f.Skips[0].Reason]++
	}
	if !slices.Equal(said, happened) {
		t.Errorf("foretold %d, happened %d:\n%v\n%v", len(said), len(happened), said, happened)
	}
	if reasons[Acts] == 0 || reasons[ClosedByCalendar] == 0 || reasons[Overridden] == 0 || reasons[Contradicted] == 0 {
		t.Errorf("the month does not test each reason: %v", reasons)
	}
}
