package ratelimit

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Backoff limits guesses at a secret. The delays between guesses grow, so that somebody who guesses on does not keep
// the owner out for longer than the last delay. The limit of a year bounds the probability of a hit.
type Backoff struct {
	Name    string          // name of the count; unique among rules
	Free    int             // guesses of a UTC day before the first delay
	Delays  []time.Duration // between the further guesses of the day; the last one is used again and again
	PerDay  int             // guesses of a UTC day; 0 means that only the delays limit them
	PerYear int             // guesses in any 365 days
}

const (
	daySeconds = 24 * 60 * 60
	// yearDays is how many calendar days PerYear covers: any 365 times 24 hours lie within so many.
	yearDays = 366
	// throttledWait is the wait when the store refuses to count because of too many requests.
	throttledWait = time.Minute
)

// guesses is the record of the guesses at one secret.
type guesses struct {
	Version int64      `json:"v"`
	Last    int64      `json:"last"` // time of the newest guess, in Unix seconds
	Days    []dayCount `json:"days"` // of the last yearDays
}

// dayCount is the number of guesses on a day since 1970.
type dayCount struct {
	Day   int64 `json:"d"`
	Count int   `json:"n"`
}

// Guess is a guess that was counted. Return takes it back if the secret turned out to be right.
type Guess struct {
	limit  Backoff
	key    table.Key
	at     time.Time
	before int64   // guesses.Last before this guess
	now    guesses // as it was stored
}

// Take counts a guess at the secret of `who`, before the secret is compared, so that concurrent guesses get no more
// tries than sequential ones. If none is allowed now, it returns how long to wait instead and writes nothing. `who` may
// be any text: only its hash is stored. It takes two round trips, or one if it has to wait.
//
// If the store throttles the count or is late, the secret is under attack, and the guess has to wait. If it fails
// otherwise, the guess is allowed, and the caller logs the error: a broken counter must not stop the service.
func (b Backoff) Take(ctx context.Context, s table.Store, now time.Time, who string) (Guess, time.Duration, error) {
	k := b.key(who)
	ctx, cancel := context.WithTimeout(table.Within(table.WithoutAttachment(ctx), k.PK), countTime)
	defer cancel()
	for {
		taken, wait, err := b.tryTake(ctx, s, now, k)
		switch {
		case errors.Is(err, table.ErrThrottled) || ctx.Err() != nil:
			return Guess{}, throttledWait, nil
		case err != nil && !fault.Is(err, fault.Conflict):
			return Guess{}, 0, fault.Wrap("count "+b.Name, err)
		case err == nil:
			return taken, wait, nil
		} // after a conflict another guess was faster
	}
}

// tryTake counts a guess. It returns fault.Conflict if another one was counted at the same time.
func (b Backoff) tryTake(ctx context.Context, s table.Store, now time.Time, k table.Key) (Guess, time.Duration, error) {
	g, err := readGuesses(ctx, s, k)
	if err != nil {
		return Guess{}, 0, err
	}
	if wait := g.waitFor(b, now); wait > 0 {
		return Guess{}, wait, nil
	}
	taken := Guess{b, k, now, g.Last, g.with(now)}
	return taken, 0, taken.now.store(ctx, s, k)
}

// Wait returns how long somebody has to wait who wants to guess now. It counts nothing. One round trip.
func (b Backoff) Wait(ctx context.Context, s table.Store, now time.Time, who string) (time.Duration, error) {
	k := b.key(who)
	g, err := readGuesses(table.Within(ctx, k.PK), s, k)
	if err != nil {
		return 0, fault.Wrap("read guesses "+b.Name, err)
	}
	return g.waitFor(b, now), nil
}

// Return takes the guess back. One round trip, unless others guess at the same time.
func (g Guess) Return(ctx context.Context, s table.Store) error {
	if g.key.PK == "" { // it was allowed because the store failed
		return nil
	}
	ctx, cancel := context.WithTimeout(table.Within(table.WithoutAttachment(ctx), g.key.PK), countTime)
	defer cancel()
	for now := g.now; ; {
		err := now.without(g).store(ctx, s, g.key)
		if !fault.Is(err, fault.Conflict) {
			return fault.Wrap("give back "+g.limit.Name, err)
		}
		if now, err = readGuesses(ctx, s, g.key); err != nil {
			return fault.Wrap("read guesses "+g.limit.Name, err)
		}
	}
}

