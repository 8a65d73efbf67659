package table

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Limits is what a LimitedStore enforces. DynamoDB gives each partition key 3,000 read and 1,000 write units a second.
type Limits struct {
	ReadUnits, WriteUnits float64       // of one partition key in a second; what was not used is kept for one second
	Hold                  time.Duration // how long each transaction holds its items before it commits
}

// LimitedStore answers as DynamoDB does under load: a call whose partition key has no units left is throttled, and a
// transaction or single write that meets an item which another transaction holds is in conflict. Both are tried again as
// the DynamoDB engine does, with its pauses, and then fail as there: ErrThrottled, ErrConflicted. Reads meet no conflict. A call
// is let in while its partitions have units left and then costs what the meter says, if need be on credit.
type LimitedStore struct {
	next   Store
	clock  clock.Clock
	limits Limits
	mu     sync.Mutex
	parts  map[string]*allowance
	held   map[Key]struct{}
	report LimitReport
}

// LimitReport is what a LimitedStore has refused and given. Throttled and Conflicts count refusals of single attempts, GivenUp
// the calls that failed for good.
type LimitReport struct {
	Throttled, Conflicts, GivenUp int
	Peaks                         map[string]Units // the most units that a partition key gave in a second
}

// NewLimitedStore makes s as limited as l says. Time passes and waits are spent on c.
func NewLimitedStore(s Store, c clock.Clock, l Limits) *LimitedStore {
	return &LimitedStore{next: s, clock: c, limits: l, parts: map[string]*allowance{}, held: map[Key]struct{}{}}
}

// Report returns what happened so far.
func (l *LimitedStore) Report() LimitReport {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.report
	r.Peaks = make(map[string]Units, len(l.parts))
	for pk, a := range l.parts {
		r.Peaks[pk] = Units{a.read.peak, a.write.peak}
	}
	return r
}

// Get is Store's.
func (l *LimitedStore) Get(ctx context.Context, k Key) (Item, error) {
	it, err := limit(ctx, l, claimRead(k.PK), func(ctx context.Context) (Item, error) { return l.next.Get(ctx, k) })
	return it, wrapBusy("get "+k.PK+" "+k.SK, err)
}

// Query is Store's.
func (l *LimitedStore) Query(ctx context.Context, q Query) (Page, error) {
	p, err := limit(ctx, l, claimRead(q.PK), func(ctx context.Context) (Page, error) { return l.next.Query(ctx, q) })
	return p, wrapBusy("query "+q.PK, err)
}

// Write is Store's.
func (l *LimitedStore) Write(ctx context.Context, w Write) (Item, error) {
	it, err := limit(ctx, l, claimWrites([]Write{w}, 1), func(ctx context.Context) (Item, error) {
		return l.next.Write(ctx, w)
	})
	return it, wrapBusy("write "+w.Item.PK+" "+w.Item.SK, err)
}

// Transact is Store's.
func (l *LimitedStore) Transact(ctx context.Context, ws ...Write) error {
	if err := checkTransact(ws); err != nil {
		return err
	}
	c := claimWrites(ws, 2)
	c.hold = true
	_, err := limit(ctx, l, c, func(ctx context.Context) (struct{}, error) {
		if err := l.clock.Sleep(ctx, l.limits.Hold); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, l.next.Transact(ctx, ws...)
	})
	return wrapBusy(fmt.Sprintf("transact %d writes from %s", len(ws), ws[0].Item.PK), err)
}

// Feed is Store's. The table's stream has units of its own.
func (l *LimitedStore) Feed(ctx context.Context, cursor string, limit int) (Feed, error) {
	return l.next.Feed(ctx, cursor, limit)
}

