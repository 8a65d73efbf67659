package table

import (
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"lamplighter.dev/shared/foundation/fault"
)

// effect is the effect of a planned write on the file; a nil value means removal. An effect with trim only removes that
// entry of the feed.
type effect struct {
	trim    []byte
	key     Key
	stored  []byte // the stored key
	value   []byte
	expires int64 // of the new value
	expired int64 // of the replaced value
}

// ledger is the transaction of the file that operations share.
type ledger struct {
	tx       *bolt.Tx
	items    *bolt.Bucket
	now      int64
	contents contents // with the effects so far
}

// newLedger opens the bucket that every operation needs.
func newLedger(tx *bolt.Tx, now int64) *ledger {
	return &ledger{tx: tx, items: tx.Bucket(itemBucket), now: now}
}

// expiryBucket returns the order of expiry. It is opened only if needed, because most commits do not change it.
func (l *ledger) expiryBucket() *bolt.Bucket { return l.tx.Bucket(expiryBucket) }

// feedBucket returns the feed, opened only if needed.
func (l *ledger) feedBucket() *bolt.Bucket { return l.tx.Bucket(feedBucket) }

// applyEffects writes planned effects.
func (l *ledger) applyEffects(effects []effect) error {
	for i := range effects {
		if err := l.applyEffect(&effects[i]); err != nil {
			return err
		}
	}
	return nil
}

// applyEffect writes one effect: the item, its place in the order of expiry, and its entry in the feed.
func (l *ledger) applyEffect(f *effect) error {
	if f.trim != nil {
		return l.trimFeed(f.trim)
	}
	l.contents.replaceItem(f.stored, l.items.Get(f.stored), f.value)
	if f.expired != 0 && f.expired != f.expires {
		if err := l.expiryBucket().Delete(expiryKey(f.expired, f.stored)); err != nil {
			return err
		}
	}
	if f.value == nil {
		return l.items.Delete(f.stored)
	}
	if f.expires != 0 && f.expired != f.expires {
		if err := l.expiryBucket().Put(expiryKey(f.expires, f.stored), nil); err != nil {
			return err
		}
	}
	if err := l.items.Put(f.stored, f.value); err != nil {
		return err
	}
	if !isOutbox(f.key.PK) {
		return nil
	}
	return l.appendFeed(f)
}

// appendFeed appends the effect to the feed.
func (l *ledger) appendFeed(f *effect) error {
	feed := l.feedBucket()
	seq, err := feed.NextSequence()
	if err != nil {
		return err
	}
	k, v := feedKey(seq), feedValue(l.now, f.key, f.value)
	l.contents.feed += entrySum(k, v)
	l.contents.sequence = seq
	return feed.Put(k, v)
}

// trimFeed removes an entry of the feed.
func (l *ledger) trimFeed(key []byte) error {
	feed := l.feedBucket()
	if v := feed.Get(key); v != nil {
		l.contents.feed -= entrySum(key, v)
	}
	return feed.Delete(key)
}

// findItem reads the item under k, including uncommitted effects, and its head.
func (l *ledger) findItem(k Key, stored []byte) (row, head, error) {
	v := l.items.Get(stored)
	if v == nil {
		return row{}, head{}, nil
	}
	it, h, err := storedItem(k, v)
	if err != nil {
		return row{}, h, err
	}
	return row{exists: h.isLive(l.now), data: it.Data, expires: it.Expires}, h, nil
}

// outcome is a planned write: its effect (none for a check), and the item afterwards, or the item that failed a
// condition.
type outcome struct {
	effect *effect
	after  Item
	failed *Item
	size   int // the larger of before and after
}

// planWrite plans one write.
func (l *ledger) planWrite(w *Write) (outcome, error) {
	stored := storedKey(w.Item.Key)
	r, h, err := l.findItem(w.Item.Key, stored)
	if err != nil {
		return outcome{}, err
	}
	out := outcome{size: h.size}
	ok, err := r.meetsAll(w.If)
	if err != nil {
		return out, err
	}
	if !ok {
		out.failed = r.toItem(w.Item.Key)
		return out, nil
	}
	if w.Verb == CheckVerb {
		return out, nil
	}
	out.effect = &effect{key: w.Item.Key, stored: stored, expired: h.expires}
	if w.Verb == DeleteVerb {
		return out.planDelete(h), nil
	}
	return out.planPut(w, &r)
}

