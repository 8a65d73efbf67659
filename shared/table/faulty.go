package table

import (
	"context"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/clock"
	"lamplighter.dev/shared/fault"
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

// Faulty makes s fail as injected; c is waited on by Delay.
func Faulty(s Store, c clock.Clock, faults ...Injection) *FaultyStore {
	return &FaultyStore{next: s, clock: c, faults: faults}
}

// Inject adds a fault, from the next call on.
func (f *FaultyStore) Inject(in Injection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, in)
}

// Heal removes every fault that was injected.
func (f *FaultyStore) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// Calls tells how many calls were made.
func (f *FaultyStore) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// due finds the faults that concern this call. One that waits for a later call comes closer.
func (f *FaultyStore) due(m Method, pks []string) []Injection {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	var hit []Injection
	rest := f.faults[:0:0]
	for _, in := range f.faults {
		if !in.concerns(m, pks) {
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

// concerns tells whether the fault is about a call.
func (in Injection) concerns(m Method, pks []string) bool {
	if in.Method != "" && in.Method != m {
		return false
	}
	for _, pk := range pks {
		if strings.HasPrefix(pk, in.PK) {
			return true
		}
	}
	return in.PK == ""
}

// harm runs call with the faults that are due.
func (f *FaultyStore) harm(ctx context.Context, m Method, pks []string, call func() error) error {
	var after error
	for _, in := range f.due(m, pks) {
		switch in.Harm {
		case FailBefore:
			return ErrDown
		case Throttle:
			return ErrThrottled
		case FailAfter:
			after = ErrLost
		case Delay:
			if err := f.clock.Sleep(ctx, in.Wait); err != nil {
				return err
			}
		}
	}
	if err := call(); err != nil {
		return err
	}
	return after
}

// partitions are the partition keys of writes.
func partitions(ws []Write) []string {
	pks := make([]string, len(ws))
	for i := range ws {
		pks[i] = ws[i].Item.PK
	}
	return pks
}

// Get is Store's.
func (f *FaultyStore) Get(ctx context.Context, k Key) (it Item, err error) {
	err = f.harm(ctx, GetMethod, []string{k.PK}, func() (err error) {
		it, err = f.next.Get(ctx, k)
		return err
	})
	return it, err
}

// BatchGet is Store's.
func (f *FaultyStore) BatchGet(ctx context.Context, keys ...Key) (found map[Key]Item, err error) {
	pks := make([]string, len(keys))
	for i, k := range keys {
		pks[i] = k.PK
	}
	err = f.harm(ctx, BatchGetMethod, pks, func() (err error) {
		found, err = f.next.BatchGet(ctx, keys...)
		return err
	})
	return found, err
}

// Query is Store's.
func (f *FaultyStore) Query(ctx context.Context, q Query) (p Page, err error) {
	err = f.harm(ctx, QueryMethod, []string{q.PK}, func() (err error) {
		p, err = f.next.Query(ctx, q)
		return err
	})
	return p, err
}

// Write is Store's.
func (f *FaultyStore) Write(ctx context.Context, w Write) (it Item, err error) {
	err = f.harm(ctx, WriteMethod, []string{w.Item.PK}, func() (err error) {
		it, err = f.next.Write(ctx, w)
		return err
	})
	return it, err
}

// BatchWrite is Store's.
func (f *FaultyStore) BatchWrite(ctx context.Context, ws ...Write) error {
	return f.harm(ctx, BatchWriteMethod, partitions(ws), func() error { return f.next.BatchWrite(ctx, ws...) })
}

// Transact is Store's.
func (f *FaultyStore) Transact(ctx context.Context, ws ...Write) error {
	return f.harm(ctx, TransactMethod, partitions(ws), func() error { return f.next.Transact(ctx, ws...) })
}

// Feed is Store's.
func (f *FaultyStore) Feed(ctx context.Context, cursor string, limit int) (fd Feed, err error) {
	err = f.harm(ctx, FeedMethod, nil, func() (err error) {
		fd, err = f.next.Feed(ctx, cursor, limit)
		return err
	})
	return fd, err
}

var _ Store = (*FaultyStore)(nil)
