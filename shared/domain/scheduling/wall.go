package scheduling

import "time"

// A wall is a minute as a clock on a wall shows it: minutes since 1970 of the local date and time, whatever the zone.
type wall int64

const minutesADay = 24 * 60

// civil is a day of the calendar.
type civil struct {
	year, month, day, weekday int
}

// dayNumber returns the day of a wall, counted from 1970, and the minute of that day.
func (w wall) dayNumber() (day, minute int64) {
	day, minute = int64(w)/minutesADay, int64(w)%minutesADay
	if minute < 0 {
		day, minute = day-1, minute+minutesADay
	}
	return day, minute
}

// civilOf returns the date of a day that is counted from 1970.
func civilOf(day int64) civil {
	y, m, d := time.Unix(day*24*60*60, 0).UTC().Date()
	return civil{y, int(m), d, int(((day+4)%7 + 7) % 7)} // 1970 began on a Thursday
}

// dayOf counts the days from 1970 to a date.
func dayOf(year, month, day int) int64 {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
}

// Offsets of zones from UTC lie between these, in seconds, and clocks are set at most once between two such times.
const (
	mostEast = 15 * 60 * 60
	mostWest = 13 * 60 * 60
)

// offsetAt returns by how many seconds clocks are ahead of UTC at a Unix time. (Time.ZoneBounds is not used: on the
// last day of a leap year it gives an end in the past, as of Go 1.26.)
func offsetAt(unix int64, loc *time.Location) int64 {
	_, offset := time.Unix(unix, 0).In(loc).Zone()
	return int64(offset)
}

// setAt returns the first second from which the offset is no more what it was at from, where it is another at to.
func setAt(from, to int64, loc *time.Location) int64 {
	before := offsetAt(from, loc)
	for to-from > 1 {
		if middle := from + (to-from)/2; offsetAt(middle, loc) == before {
			from = middle
		} else {
			to = middle
		}
	}
	return to
}

// wallOf returns what clocks show at an instant, to the minute.
func wallOf(t time.Time, loc *time.Location) wall {
	return floorMinutes(t.Unix() + offsetAt(t.Unix(), loc))
}

func floorMinutes(seconds int64) wall {
	m := seconds / 60
	if seconds%60 < 0 {
		m--
	}
	return wall(m)
}

// instant returns when clocks show w: the first time when they do so twice, and the first minute after the gap when
// they never do. It never decreases as w grows.
func (w wall) instant(loc *time.Location) time.Time {
	u := int64(w) * 60
	from, to := u-mostEast, u+mostWest
	before, after := offsetAt(from, loc), offsetAt(to, loc)
	if before == after {
		return time.Unix(u-before, 0).UTC()
	}
	set := setAt(from, to, loc)
	switch {
	case u-before < set:
		return time.Unix(u-before, 0).UTC()
	case u-after >= set:
		return time.Unix(u-after, 0).UTC()
	}
	return time.Unix(-60*int64(floorMinutes(-set)), 0).UTC() // clocks went over w
}

// shownBy returns the last w with an instant that is not after t: what clocks show at t, or showed before they were
// set back.
func shownBy(t time.Time, loc *time.Location) wall {
	now, w := t.Unix(), wallOf(t, loc)
	yesterday := now - mostEast - mostWest
	before := offsetAt(yesterday, loc)
	if before <= offsetAt(now, loc) {
		return w
	}
	return max(w, floorMinutes(setAt(yesterday, now, loc)+before-1))
}
