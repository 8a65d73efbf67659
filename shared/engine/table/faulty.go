package table

import (
	"context"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// The errors that a store gives when it cannot answer for now. After ErrLost the write may have taken effect.
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

// Harm is what an injected fault does to a call.
type Harm uint8

// The harms.
const (
	FailBefore Harm = iota + 1 // ErrDown, and nothing happened
	FailAfter                  // the call takes effect, then ErrLost
	Throttle                   // ErrThrottled, and nothing happened
	Delay                      // the call waits first, as long as Wait says
	// an eventually consistent BatchGet or Query finds nothing, as on a replica that is behind
	Lag
)

// Injection is a fault to come. It concerns the calls of Method ("" any) that touch a partition beginning with PK (""
// any); of those, only the one numbered Call (1 is the first after the injection; 0 is each).
type Injection struct {
	Harm   Harm
	Method Method
	PK     string
	Call   int
	Wait   time.Duration
}

// FaultyStore is a store that fails on demand.
type FaultyStore struct {
	next   Store
	clock  clock.Clock
	mu     sync.Mutex
	faults []Injection
	calls  int
}

// NewFaultyStore makes s fail as injected; c is waited on by Delay.
func NewFaultyStore(s Store, c clock.Clock, faults ...Injection) *FaultyStore {
	return &FaultyStore{next: s, clock: c, faults: faults}
}

// Inject adds a fault, from the next call on.
func (f *FaultyStore) Inject(in Injection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, in)
}

// RemoveFaults removes every fault that was injected.
func (f *FaultyStore) RemoveFaults() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// CallCount returns how many calls were made.
func (f *FaultyStore) CallCount() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// target is what a call is about.
type target struct {
	method Method
	pks    []string
}

// due finds the faults that concern this call. One that waits for a later call comes closer.
func (f *FaultyStore) due(on target) []Injection {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	var hit []Injection
	rest := f.faults[:0:0]
	for _, in := range f.faults {
		if !in.concerns(on) {
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

// concerns reports whether the fault is about a call.
func (in Injection) concerns(on target) bool {
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

// harm runs call with the faults that are due. A lost reply takes the answer with it.
func harm[T any](ctx context.Context, f *FaultyStore, on target, call func() (T, error)) (T, error) {
	var none T
	lost := false
	for _, in := range f.due(on) {
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

// Get is Store's.
func (f *FaultyStore) Get(ctx context.Context, k Key) (Item, error) {
	return harm(ctx, f, target{GetMethod, []string{k.PK}}, func() (Item, error) { return f.next.Get(ctx, k) })
}

// BatchGet is Store's.
func (f *FaultyStore) BatchGet(ctx context.Context, keys ...Key) (map[Key]Item, error) {
	pks := make([]string, len(keys))
	for i, k := range keys {
		pks[i] = k.PK
	}
	return harm(ctx, f, target{BatchGetMethod, pks}, func() (map[Key]Item, error) {
		return f.next.BatchGet(ctx, keys...)
	})
}

// Query is Store's.
func (f *FaultyStore) Query(ctx context.Context, q Query) (Page, error) {
	return harm(ctx, f, target{QueryMethod, []string{q.PK}}, func() (Page, error) { return f.next.Query(ctx, q) })
}

// Write is Store's.
func (f *FaultyStore) Write(ctx context.Context, w Write) (Item, error) {
	return harm(ctx, f, target{WriteMethod, []string{w.Item.PK}}, func() (Item, error) { return f.next.Write(ctx, w) })
}

// BatchWrite is Store's.
func (f *FaultyStore) BatchWrite(ctx context.Context, ws ...Write) error {
	_, err := harm(ctx, f, target{BatchWriteMethod, partitions(ws)}, func() (struct{}, error) {
		return struct{}{}, f.next.BatchWrite(ctx, ws...)
	})
	return err
}

// Transact is Store's.
func (f *FaultyStore) Transact(ctx context.Context, ws ...Write) error {
	_, err := harm(ctx, f, target{TransactMethod, partitions(ws)}, func() (struct{}, error) {
		return struct{}{}, f.next.Transact(ctx, ws...)
	})
	return err
}

// Feed is Store's.
func (f *FaultyStore) Feed(ctx context.Context, cursor string, limit int) (Feed, error) {
	return harm(ctx, f, target{FeedMethod, nil}, func() (Feed, error) { return f.next.Feed(ctx, cursor, limit) })
}

var _ Store = (*FaultyStore)(nil)
