package audit

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
)

// Log leaves entries, and links them into chains. Entries are left side by side, and nobody contends for anything; to link
// them is a matter of those who read a chain, and of a worker.
type Log struct {
	store  table.Store
	clock  clock.Clock
	secret []byte
	epoch  time.Time
	count  atomic.Int64 // of the entries that the process has made

	mu     sync.Mutex
	chains map[string]*chain // by partition
}

// Options are what a Log stands on. Secret seals entries while they wait: all processes of an installation share it, and the
// store does not hold it. Epoch is when the store was last restored to an earlier point, zero for never.
type Options struct {
	Store  table.Store
	Clock  clock.Clock
	Secret []byte
	Epoch  time.Time
}

// New returns the Log of p, always the same one: what a process remembers of its entries is in it.
func New(p *platform.Platform) *Log {
	return platform.Shared(p, func(p *platform.Platform) *Log {
		return NewLog(Options{
			Store: p.Table, Clock: cmp.Or[clock.Clock](p.Clock, clock.System{}), Secret: p.Settings.Pepper,
			Epoch: p.Settings.Epoch,
		})
	})
}

// NewLog makes a log that remembers by itself.
func NewLog(o Options) *Log {
	h := hmac.New(sha256.New, o.Secret)
	_, _ = h.Write([]byte("entries of the audit log")) // never fails
	return &Log{store: o.Store, clock: o.Clock, secret: h.Sum(nil), epoch: o.Epoch.UTC(), chains: map[string]*chain{}}
}

// now returns the time as rows have it.
func (l *Log) now() time.Time { return l.clock.Now().Truncate(time.Millisecond) }

// timeOf returns the time for the row of an id, never before that of the id, also where the clock was set back meanwhile: a
// row is looked for from the time of its id on.
func (l *Log) timeOf(rowID string) time.Time {
	now, made := l.now(), id.TimeOf(rowID)
	if now.Before(made) {
		return made
	}
	return now
}

// Append puts on record what the service did by itself, in the chain of org, or of the installation when org is "". It
// redacts what it is given. The row has no place in the chain yet. Changes are stored in one transaction with the row: work that is
// begun anew after a kill leaves one row. When their conditions fail (table.ConditionError), nothing is on record.
func (l *Log) Append(ctx context.Context, org string, row Row, changes ...table.Write) (Row, error) { //nolint:revive // changes go last
	row = row.sanitizeRow()
	row.At = l.now()
	row.ID = id.New("aud", row.At)
	f := final{log: l, place: placeOf(org, row.IP), row: row, nth: l.count.Add(1)}
	if len(changes) == 0 {
		return row, f.put(ctx)
	}
	return row, f.putWith(ctx, changes)
}

// chain is what a process remembers of one.
type chain struct {
	users int           // under Log.mu, as all but turn
	turn  chan struct{} // holds one while somebody links
	last  string        // the entry that the process left last
	noted time.Time     // when it noted that entries wait
}

// maxChains is of how many chains a process remembers something; then those that nobody uses are forgotten.
const maxChains = 1024

// enter returns what is remembered of a chain, and keeps it until leave.
func (l *Log) enter(at Place) *chain {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.remembered(at)
	c.users++
	return c
}

func (l *Log) leave(c *chain) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.users--
}

// remembered returns what is remembered of a chain. Log.mu is held.
func (l *Log) remembered(at Place) *chain {
	c := l.chains[at.PK]
	if c == nil {
		l.forget()
		c = &chain{turn: make(chan struct{}, 1)}
		l.chains[at.PK] = c
	}
	return c
}

// forget makes room.
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

// trail is how long an entry leads back to the one before it. Whoever links looks for that one in the chain, so it must not
// lie far back.
const trail = 10 * time.Minute

// before returns the entry that the process left before the one of this id in the same chain, "" where that was long ago.
func (l *Log) before(at Place, entryID string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.remembered(at).last
	if last == entryID || l.clock.Now().Sub(id.TimeOf(last)) > trail {
		return ""
	}
	return last
}

// left remembers that an entry is stored.
func (l *Log) left(at Place, row Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remembered(at).last = row.ID
}
