package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"
)

const (
	sweepPause = time.Minute
	sweepGroup = 500            // removals in one commit
	feedKept   = 25 * time.Hour // DynamoDB's streams keep 24
)

// sweepEvery removes expired items at regular intervals, until ctx ends.
func (e *Embedded) sweepEvery(ctx context.Context, every time.Duration) {
	if every == 0 {
		every = sweepPause
	}
	for e.clock.Sleep(ctx, every) == nil {
		if _, err := e.Sweep(ctx); err != nil {
			continue // the next round tries again; expired items count as absent until then
		}
	}
}

// Sweep removes expired items, and entries of the feed older than 25 hours. It returns their number. It runs every
// minute by itself.
func (e *Embedded) Sweep(ctx context.Context) (int, error) {
	for total := 0; ; {
		n := 0
		err := e.commitPlanned(ctx, func(l *ledger) ([]effect, error) {
			effects := l.planSweep()
			n = len(effects)
			return effects, nil
		})
		if total += n; err != nil || n < sweepGroup {
			return total, err
		}
	}
}

// planSweep plans the removal of one group of expired items and old entries.
func (l *ledger) planSweep() []effect {
	var effects []effect
	c := l.expiryBucket().Cursor()
	for k, _ := c.First(); k != nil && len(effects) < sweepGroup; k, _ = c.Next() {
		expires := int64(binary.BigEndian.Uint64(k)) //nolint:gosec // written from an int64
		if expires > l.now {
			break
		}
		effects = append(effects, effect{stored: bytes.Clone(k[8:]), expired: expires})
	}
	before := l.now - int64(feedKept/time.Second)
	c = l.feedBucket().Cursor()
	for k, v := c.First(); k != nil && len(effects) < sweepGroup && feedTime(v) < before; k, v = c.Next() {
		effects = append(effects, effect{trim: bytes.Clone(k)})
	}
	return effects
}
