package delivery

import (
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// pauses are the pauses between the tries of a delivery. After the last try it is parked.
var pauses = []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

const (
	// longestAsked caps the pause that a receiver may request.
	longestAsked = time.Hour
	// patience is the maximum wait of a delivery that is not tried because its receiver is down. It is the length of
	// the ladder.
	patience = 7*time.Hour + 12*time.Minute + 30*time.Second
)

// afterTry returns r after a try with answer a or error err: Delivered, Retrying at a later time, or Parked.
func (r Record) afterTry(now time.Time, a Answer, err error) Record {
	r = r.attempted(newAttempt(now, a, err))
	if err == nil {
		return r.ended(Delivered, now)
	}
	r.Tries++
	if a.Gone || fault.Is(err, fault.Invalid) || r.Tries > len(pauses) {
		return r.ended(Parked, now)
	}
	pause := max(pauses[r.Tries-1], min(a.RetryAfter, longestAsked))
	r.Status, r.NextAttemptAt = Retrying, now.Add(pause)
	return r
}

// ended returns r with a final status.
func (r Record) ended(s Status, now time.Time) Record {
	r.Status, r.NextAttemptAt, r.Due = s, time.Time{}, ""
	if s == Delivered {
		r.DeliveredAt = now
	}
	return r
}

// tooOld reports whether r, which waits because its receiver is down, has waited longer than patience.
func (r *Record) tooOld(now time.Time) bool { return now.Sub(r.BegunAt) > patience }