func (b Backoff) key(who string) table.Key {
	sum := sha256.Sum256([]byte(who))
	return table.Key{PK: Prefix + b.Name + "#" + base64.RawURLEncoding.EncodeToString(sum[:]) + "#year", SK: "G"}
}

func readGuesses(ctx context.Context, s table.Store, k table.Key) (guesses, error) {
	g, err := table.Read[guesses](ctx, s, k)
	if fault.Is(err, fault.NotFound) {
		return guesses{}, nil
	}
	return g, err
}

// store writes g in place of the version before it.
func (g guesses) store(ctx context.Context, s table.Store, k table.Key) error {
	it, err := table.NewItem(k, g)
	if err != nil {
		return err
	}
	it.Expires = time.Unix(g.Last, 0).Add((yearDays + 1) * daySeconds * time.Second)
	cond := table.Equal("v", g.Version-1)
	if g.Version == 1 {
		cond = table.Absent()
	}
	_, err = s.Write(ctx, table.Put(it, cond))
	return err
}

// with returns g with one more guess, and without days that no longer count.
func (g guesses) with(now time.Time) guesses {
	today := dayOf(now)
	days := slices.DeleteFunc(slices.Clone(g.Days), func(d dayCount) bool { return d.Day <= today-yearDays })
	i := slices.IndexFunc(days, func(d dayCount) bool { return d.Day == today })
	if i < 0 {
		i, days = len(days), append(days, dayCount{Day: today})
	}
	days[i].Count++
	return guesses{g.Version + 1, now.Unix(), days}
}

// without returns g without the guess. The delay before it applies again, unless somebody has guessed since.
func (g guesses) without(taken Guess) guesses {
	out := guesses{g.Version + 1, g.Last, slices.Clone(g.Days)}
	if out.Last == taken.at.Unix() && taken.before > 0 {
		out.Last = taken.before
	}
	for i := range out.Days {
		if out.Days[i].Day == dayOf(taken.at) && out.Days[i].Count > 0 {
			out.Days[i].Count--
		}
	}
	return out
}

// waitFor returns how long the next guess has to wait.
func (g guesses) waitFor(b Backoff, now time.Time) time.Duration {
	today, onDay, inYear := dayOf(now), 0, 0
	for _, d := range g.Days {
		if d.Day == today {
			onDay += d.Count
		}
		if d.Day > today-yearDays {
			inYear += d.Count
		}
	}
	switch {
	case inYear >= b.PerYear:
		return g.waitForYear(inYear-b.PerYear, now)
	case b.PerDay > 0 && onDay >= b.PerDay:
		return startOfDay(today + 1).Sub(now)
	case onDay < b.Free || len(b.Delays) == 0:
		return 0
	}
	delay := b.Delays[min(onDay-b.Free, len(b.Delays)-1)]
	return max(0, time.Unix(g.Last, 0).Add(delay).Sub(now))
}

// waitForYear returns the time until more than `excess` of the counted guesses are older than a year.
func (g guesses) waitForYear(excess int, now time.Time) time.Duration {
	today := dayOf(now)
	for _, d := range g.Days {
		if d.Day <= today-yearDays {
			continue
		}
		if excess -= d.Count; excess < 0 {
			return startOfDay(d.Day + yearDays).Sub(now)
		}
	}
	return yearDays * daySeconds * time.Second // a rule that allows none
}

func dayOf(t time.Time) int64 { return t.Unix() / daySeconds }

func startOfDay(day int64) time.Time { return time.Unix(day*daySeconds, 0) }

// DescribeWait returns a wait for people, rounded up: "a minute", "14 minutes", "3 hours", "212 days".
func DescribeWait(d time.Duration) string {
	for _, unit := range []struct {
		of        time.Duration
		one, many string
		below     int64
	}{
		{time.Minute, "a minute", "minutes", 90},
		{time.Hour, "an hour", "hours", 48},
		{daySeconds * time.Second, "a day", "days", 1 << 32},
	} {
		n := int64((d + unit.of - 1) / unit.of)
		switch {
		case n <= 1:
			return unit.one
		case n < unit.below:
			return fmt.Sprintf("%d %s", n, unit.many)
		}
	}
	return "a year"
}