// toItem returns the row as an item. Its Data is nil if it is absent.
func (r *row) toItem(k Key) *Item {
	if !r.exists {
		return &Item{Key: k}
	}
	return &Item{Key: k, Data: r.data, Expires: r.expires}
}

// planDelete removes the effect if there is no item to delete.
func (o outcome) planDelete(h head) outcome {
	if h.size == 0 {
		o.effect = nil
	}
	return o
}

// planPut plans the new value of a put or an update.
func (o outcome) planPut(w *Write, r *row) (outcome, error) {
	it, err := w.itemAfter(r)
	if err != nil {
		return o, err
	}
	size, err := checkItem(it)
	if err != nil {
		return o, err
	}
	o.after = it
	o.size = max(o.size, size)
	o.effect.value, o.effect.expires = storedValue(it, size), expirySeconds(it.Expires)
	return o, nil
}

// itemAfter returns the item after a put or an update of r.
func (w *Write) itemAfter(r *row) (Item, error) {
	if w.Verb == UpdateVerb {
		if !r.exists {
			r = &row{}
		}
		return r.applyChanges(w.Item.Key, w.Changes)
	}
	it := w.Item
	it.Expires = wholeSeconds(it.Expires)
	if len(it.Data) == 0 {
		it.Data = []byte("{}")
	}
	return it, nil
}

// Write does one write.
func (e *Embedded) Write(ctx context.Context, w Write) (Item, error) {
	if err := checkSingle(w); err != nil {
		return Item{}, err
	}
	var out outcome
	err := e.commitPlanned(ctx, func(l *ledger) ([]effect, error) {
		var err error
		if out, err = l.planWrite(&w); err != nil {
			return nil, err
		}
		if out.failed != nil {
			return nil, &ConditionError{Failed: []Failure{{Old: *out.failed}}}
		}
		return out.appendEffect(nil), nil
	})
	m := meterOf(ctx)
	m.countTrips(1)
	m.countWrites([]Write{w}, []int{out.size}, 1)
	if err != nil {
		return Item{}, err
	}
	return out.after, nil
}

// appendEffect appends the outcome's effect, if it has one.
func (o outcome) appendEffect(to []effect) []effect {
	if o.effect == nil {
		return to
	}
	return append(to, *o.effect)
}

// Transact does up to 100 writes, all or none.
func (e *Embedded) Transact(ctx context.Context, ws ...Write) error {
	if err := checkTransact(ws); err != nil {
		return err
	}
	var sizes []int
	err := e.commitPlanned(ctx, func(l *ledger) (effects []effect, err error) {
		if effects, sizes, err = l.planAll(ws); err == nil {
			err = checkTransactBytes(sizes...)
		}
		return effects, err
	})
	m := meterOf(ctx)
	m.countTrips(1)
	m.countWrites(ws, sizes, 2)
	return err
}

// planAll plans a transaction. If conditions fail, the error lists every failed write. sizes are the charged sizes of
// the writes that were planned.
func (l *ledger) planAll(ws []Write) (effects []effect, sizes []int, err error) {
	var failed []Failure
	effects = make([]effect, 0, len(ws))
	for i := range ws {
		out, err := l.planWrite(&ws[i])
		if err != nil {
			return nil, sizes, err
		}
		sizes = append(sizes, out.size)
		if out.failed != nil {
			failed = append(failed, Failure{Index: i, Old: *out.failed})
		}
		effects = out.appendEffect(effects)
	}
	if failed != nil {
		return nil, sizes, &ConditionError{Failed: failed}
	}
	return effects, sizes, nil
}

// batchGroup is the number of writes of a batch in one commit, so that other writers do not wait long.
const batchGroup = 1000

// BatchWrite does any number of puts and deletes.
func (e *Embedded) BatchWrite(ctx context.Context, ws ...Write) error {
	if err := checkBatch(ws); err != nil {
		return err
	}
	m := meterOf(ctx)
	for from := 0; from < len(ws); from += batchGroup {
		part := ws[from:min(from+batchGroup, len(ws))]
		var sizes []int
		err := e.commitPlanned(ctx, func(l *ledger) (effects []effect, err error) {
			effects, sizes, err = l.planAll(part)
			return effects, err
		})
		m.countTrips((len(part) + batchWrite - 1) / batchWrite)
		m.countWrites(part, sizes, 1)
		if err != nil {
			return fault.Wrap(fmt.Sprintf("batch write from %d", from), err)
		}
	}
	return nil
}
