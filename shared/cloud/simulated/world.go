package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// world is the state of one account's resources: an append-only log in the store, one item for each act call, and its
// outcome in memory. Any number of processes may append. A conditional write claims the number of an item; a process
// that loses reads on and decides again. When the log is long, its outcome is stored and the log is cut (fold.go).
type world struct {
	store table.Store
	pk    string

	mu     sync.Mutex
	nodes  map[node]transition
	values map[node]map[string]string // that remediation has set
	seq    int64                      // the last log item that nodes contains
	folded int64                      // the last log item that the stored outcome contains, as far as known here

	calls     map[string]int
	buckets   map[string]*rate.Limiter // that an account with limits enforces
	refused   int                      // calls, for these
	throttled int                      // by Throttle
	denied    []string                 // by Deny
}

// entry is one item of the log: the effect of one call.
type entry struct {
	At     int64  `json:"at"` // Unix microseconds
	Kind   uint8  `json:"kind"`
	Region uint8  `json:"region"`
	Moves  []move `json:"moves"`
	Sets   []set  `json:"sets,omitempty"`
}

// set gives a node values of facts that are not those of its index, and takes values back that are nil.
type set struct {
	Number uint32             `json:"n"`
	Values map[string]*string `json:"v"`
}

// move is the transition of one node. It says how long it takes and whether it will hold, so that changing an account's
// settings rewrites no history.
type move struct {
	Number uint32    `json:"n"`
	Millis int32     `json:"ms"`
	On     bool      `json:"on,omitempty"`
	Falls  bool      `json:"falls,omitempty"`
	Was    bool      `json:"was,omitempty"`
	Cap    *capacity `json:"cap,omitempty"`
	Had    *capacity `json:"had,omitempty"`
}

func (w *world) countCall(method string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[method]++
	return w.calls[method]
}

// takeThrottle takes one from the calls that Throttle asked for.
func (w *world) takeThrottle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.throttled = max(w.throttled, 0) - 1
	return w.throttled >= 0
}

// deniedCapabilities returns the denials of the settings and those of Deny.
func (w *world) deniedCapabilities(settings []string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Concat(settings, w.denied)
}

// last returns the history of a node. The caller holds w.mu.
func (w *world) last(n node) (transition, bool) {
	t, ok := w.nodes[n]
	return t, ok
}

// changed returns the values of a node that remediation has set. The caller holds w.mu.
func (w *world) changed(n node) map[string]string { return w.values[n] }

// readHistory calls f with a history that contains everything that was acknowledged before.
func (w *world) readHistory(ctx context.Context, f func(history)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.catchUp(w.orgScope(ctx)); err != nil {
		return err
	}
	f(w)
	return nil
}

// changeHistory lets decide make moves from the current history, and makes them last before it returns. decide may run
// again when another process was faster.
func (w *world) changeHistory(ctx context.Context, decide func(history) entry) error {
	ctx = w.orgScope(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		if err := w.catchUp(ctx); err != nil {
			return err
		}
		e := decide(w)
		if len(e.Moves) == 0 && len(e.Sets) == 0 {
			return nil
		}
		switch err := w.appendEntry(ctx, e); {
		case err == nil:
			w.applyEntry(e)
			w.seq++
			return w.foldLog(ctx)
		case !fault.Is(err, fault.Conflict):
			return err
		}
	}
}

func (w *world) orgScope(ctx context.Context) context.Context { return table.Within(ctx, w.pk) }

func (w *world) logKey(seq int64) table.Key {
	return table.Key{PK: w.pk, SK: fmt.Sprintf("L#%015d", seq)}
}

// appendEntry writes e behind the log; fault.Conflict when this process does not know the whole log.
func (w *world) appendEntry(ctx context.Context, e entry) error {
	it, err := table.NewItem(w.logKey(w.seq+1), e)
	if err != nil {
		return err
	}
	// The check refuses a writer that slept while others appended, folded and cut the log at its place.
	err = w.store.Transact(ctx, table.Put(it, table.Absent()),
		table.Check(w.headKey(), table.LessEqual("folded", w.seq)))
	if err != nil {
		return fmt.Errorf("append to %s: %w", w.pk, err)
	}
	return nil
}

// catchUp reads the items that were appended since the last call, or everything when the log was cut beyond the last
// known item.
func (w *world) catchUp(ctx context.Context) error {
	if w.nodes == nil {
		if err := w.loadOutcome(ctx); err != nil {
			return err
		}
	}
	for {
		gap, err := w.readOn(ctx)
		if err != nil || !gap {
			return err
		}
		if err = w.loadOutcome(ctx); err != nil {
			return err
		}
	}
}

// readOn applies the log items after seq. A fold keeps the last item that it contains, so a reader that is behind it
// sees a gap.
func (w *world) readOn(ctx context.Context) (gap bool, err error) {
	q := table.Query{PK: w.pk, From: w.logKey(w.seq + 1).SK, To: "L#~", Limit: 500}
	for {
		page, err := w.store.Query(ctx, q)
		if err != nil {
			return false, fmt.Errorf("read log of %s: %w", w.pk, err)
		}
		for _, it := range page.Items {
			if it.SK != w.logKey(w.seq+1).SK {
				return true, nil
			}
			e, err := table.Decode[entry](it)
			if err != nil {
				return false, err
			}
			w.applyEntry(e)
			w.seq++
		}
		if page.Next == "" {
			return false, nil
		}
		q.Cursor = page.Next
	}
}

// applyEntry brings nodes and values up to date with e.
func (w *world) applyEntry(e entry) {
	for _, s := range e.Sets {
		w.applySet(node{kind: e.Kind, region: e.Region, number: s.Number}, s)
	}
	for _, m := range e.Moves {
		t := transition{at: e.At, millis: m.Millis, on: m.On, falls: m.Falls, was: m.Was}
		if m.Cap != nil {
			t.cap = *m.Cap
		}
		if m.Had != nil {
			t.had = *m.Had
		}
		w.nodes[node{kind: e.Kind, region: e.Region, number: m.Number}] = t
	}
}

func (w *world) applySet(n node, s set) {
	now := maps.Clone(w.values[n])
	if now == nil {
		now = map[string]string{}
	}
	for name, v := range s.Values {
		if delete(now, name); v != nil {
			now[name] = *v
		}
	}
	if w.values[n] = now; len(now) == 0 {
		delete(w.values, n)
	}
}

// transitionLength returns how long a transition of n takes.
func (s *settings) transitionLength(n node) time.Duration {
	share := 0.5 + float64(s.drawProperty(n, asSpeed)>>11)/(1<<54)
	return time.Duration(float64(s.transition) * share)
}

// decodeCapacity reads the snapshot that a stop left; nil when there is none.
func decodeCapacity(raw json.RawMessage) (*capacity, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var c capacity
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	if c.Min < 0 || c.Min > c.Desired || c.Desired > c.Max || c.Desired == 0 {
		return nil, errors.New("the sizes must obey 0 ≤ min ≤ desired ≤ max and desired ≥ 1")
	}
	return &c, nil
}
