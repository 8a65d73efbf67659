package throttle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// Prefix begins the partition keys of leases: one for each account, region and API.
const Prefix = "APIRATE#"

// Partition is of the leases, as functions that call a cloud declare it.
const Partition table.Partition = Prefix + "*"

// schedule is the row that the processes share: until when, in Unix microseconds, all slots of the API are spoken for.
type schedule struct {
	At int64 `json:"at"`
}

const (
	tries     = 6               // of a write that others are faster with
	storeTime = 3 * time.Second // that a lease may take
	outage    = 5 * time.Second // how long a store that failed is not asked again
	lifetime  = 10 * time.Minute
)

// errFull says that the slots which are asked for lie too far ahead.
var errFull = errors.New("all slots are spoken for")

func (b *bucket) row() table.Key {
	return table.Key{PK: Prefix + b.key.Account + "#" + b.key.Region + "#" + b.key.API, SK: "N"}
}

// book takes n tokens, leases them where the process has none left, and tells when they count.
func (l *Limiter) book(ctx context.Context, b *bucket, n int) (time.Time, error) {
	if at, ok := b.spend(l.o.Clock.Now(), n); ok {
		return at, nil
	}
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
	defer func() { <-b.turn }()
	now := l.o.Clock.Now()
	if at, ok := b.spend(now, n); ok { // of slots that another call leased meanwhile
		return at, nil
	}
	m := b.demand(now, n)
	from, err := l.reserve(ctx, b, m, now.Add(idle))
	if err != nil { // others have spoken for the next minutes: this one goes at their end
		from, err = now.Add(idle).UnixMicro(), nil
	}
	b.keep(now, m, from)
	at, _ := b.spend(now, n)
	return at, err
}

// takeNow takes as many of n tokens as count now.
func (l *Limiter) takeNow(ctx context.Context, b *bucket, n int) int {
	now := l.o.Clock.Now()
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	defer func() { <-b.turn }()
	if b.paused(now) {
		return 0
	}
	if _, ok := b.spend(now, n); ok {
		return n
	}
	for range tries {
		m, latest := b.ready(now, n)
		if m == 0 {
			return 0
		}
		if _, err := l.reserve(ctx, b, m, latest); err == nil {
			return m
		}
	}
	return 0
}

func (b *bucket) paused(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until.After(now)
}

// portion is the time whose tokens may be taken at once while the bucket is slowed down. A partial grant waits until
// half of that is there: otherwise callers that ask often would get few tokens at a time, in many calls.
const portion = 20 * time.Second

// ready returns how many of n slots count at now as far as is known, and how far all that are spoken for may lie ahead
// then.
func (b *bucket) ready(now time.Time, n int) (m int, latest time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	tolerance := b.tolerance()
	if b.speed < 1 {
		tolerance = min(b.burst(), portion)
	}
	latest = now.Add(tolerance)
	from := max(b.spoken, now.UnixMicro())
	room := time.Duration(latest.UnixMicro()-from) * time.Microsecond
	if m = int(room / b.every()); m < n && room < min(portion, tolerance)/2 {
		m = 0
	}
	return max(0, min(n, m)), latest
}

// reserve leases n slots, all at or before latest, and returns the time of the first. If the store does not answer in
// time, the process decides alone: a broken store does not stop the service.
func (l *Limiter) reserve(ctx context.Context, b *bucket, n int, latest time.Time) (from int64, err error) {
	now := l.o.Clock.Now()
	b.mu.Lock()
	long, alone := int64(n)*b.every().Microseconds(), l.o.Store == nil || b.alone.After(now)
	b.mu.Unlock()
	if !alone {
		from, err = l.reserveShared(ctx, b, long, latest)
		if err == nil || errors.Is(err, errFull) {
			return from, err
		}
		l.o.Log.WarnContext(ctx, "rate of an account's API not shared: this process goes by its own for a while", "api",
			b.key.API, "error", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !alone {
		b.alone = now.Add(outage)
	}
	from = max(b.spoken, now.UnixMicro())
	if from+long > latest.UnixMicro() {
		return 0, errFull
	}
	b.spoken = from + long
	return from, nil
}

// reserveShared moves the row on by long microseconds. Where the row stands is guessed from when it was seen last,
// which one write finds right or corrects.
func (l *Limiter) reserveShared(ctx context.Context, b *bucket, long int64, latest time.Time) (from int64, err error) {
	key := b.row()
	ctx, cancel := context.WithTimeout(table.Within(table.WithoutAttachment(ctx), key.PK), storeTime)
	defer cancel()
	for range tries {
		now := l.o.Clock.Now()
		stood := b.stood()
		if max(stood, now.UnixMicro())+long > latest.UnixMicro() {
			return 0, errFull
		}
		it, err := l.o.Store.Write(ctx, move(key, now, stood, long, latest))
		if err == nil {
			return b.saw(it, long)
		}
		lost, refused := errors.AsType[*table.ConditionError](err)
		if !refused {
			return 0, err
		}
		old, _ := lost.Old(0)
		if _, err = b.saw(old, 0); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("lease %s: others moved it %d times meanwhile", key.PK, tries)
}

// move returns the write that speaks for long microseconds: behind those that are spoken for, or from now on.
func move(key table.Key, now time.Time, stood, long int64, latest time.Time) table.Write {
	end := table.Expire(now.Add(lifetime))
	if stood < now.UnixMicro() {
		return table.Update(key, []table.Change{table.Set("at", now.UnixMicro()+long), end},
			table.Any(table.Absent(), table.Less("at", now.UnixMicro())))
	}
	return table.Update(key, []table.Change{table.Add("at", long), end},
		table.GreaterEqual("at", now.UnixMicro()), table.LessEqual("at", latest.UnixMicro()-long))
}

func (b *bucket) stood() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spoken
}

// saw stores the position of the row, 0 for an absent one, and returns the position before it moved by long.
func (b *bucket) saw(it table.Item, long int64) (from int64, err error) {
	var s schedule
	if it.Data != nil {
		if s, err = table.Decode[schedule](it); err != nil {
			return 0, err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spoken = s.At
	return s.At - long, nil
}
