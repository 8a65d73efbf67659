package table

import (
	"context"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// The errors of a store that is temporarily not available. After ErrLost the write may have taken effect.
var (
	ErrThrottled = fault.New(fault.Unavailable, "the store is throttled; try again")
	ErrLost      = fault.New(fault.Unavailable, "the store's reply was lost; the write may have taken effect")
	ErrDown      = fault.New(fault.Unavailable, "the store cannot be reached; try again")
)

// Method names a method of Store.
type Method string

// The methods.
const (
	GetMethod        Method = "Get"
	BatchGetMethod   Method = "BatchGet"
	QueryMethod      Method = "Query"
	WriteMethod      Method = "Write"
	BatchWriteMethod Method = "BatchWrite"
	TransactMethod   Method = "Transact"
	FeedMethod       Method = "Feed"
)

// Harm is the effect of an injected fault on a call.
type Harm uint8

// The harms.
const (
	FailBefore Harm = iota + 1 // ErrDown, without effect
	FailAfter                  // the call takes effect, then ErrLost
	Throttle                   // ErrThrottled, without effect
	Delay                      // the call waits first, for Wait
	// Lag makes an eventually consistent BatchGet or Query find nothing, as on a replica that is behind.
	Lag
)

// Injection is a fault for future calls. It affects calls of Method ("" means any) that touch a partition whose key
// starts with PK ("" means any). If Call is n, it affects only the n-th of these calls after the injection; 0 means
// all.
type Injection struct {
	Harm   Harm
	Method Method
	PK     string
	Call   int
	Wait   time.Duration
}

// FaultyStore is a store with injected faults.
type FaultyStore struct {
	next   Store
	clock  clock.Clock
	mu     sync.Mutex
	faults []Injection
	calls  int
}

// NewFaultyStore returns a store that forwards to s, with faults. Delay waits on c.
func NewFaultyStore(s Store, c clock.Clock, faults ...Injection) *FaultyStore {
	return &FaultyStore{next: s, clock: c, faults: faults}
}

// Inject adds a fault for later calls.
func (f *FaultyStore) Inject(in Injection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, in)
}

// RemoveFaults removes all injected faults.
func (f *FaultyStore) RemoveFaults() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// CallCount returns the number of calls.
func (f *FaultyStore) CallCount() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// target is the method and the partitions of a call.
type target struct {
	method Method
	pks    []string
}

// dueFaults returns the faults for this call, and counts the call for faults of a later one.
func (f *FaultyStore) dueFaults(on target) []Injection {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	var hit []Injection
	rest := f.faults[:0:0]
	for _, in := range f.faults {
		if !in.matchesCall(on) {
			rest = append(rest, in)
			continue
		}
		if in.Call <= 1 {
			hit = append(hit, in)
		}
		if in.Call == 0 {
			rest = append(rest, in)
		} else if in.Call > 1 {
			in.Call--
			rest = append(rest, in)
		}
	}
	f.faults = rest
	return hit
}

// matchesCall reports whether the fault affects a call.
func (in Injection) matchesCall(on target) bool {
	if in.Method != "" && in.Method != on.method {
		return false
	}
	for _, pk := range on.pks {
		if strings.HasPrefix(pk, in.PK) {
			return true
		}
	}
	return in.PK == ""
}

// callWithFaults makes the call with the faults that are due. If the reply is lost, so is the result.
func callWithFaults[T any](ctx context.Context, f *FaultyStore, on target, call func() (T, error)) (T, error) {
	var none T
	lost := false
	for _, in := range f.dueFaults(on) {
		switch in.Harm {
		case FailBefore:
			return none, ErrDown
		case Throttle:
			return none, ErrThrottled
		case FailAfter:
			lost = true
		case Lag:
			if IsEventual(ctx) {
				return none, nil
			}
		case Delay:
			if err := f.clock.Sleep(ctx, in.Wait); err != nil {
				return none, err
			}
		}
	}
	answer, err := call()
	if err == nil && lost {
		return none, ErrLost
	}
	return answer, err
}

// partitions returns the partition keys of writes.
func partitions(ws []Write) []string {
	pks := make([]string, len(ws))
	for i := range ws {
		pks[i] = ws[i].Item.PK
	}
	return pks
}

// Get implements Store.
func (f *FaultyStore) Get(ctx context.Context, k Key) (Item, error) {
	return callWithFaults(ctx, f, target{GetMethod, []string{k.PK}}, func() (Item, error) { return f.next.Get(ctx, k) })
}

// BatchGet implements Store.
func (f *FaultyStore) BatchGet(ctx context.Context, keys ...Key) (map[Key]Item, error) {
	pks := make([]string, len(keys))
	for i, k := range keys {
		pks[i] = k.PK
	}
	return callWithFaults(ctx, f, target{BatchGetMethod, pks}, func() (map[Key]Item, error) {
		return f.next.BatchGet(ctx, keys...)
	})
}

// Query implements Store.
func (f *FaultyStore) Query(ctx context.Context, q Query) (Page, error) {
	return callWithFaults(ctx, f, target{QueryMethod, []string{q.PK}}, func() (Page, error) {
		return f.next.Query(ctx, q)
	})
}

// Write implements Store.
func (f *FaultyStore) Write(ctx context.Context, w Write) (Item, error) {
	return callWithFaults(ctx, f, target{WriteMethod, []string{w.Item.PK}}, func() (Item, error) {
		return f.next.Write(ctx, w)
	})
}

// BatchWrite implements Store.
func (f *FaultyStore) BatchWrite(ctx context.Context, ws ...Write) error {
	_, err := callWithFaults(ctx, f, target{BatchWriteMethod, partitions(ws)}, func() (struct{}, error) {
		return struct{}{}, f.next.BatchWrite(ctx, ws...)
	})
	return err
}

// Transact implements Store.
func (f *FaultyStore) Transact(ctx context.Context, ws ...Write) error {
	_, err := callWithFaults(ctx, f, target{TransactMethod, partitions(ws)}, func() (struct{}, error) {
		return struct{}{}, f.next.Transact(ctx, ws...)
	})
	return err
}

// Feed implements Store.
func (f *FaultyStore) Feed(ctx context.Context, cursor string, limit int) (Feed, error) {
	return callWithFaults(ctx, f, target{FeedMethod, nil}, func() (Feed, error) {
		return f.next.Feed(ctx, cursor, limit)
	})
}

var _ Store = (*FaultyStore)(nil)
