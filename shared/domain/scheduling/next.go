package scheduling

import "time"

// horizonDays limits the search for the next firing. The longest gap is from 29 February 2096 to 29 February 2104.
const horizonDays = 8*366 + 31

// Next returns the first instant after a given one at which the cron fires in a zone, or false when there is none. A
// local time skipped by a clock change fires at the first minute after the gap. A local time that occurs twice fires
// once, at its first occurrence.
func (c Cron) Next(after time.Time, loc *time.Location) (time.Time, bool) {
	w, ok := c.nextWall(wallOf(after, loc) + 1)
	for ok {
		if t := w.instant(loc); t.After(after) {
			return t, true
		}
		w, ok = c.nextWall(w + 1) // this local time occurs twice, and its first occurrence has passed
	}
	return time.Time{}, false
}

// Prev returns the last instant at or before a given one at which the cron fires in a zone, or false when there is
// none.
func (c Cron) Prev(at time.Time, loc *time.Location) (time.Time, bool) {
	w, ok := c.prevWall(shownBy(at, loc))
	for ok {
		if t := w.instant(loc); !t.After(at) {
			return t, true
		}
		w, ok = c.prevWall(w - 1)
	}
	return time.Time{}, false
}

// nextWall returns the first wall at or after w at which the cron fires.
func (c Cron) nextWall(w wall) (wall, bool) {
	day, minute := w.dayNumber()
	for end := day + horizonDays; day <= end; day, minute = day+1, 0 {
		d := civilOf(day)
		if c.months>>d.month&1 == 0 {
			day = dayOf(d.year, d.month+1, 1) - 1
			continue
		}
		if !c.onDay(d) {
			continue
		}
		if m, ok := c.nextOfDay(int(minute)); ok {
			return wall(day*minutesADay + int64(m)), true
		}
	}
	return 0, false
}

// prevWall returns the last wall at or before w at which the cron fires.
func (c Cron) prevWall(w wall) (wall, bool) {
	day, minute := w.dayNumber()
	for end := day - horizonDays; day >= end; day, minute = day-1, minutesADay-1 {
		d := civilOf(day)
		if c.months>>d.month&1 == 0 {
			day = dayOf(d.year, d.month, 1)
			continue
		}
		if !c.onDay(d) {
			continue
		}
		if m, ok := c.prevOfDay(int(minute)); ok {
			return wall(day*minutesADay + int64(m)), true
		}
	}
	return 0, false
}

// nextOfDay returns the first minute of a day at or after from at which the cron fires.
func (c Cron) nextOfDay(from int) (int, bool) {
	hour, ok := nextBit(c.hours, from/60)
	if !ok {
		return 0, false
	}
	if hour == from/60 {
		if m, ok := nextBit(c.minutes, from%60); ok {
			return hour*60 + m, true
		}
		if hour, ok = nextBit(c.hours, hour+1); !ok {
			return 0, false
		}
	}
	m, ok := nextBit(c.minutes, 0)
	return hour*60 + m, ok
}

// prevOfDay returns the last minute of a day at or before to at which the cron fires.
func (c Cron) prevOfDay(to int) (int, bool) {
	hour, ok := prevBit(c.hours, to/60)
	if !ok {
		return 0, false
	}
	if hour == to/60 {
		if m, ok := prevBit(c.minutes, to%60); ok {
			return hour*60 + m, true
		}
		if hour, ok = prevBit(c.hours, hour-1); !ok {
			return 0, false
		}
	}
	m, ok := prevBit(c.minutes, 59)
	return hour*60 + m, ok
}
