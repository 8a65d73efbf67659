package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
)

// Log appends rows to the chains of a store. It remembers where each chain ends, so that a row costs one round trip; when
// another process has gone on meanwhile, the store says so, and it costs two.
type Log struct {
	store table.Store
	clock clock.Clock

	mu     sync.Mutex
	chains map[string]*chain // by partition
}

// New returns the Log of p, always the same one: two in a process would take the ends of chains from each other.
func New(p *platform.Platform) *Log {
	return platform.Shared(p, func(p *platform.Platform) *Log {
		return NewLog(p.Table, cmp.Or[clock.Clock](p.Clock, clock.System{}))
	})
}

// NewLog makes a log of a store that remembers the ends of chains by itself.
func NewLog(s table.Store, c clock.Clock) *Log {
	return &Log{store: s, clock: c, chains: map[string]*chain{}}
}

// Place is where a chain is kept: the partition of its rows and the item that tells where it ends.
type Place struct {
	PK   string
	Head table.Key
}

// systemPrefix begins the partitions of the chains that belong to no organization, and systemChains is how many there
// are: sign-ups and guesses at passwords come at any rate, and one chain takes some hundred rows a second.
const (
	systemPrefix = "AUDIT#SYS#"
	systemChains = 16
)

// PlaceOf returns where the chain of an organization is kept.
func PlaceOf(org string) Place {
	return Place{table.OrgPK(org) + "AUDIT", table.Key{PK: table.OrgPK(org) + "META", SK: "AUDITHEAD"}}
}

// SystemPlaces returns where the chains of the installation are kept: of requests that belong to no organization.
func SystemPlaces() []Place {
	out := make([]Place, systemChains)
	for i := range out {
		pk := fmt.Sprintf("%s%02d", systemPrefix, i)
		out[i] = Place{pk, table.Key{PK: pk, SK: "HEAD"}}
	}
	return out
}

// placeOf returns where the chain of an organization is kept; without one, that of the installation for an address.
func placeOf(org, ip string) Place {
	if org != "" {
		return PlaceOf(org)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(ip)) // never fails
	return SystemPlaces()[h.Sum32()%systemChains]
}

// patience is how long a row may take. The request has an answer that waits for it, and the gateway 29 seconds for both.
const patience = 8 * time.Second

// Record puts a request on record: what is known of it, and what was noted while it ran. The row that it gives is what was
// to be written also where that failed.
func (l *Log) Record(ctx context.Context, n *Noted, r Request) (Row, error) {
	org, row := n.composeRow(r)
	return l.put(ctx, org, row)
}

// Append puts on record what the service did by itself, in the chain of org, or of the installation when org is "". It
// redacts what it is given.
func (l *Log) Append(ctx context.Context, org string, row Row) (Row, error) {
	return l.put(ctx, org, row.sanitizeRow())
}

// put writes a row at the end of a chain and gives it its number, time and hash. It goes on when ctx is cancelled: a client
// that goes away does not keep its change off the record.
func (l *Log) put(ctx context.Context, org string, row Row) (Row, error) {
	at := placeOf(org, row.IP)
	ctx, cancel := context.WithTimeout(table.Within(context.WithoutCancel(ctx), at.PK, at.Head.PK), patience)
	defer cancel()
	row.ID = id.New("aud", l.clock.Now())
	e := &entry{row: row, done: make(chan struct{})}
	c := l.enter(at)
	defer l.leave(c)
	if err := c.append(ctx, e); err != nil {
		return e.row, fmt.Errorf("append audit row %s to %s: %w", row.ID, at.PK, err)
	}
	return e.row, nil
}

// maxChains is how many ends of chains are remembered; then those that nobody writes to are forgotten.
const maxChains = 1024

func (l *Log) enter(at Place) *chain {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chains[at.PK]
	if c == nil {
		l.forget()
		c = &chain{log: l, place: at, lead: make(chan struct{}, 1)}
		l.chains[at.PK] = c
	}
	c.users++
	return c
}

func (l *Log) leave(c *chain) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.users--
}

// forget makes room. What is forgotten is learned again from the store.
func (l *Log) forget() {
	if len(l.chains) < maxChains {
		return
	}
	for pk, c := range l.chains {
		if c.users == 0 {
			delete(l.chains, pk)
		}
	}
}

// entry is a row on its way.
type entry struct {
	row  Row
	err  error
	done chan struct{}
}

// chain is one chain as this process sees it.
type chain struct {
	log   *Log
	place Place
	users int           // under Log.mu
	lead  chan struct{} // holds one while somebody commits for all
	head  Head          // the last one's that leads

	mu      sync.Mutex
	waiting []*entry
}

// append has e written. Of those that wait, one writes for all; those that come meanwhile share the next transaction.
func (c *chain) append(ctx context.Context, e *entry) error {
	c.mu.Lock()
	c.waiting = append(c.waiting, e)
	c.mu.Unlock()
	select {
	case <-e.done:
	case c.lead <- struct{}{}:
		defer func() { <-c.lead }()
		c.writeUntil(ctx, e)
	case <-ctx.Done():
		if c.withdraw(e) {
			return ctx.Err()
		}
		<-e.done
	}
	return e.err
}

// withdraw takes e back; false when it has been taken up.
func (c *chain) withdraw(e *entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waiting, e)
	if i < 0 {
		return false
	}
	c.waiting = slices.Delete(c.waiting, i, i+1)
	return true
}

// maxGroup is how many rows go into one transaction: at 8 kB a side, they stay below its 4 MB and its 100 writes.
const maxGroup = 90

// take returns what waits, the oldest first.
func (c *chain) take() []*entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.waiting), maxGroup)
	group := slices.Clone(c.waiting[:n])
	c.waiting = slices.Delete(c.waiting, 0, n)
	return group
}

// writeUntil writes groups until e is written or given up.
func (c *chain) writeUntil(ctx context.Context, e *entry) {
	for !e.ended() {
		c.writeGroup(ctx, c.take())
	}
}

// ended reports whether the entry is written or given up.
func (e *entry) ended() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// writeGroup writes a group and tells those that wait for it, also when the store panics.
func (c *chain) writeGroup(ctx context.Context, entries []*entry) {
	err := errors.New("the store panicked")
	defer func() {
		for _, e := range entries {
			e.err = err
			close(e.done)
		}
	}()
	err = c.commitGroup(ctx, entries)
}
