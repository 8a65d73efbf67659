package table

import (
	"errors"
	"time"
)

// claim is the request of a call before it is made. units are the minimum cost for each partition; keys are the items
// that no transaction may hold.
type claim struct {
	units map[string]Units
	keys  []Key
	hold  bool // keep the keys until the claim is settled
}

// claimRead returns the claim of a read in the partition pk.
func claimRead(pk string) claim { return claim{units: map[string]Units{pk: {Read: 1}}} }

// claimWrites returns the claim of writes; price is the cost of one unit.
func claimWrites(ws []Write, price float64) claim {
	c := claim{units: make(map[string]Units, 1), keys: make([]Key, len(ws))}
	for i := range ws {
		size, err := checkWrite(ws[i])
		if err != nil {
			size = 0 // the store below refuses it
		}
		c.keys[i] = ws[i].Item.Key
		u := c.units[ws[i].Item.PK]
		u.Write += price * float64(writeUnits(size))
		c.units[ws[i].Item.PK] = u
	}
	return c
}

// combine returns both claims as one.
func (c claim) combine(d claim) claim {
	if c.units == nil {
		return d
	}
	for pk, u := range d.units {
		sum := c.units[pk]
		c.units[pk] = Units{sum.Read + u.Read, sum.Write + u.Write}
	}
	return c
}

// errNoUnits and errHeld have DynamoDB's texts.
var (
	errNoUnits = errors.New("ProvisionedThroughputExceeded: the partition key has no units left for this second")
	errHeld    = errors.New("TransactionConflict: a transaction is ongoing for the item")
)

// admitClaim takes the units of a claim, and holds its items. It returns a *busyError if the call must wait. A conflict
// is charged, because DynamoDB reads the items.
func (l *LimitedStore) admitClaim(c claim) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	for pk, u := range c.units {
		if !l.allowanceOf(pk).covers(u, now, l.limits) {
			l.report.Throttled++
			return &busyError{class: throttled, err: errNoUnits}
		}
	}
	for pk, u := range c.units {
		l.allowanceOf(pk).charge(u, now, l.limits)
	}
	if held := l.heldAmong(c.keys); held != nil {
		l.report.Conflicts++
		return &busyError{conflicted, held, errHeld}
	}
	if c.hold {
		for _, k := range c.keys {
			l.held[k] = struct{}{}
		}
	}
	return nil
}

// heldAmong returns the keys that a transaction holds.
func (l *LimitedStore) heldAmong(keys []Key) (held []Key) {
	for _, k := range keys {
		if _, ok := l.held[k]; ok {
			held = append(held, k)
		}
	}
	return held
}

// settleClaim charges the cost of a call beyond its claim, and releases its items.
func (l *LimitedStore) settleClaim(c claim, cost map[string]Units) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	for pk, u := range c.units {
		l.allowanceOf(pk).charge(Units{cost[pk].Read - u.Read, cost[pk].Write - u.Write}, now, l.limits)
	}
	if c.hold {
		for _, k := range c.keys {
			delete(l.held, k)
		}
	}
}

// allowanceOf returns the allowance of the partition pk.
func (l *LimitedStore) allowanceOf(pk string) *allowance {
	a := l.parts[pk]
	if a == nil {
		a = &allowance{}
		l.parts[pk] = a
	}
	return a
}

// allowance holds the remaining units of a partition key.
type allowance struct{ read, write bucket }

// covers reports whether there are units left of each kind in u.
func (a *allowance) covers(u Units, now time.Time, l Limits) bool {
	return (u.Read == 0 || a.read.left(now, l.ReadUnits) > 0) && (u.Write == 0 || a.write.left(now, l.WriteUnits) > 0)
}

// charge takes units.
func (a *allowance) charge(u Units, now time.Time, l Limits) {
	a.read.take(u.Read, now, l.ReadUnits)
	a.write.take(u.Write, now, l.WriteUnits)
}

// bucket holds the remaining units of one kind of a partition key, at most those of one second.
type bucket struct {
	spent  float64   // units spent since the bucket was full
	at     time.Time // time of spent
	second time.Time // start of the second of given
	given  float64
	peak   float64
}

// left returns the units left at now; negative if on credit.
func (b *bucket) left(now time.Time, rate float64) float64 {
	b.spent = max(0, b.spent-rate*now.Sub(b.at).Seconds())
	b.at = now
	return rate - b.spent
}

// take takes n units at now; a negative n gives units back.
func (b *bucket) take(n float64, now time.Time, rate float64) {
	if n == 0 {
		return
	}
	b.left(now, rate)
	b.spent = max(0, b.spent+n)
	if now.Sub(b.second) >= time.Second {
		b.second, b.given = now, 0
	}
	b.given += n
	b.peak = max(b.peak, b.given)
}
