package evaluator

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// This file reads crons and calendars as contract.md section 5 describes them, minute by minute. It uses no product
// code.

// wallMinute is a minute as clocks of one zone show it.
type wallMinute struct{ minute, hour, day, month, weekday int }

// zoneMinutes maps each minute to the wall-clock minutes that clocks show in it for the first time: usually one, none
// in a repeated hour, and many after a gap.
type zoneMinutes struct {
	from  int64 // the first minute, since 1970
	shown [][]wallMinute
	wall  []time.Time // the latest local time that clocks have shown until each minute, as if it were UTC
}

// newZoneMinutes walks through a time minute by minute.
func newZoneMinutes(zone string, from, to int64) *zoneMinutes {
	place, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	z, latest := &zoneMinutes{from: from}, time.Time{}
	for m := from; m < to; m++ {
		local := time.Unix(m*60, 0).In(place)
		wall := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, time.UTC)
		var first []wallMinute
		if latest.IsZero() {
			latest = wall.Add(-time.Minute)
		}
		for latest.Before(wall) {
			latest = latest.Add(time.Minute)
			first = append(first,
				wallMinute{latest.Minute(), latest.Hour(), latest.Day(), int(latest.Month()), int(latest.Weekday())})
		}
		z.shown, z.wall = append(z.shown, first), append(z.wall, latest)
	}
	return z
}

// naiveCron is a cron expression as five sets of numbers.
type naiveCron struct {
	minute, hour, day, month, weekday [60]bool
	anyDay, anyWeekday                bool
}

var cronNames = strings.NewReplacer(
	"JAN", "1", "FEB", "2", "MAR", "3", "APR", "4", "MAY", "5", "JUN", "6", "JUL", "7", "AUG", "8", "SEP", "9", "OCT",
	"10", "NOV", "11", "DEC", "12",
	"SUN", "0", "MON", "1", "TUE", "2", "WED", "3", "THU", "4", "FRI", "5", "SAT", "6")

func readNaiveCron(expression string) naiveCron {
	f := strings.Fields(cronNames.Replace(expression))
	c := naiveCron{
		minute: cronSet(f[0], 0, 59), hour: cronSet(f[1], 0, 23), day: cronSet(f[2], 1, 31),
		month: cronSet(f[3], 1, 12), weekday: cronSet(f[4], 0, 7),
		anyDay: strings.HasPrefix(f[2], "*"), anyWeekday: strings.HasPrefix(f[4], "*"),
	}
	c.weekday[0] = c.weekday[0] || c.weekday[7]
	return c
}

// cronSet reads one field: lists of numbers, ranges and steps.
func cronSet(field string, lowest, highest int) (set [60]bool) {
	for part := range strings.SplitSeq(field, ",") {
		span, step, stepped := strings.Cut(part, "/")
		by := 1
		if stepped {
			by = cronNumber(step)
		}
		from, to := lowest, highest
		if span != "*" {
			first, last, ranged := strings.Cut(span, "-")
			from = cronNumber(first)
			switch {
			case ranged:
				to = cronNumber(last)
			case !stepped:
				to = from
			}
		}
		for n := from; n <= to; n += by {
			set[n] = true
		}
	}
	return set
}

func cronNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// matches reports whether a wall minute is one of the cron. Where both days are restricted, either is enough.
func (c *naiveCron) matches(w wallMinute) bool {
	if !c.minute[w.minute] || !c.hour[w.hour] || !c.month[w.month] {
		return false
	}
	if c.anyDay || c.anyWeekday {
		return c.day[w.day] && c.weekday[w.weekday]
	}
	return c.day[w.day] || c.weekday[w.weekday]
}

// covers reports whether a calendar covers the minute at which clocks show a local time. An entry begins and ends
// when clocks first show its times.
func (c simCalendar) covers(local string) bool {
	for _, e := range c.Entries {
		for years := 0; years == 0 || e.Yearly && years < 5; years++ {
			from, to := laterYear(e.From, years), laterYear(e.To, years)
			if len(from) == len("2026-03-29") && from <= local[:10] && local[:10] <= to {
				return true
			}
			if len(from) > len("2026-03-29") && from <= local && local < to {
				return true
			}
		}
	}
	return false
}

func laterYear(date string, years int) string {
	return fmt.Sprintf("%04d%s", cronNumber(date[:4])+years, date[4:])
}

// closes reports whether the effect of a calendar keeps a verb from being done.
func (c simCalendar) closes(verb string) bool {
	switch c.Effect {
	case "stay_stopped":
		return verb == "start"
	case "stay_running":
		return verb == "stop"
	default:
		return true
	}
}
