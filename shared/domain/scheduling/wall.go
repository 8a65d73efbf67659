package scheduling

import "time"

// A wall is a local minute as a wall clock shows it: the minutes since 1970 of the local date and time, in any zone.
type wall int64

const minutesADay = 24 * 60

// civil is a calendar date.
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

// civilOf returns the date of a day number, counted from 1970.
func civilOf(day int64) civil {
	y, m, d := time.Unix(day*24*60*60, 0).UTC().Date()
	return civil{y, int(m), d, int(((day+4)%7 + 7) % 7)} // 1970 began on a Thursday
}

// dayOf returns the number of days from 1970 to a date.
func dayOf(year, month, day int) int64 {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
}

// Offsets of zones from UTC lie between these bounds, in seconds. Within such a range a zone has at most one clock
// change.
const (
	mostEast = 15 * 60 * 60
	mostWest = 13 * 60 * 60
)

// offsetAt returns a zone's offset from UTC at a Unix time, in seconds. It does not use Time.ZoneBounds, because that
// returns an end in the past on the last day of a leap year, as of Go 1.26.
func offsetAt(unix int64, loc *time.Location) int64 {
	_, offset := time.Unix(unix, 0).In(loc).Zone()
	return int64(offset)
}

// setAt returns the first second after from with another offset than at from. The offset at to must differ.
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

// wallOf returns the local minute at an instant.
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

// instant returns the time of the local minute w: its first occurrence when it occurs twice, and the first minute
// after the gap when it is skipped. It never decreases as w grows.
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
	return time.Unix(-60*int64(floorMinutes(-set)), 0).UTC() // the clock change skips w
}

// shownBy returns the last wall whose instant is not after t: the local minute at t, or a later one that occurred
// before the clocks were set back.
func shownBy(t time.Time, loc *time.Location) wall {
	now, w := t.Unix(), wallOf(t, loc)
	yesterday := now - mostEast - mostWest
	before := offsetAt(yesterday, loc)
	if before <= offsetAt(now, loc) {
		return w
	}
	return max(w, floorMinutes(setAt(yesterday, now, loc)+before-1))
}