// BatchGet is Store's. A part that is throttled is asked for again.
func (l *LimitedStore) BatchGet(ctx context.Context, keys ...Key) (map[Key]Item, error) {
	keys, err := distinctKeys(keys)
	if err != nil || len(keys) == 0 {
		return map[Key]Item{}, err
	}
	claimKey := func(k Key) claim { return claimRead(k.PK) }
	found, mu := make(map[Key]Item, len(keys)), sync.Mutex{}
	err = limitParts(ctx, l, slices.Chunk(keys, batchGet), claimKey, func(ctx context.Context, keys []Key) error {
		items, err := l.next.BatchGet(ctx, keys...)
		mu.Lock()
		defer mu.Unlock()
		maps.Copy(found, items)
		return err
	})
	if err != nil {
		return nil, wrapBusy("batch get", err)
	}
	return found, nil
}

// BatchWrite is Store's. Writes that are throttled, or whose item a transaction holds, are done later.
func (l *LimitedStore) BatchWrite(ctx context.Context, ws ...Write) error {
	if err := checkBatch(ws); err != nil {
		return err
	}
	claimWrite := func(w Write) claim { return claimWrites([]Write{w}, 1) }
	err := limitParts(ctx, l, slices.Chunk(ws, batchWrite), claimWrite, func(ctx context.Context, ws []Write) error {
		return l.next.BatchWrite(ctx, ws...)
	})
	return wrapBusy("batch write", err)
}

// limit makes call when its claim is let in.
func limit[T any](ctx context.Context, l *LimitedStore, c claim, call func(context.Context) (T, error)) (answer T,
	err error) {
	_, err = callWithRetry(ctx, l.clock, false, func(ctx context.Context) error {
		err := l.admit(c)
		if err != nil {
			meterOf(ctx).countTrips(1)
		}
		return err
	})
	if err != nil {
		l.noteGivenUp(err)
		return answer, err
	}
	ctx, m := WithPartitionMeter(ctx)
	defer func() { l.settle(c, m.Partitions()) }()
	return call(ctx)
}

// limitParts makes the calls of a batch, several at a time, each again for the entries that were refused.
func limitParts[T any](
	ctx context.Context, l *LimitedStore, parts func(func([]T) bool), claimOf func(T) claim,
	call func(context.Context, []T) error,
) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for part := range parts {
		g.Go(func() error {
			return callUntilDone(ctx, l.clock, part, func(ctx context.Context, todo []T) ([]T, error) {
				return limitSome(ctx, l, todo, claimOf, call)
			})
		})
	}
	return g.Wait()
}

// limitSome makes call for the entries that are let in and returns the others. When none is, the whole is tried again.
func limitSome[T any](
	ctx context.Context, l *LimitedStore, todo []T, claimOf func(T) claim, call func(context.Context, []T) error,
) (left []T, err error) {
	var in []T
	var all claim
	_, err = callWithRetry(ctx, l.clock, false, func(ctx context.Context) (err error) {
		in, left, all = nil, nil, claim{}
		for _, t := range todo {
			c := claimOf(t)
			if refusal := l.admit(c); refusal != nil {
				left, err = append(left, t), refusal
				continue
			}
			in, all = append(in, t), all.and(c)
		}
		if len(in) > 0 {
			return nil
		}
		meterOf(ctx).countTrips(1)
		return err
	})
	if err != nil {
		l.noteGivenUp(err)
		return nil, err
	}
	ctx, m := WithPartitionMeter(ctx)
	defer func() { l.settle(all, m.Partitions()) }()
	return left, call(ctx, in)
}

// noteGivenUp counts a call that was refused at each of its attempts.
func (l *LimitedStore) noteGivenUp(err error) {
	if errors.Is(err, ErrThrottled) || errors.Is(err, ErrConflicted) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.report.GivenUp++
	}
}

// wrapBusy says which call was refused; another error, and that of a context that has ended, stays as it is.
func wrapBusy(op string, err error) error {
	if _, busy := errors.AsType[*busyError](err); busy {
		return fault.Wrap(op, err)
	}
	return err
}

var _ Store = (*LimitedStore)(nil)
