package main

import "time"

// parseUntil returns the time that a user means: a clock time is its next occurrence in the zone of now, a duration
// begins now, and a date is the start of that day in the zone of now.
func parseUntil(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		if d <= 0 {
			return now, misused("%q is not in the future: give a duration such as 4h", text)
		}
		return now.Add(d), nil
	}
	if at, err := time.Parse("15:04", text); err == nil {
		return nextClock(at, now), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.ParseInLocation(time.DateOnly, text, now.Location())
	}
	if err != nil {
		return now, misused("%q is no time: write 20:00, 4h, 2026-12-24 or 2026-12-24T18:00:00+01:00", text)
	}
	if !at.After(now) {
		return now, misused("%s is not after now, which is %s", text, now.Format(time.RFC3339))
	}
	return at, nil
}

// nextClock returns the next time at which a clock in the zone of now shows the hour and minute of at.
func nextClock(at, now time.Time) time.Time {
	year, month, day := now.Date()
	next := time.Date(year, month, day, at.Hour(), at.Minute(), 0, 0, now.Location())
	if !next.After(now) {
		next = time.Date(year, month, day+1, at.Hour(), at.Minute(), 0, 0, now.Location())
	}
	return next
}
