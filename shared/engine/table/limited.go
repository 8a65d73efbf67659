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

// Limits are the limits of a LimitedStore. DynamoDB gives each partition key 3,000 read and 1,000 write units per
// second.
type Limits struct {
	ReadUnits, WriteUnits float64       // of one partition key per second; unused units are kept for one second
	Hold                  time.Duration // how long each transaction holds its items before it commits
}

// LimitedStore behaves like DynamoDB under load. It throttles calls whose partition key has no units left. A
// transaction or single write conflicts with a transaction that holds one of its items. Both are retried with the
// delays of the DynamoDB engine, and then fail with ErrThrottled or ErrConflicted. Reads do not conflict. A call is
// admitted while its partitions have units left, and then charged the units that the meter counts, possibly on credit.
type LimitedStore struct {
	next   Store
	clock  clock.Clock
	limits Limits
	mu     sync.Mutex
	parts  map[string]*allowance
	held   map[Key]struct{}
	report LimitReport
}

// LimitReport counts the refusals of a LimitedStore. Throttled and Conflicts count refused attempts, GivenUp counts
// calls that failed finally.
type LimitReport struct {
	Throttled, Conflicts, GivenUp int
	Peaks                         map[string]Units // maximum units per second of each partition key
}

// NewLimitedStore returns s with the limits l. Time and delays are those of c.
func NewLimitedStore(s Store, c clock.Clock, l Limits) *LimitedStore {
	return &LimitedStore{next: s, clock: c, limits: l, parts: map[string]*allowance{}, held: map[Key]struct{}{}}
}

// Report returns the counts so far.
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

// Get implements Store.
func (l *LimitedStore) Get(ctx context.Context, k Key) (Item, error) {
	it, err := callLimited(ctx, l, claimRead(k.PK), func(ctx context.Context) (Item, error) {
		return l.next.Get(ctx, k)
	})
	return it, wrapBusy("get "+k.PK+" "+k.SK, err)
}

// Query implements Store.
func (l *LimitedStore) Query(ctx context.Context, q Query) (Page, error) {
	p, err := callLimited(ctx, l, claimRead(q.PK), func(ctx context.Context) (Page, error) {
		return l.next.Query(ctx, q)
	})
	return p, wrapBusy("query "+q.PK, err)
}

// Write implements Store.
func (l *LimitedStore) Write(ctx context.Context, w Write) (Item, error) {
	it, err := callLimited(ctx, l, claimWrites([]Write{w}, 1), func(ctx context.Context) (Item, error) {
		return l.next.Write(ctx, w)
	})
	return it, wrapBusy("write "+w.Item.PK+" "+w.Item.SK, err)
}

// Transact implements Store.
func (l *LimitedStore) Transact(ctx context.Context, ws ...Write) error {
	if err := checkTransact(ws); err != nil {
		return err
	}
	c := claimWrites(ws, 2)
	c.hold = true
	_, err := callLimited(ctx, l, c, func(ctx context.Context) (struct{}, error) {
		if err := l.clock.Sleep(ctx, l.limits.Hold); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, l.next.Transact(ctx, ws...)
	})
	return wrapBusy(fmt.Sprintf("transact %d writes from %s", len(ws), ws[0].Item.PK), err)
}

// Feed implements Store. The table's stream has its own units.
func (l *LimitedStore) Feed(ctx context.Context, cursor string, limit int) (Feed, error) {
	return l.next.Feed(ctx, cursor, limit)
}

// BatchGet implements Store. It repeats throttled parts.
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

// BatchWrite implements Store. It repeats writes that are throttled, or whose item is held by a transaction.
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

// callLimited makes call when its claim is admitted.
func callLimited[T any](ctx context.Context, l *LimitedStore, c claim, call func(context.Context) (T, error)) (answer T,
	err error,
) {
	_, err = callWithRetry(ctx, l.clock, false, func(ctx context.Context) error {
		err := l.admitClaim(c)
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
	defer func() { l.settleClaim(c, m.Partitions()) }()
	return call(ctx)
}

// limitParts makes the calls of a batch, several at the same time, and repeats each for refused entries.
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

// limitSome makes call for the admitted entries and returns the others. If none is admitted, it retries.
func limitSome[T any](
	ctx context.Context, l *LimitedStore, todo []T, claimOf func(T) claim, call func(context.Context, []T) error,
) (left []T, err error) {
	var in []T
	var all claim
	_, err = callWithRetry(ctx, l.clock, false, func(ctx context.Context) (err error) {
		in, left, all = nil, nil, claim{}
		for _, t := range todo {
			c := claimOf(t)
			if refusal := l.admitClaim(c); refusal != nil {
				left, err = append(left, t), refusal
				continue
			}
			in, all = append(in, t), all.combine(c)
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
	defer func() { l.settleClaim(all, m.Partitions()) }()
	return left, call(ctx, in)
}

// noteGivenUp counts a call that was refused at each attempt.
func (l *LimitedStore) noteGivenUp(err error) {
	if errors.Is(err, ErrThrottled) || errors.Is(err, ErrConflicted) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.report.GivenUp++
	}
}

// wrapBusy adds the operation to the error of a refused call. Other errors, and that of a context that has ended, are
// not changed.
func wrapBusy(op string, err error) error {
	if _, busy := errors.AsType[*busyError](err); busy {
		return fault.Wrap(op, err)
	}
	return err
}

var _ Store = (*LimitedStore)(nil)
