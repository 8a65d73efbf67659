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

// Log stores entries, and links them into chains. Entries are stored independently of each other, without contention.
// Readers of a chain and a worker link them.
type Log struct {
	store  table.Store
	clock  clock.Clock
	secret []byte
	epoch  time.Time
	count  atomic.Int64 // number of entries that the process has made

	mu     sync.Mutex
	chains map[string]*chain // by partition
}

// Options are the dependencies of a Log. Secret authenticates entries while they wait. All processes of an installation
// share it, and it is not in the store. Epoch is the time when the store was last restored to an earlier point; zero
// means never.
type Options struct {
	Store  table.Store
	Clock  clock.Clock
	Secret []byte
	Epoch  time.Time
}

// New returns the Log of p. There is one for each p, because it holds the state of the process's entries.
func New(p *platform.Platform) *Log {
	return platform.Shared(p, func(p *platform.Platform) *Log {
		return NewLog(Options{
			Store: p.Table, Clock: cmp.Or[clock.Clock](p.Clock, clock.System{}), Secret: p.Settings.Pepper,
			Epoch: p.Settings.Epoch,
		})
	})
}

// NewLog returns a new Log with its own state.
func NewLog(o Options) *Log {
	h := hmac.New(sha256.New, o.Secret)
	_, _ = h.Write([]byte("entries of the audit log")) // a hash never fails
	return &Log{store: o.Store, clock: o.Clock, secret: h.Sum(nil), epoch: o.Epoch.UTC(), chains: map[string]*chain{}}
}

// now returns the time with the precision of rows.
func (l *Log) now() time.Time { return l.clock.Now().Truncate(time.Millisecond) }

// timeOf returns the time for the row with an ID. It is never before the time of the ID, even if the clock was set back
// in the meantime, because rows are searched from the time of their ID.
func (l *Log) timeOf(rowID string) time.Time {
	now, made := l.now(), id.TimeOf(rowID)
	if now.Before(made) {
		return made
	}
	return now
}

// Append records an action of the service itself, in the chain of org, or of the installation if org is empty. It
// redacts the row. The row has no place in the chain yet. Changes are stored in one transaction with the row, so work
// that is repeated after a crash has one row. If their conditions fail (table.ConditionError), nothing is recorded.
func (l *Log) Append(ctx context.Context, org string, row Row, changes ...table.Write) (Row, error) {
	row = row.sanitizeRow()
	row.At = l.now()
	row.ID = id.New("aud", row.At)
	f := final{log: l, place: placeOf(org, row.IP), row: row, nth: l.count.Add(1)}
	if len(changes) == 0 {
		return row, f.put(ctx)
	}
	return row, f.putWith(ctx, changes)
}

// chain is the state of a process for one chain.
type chain struct {
	users int           // protected by Log.mu, like all fields except turn
	turn  chan struct{} // holds one element while a caller links
	last  string        // ID of the last entry that the process stored
	noted time.Time     // time of the last stored note
}

// maxChains is the number of chains with state in a process. If there are more, unused ones are removed.
const maxChains = 1024

// enter returns the state of a chain. It is kept until leave.
func (l *Log) enter(at Place) *chain {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chainState(at)
	c.users++
	return c
}

func (l *Log) leave(c *chain) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.users--
}

// chainState returns the state of a chain. The caller holds Log.mu.
func (l *Log) chainState(at Place) *chain {
	c := l.chains[at.PK]
	if c == nil {
		l.removeUnused()
		c = &chain{turn: make(chan struct{}, 1)}
		l.chains[at.PK] = c
	}
	return c
}

// removeUnused makes room for another chain.
func (l *Log) removeUnused() {
	if len(l.chains) < maxChains {
		return
	}
	for pk, c := range l.chains {
		if c.users == 0 {
			delete(l.chains, pk)
		}
	}
}

// trail is the maximum age of a previous entry that the next one refers to. Linking searches the chain for that entry,
// so it must not be far back.
const trail = 10 * time.Minute

// previousEntry returns the process's previous entry for the same chain, or "" if it is older than trail.
func (l *Log) previousEntry(at Place, entryID string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.chainState(at).last
	if last == entryID || l.clock.Now().Sub(id.TimeOf(last)) > trail {
		return ""
	}
	return last
}

// rememberEntry records that an entry is stored.
func (l *Log) rememberEntry(at Place, row Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chainState(at).last = row.ID
}
