package table

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Options are choices about an embedded store. The zero value is right for service.
type Options struct {
	// NoSync leaves writing to the operating system: quicker, but a power cut loses data. For tests.
	NoSync bool
	// Clock decides what has expired; nil is the machine's.
	Clock clock.Clock
	// Layout numbers the keys and shapes of rows that the program reads. A new file gets it, one of another is refused; with 0,
	// as for tools and tests, any is read.
	Layout int
	// SweepEvery is the time between removals of what has expired; 0 is a minute, less than 0 is never.
	SweepEvery time.Duration
}

// Embedded is the engine for one process: a B+tree in one file. A write is acknowledged when it is on disk. Everything
// that waits is committed as one transaction of the file, so that many writers share the cost of a sync.
type Embedded struct {
	db    *bolt.DB
	path  string
	clock clock.Clock
	queue queue
	lead  chan struct{} // holds one while a caller commits for all
	group []*op         // what was committed last; the committing caller's
	stop  context.CancelFunc
	idle  sync.WaitGroup
	gate  sync.RWMutex // held to read while an operation is under way, to write by Close
	shut  bool
}

// errClosed answers calls after Close.
var errClosed = fault.New(fault.Unavailable, "the store is closed")

// The buckets of a store file.
var (
	headerBucket = []byte("lamplighter") // what the file is
	itemBucket   = []byte("items")       // stored key → stored value
	expiryBucket = []byte("expiry")      // expiry, stored key → nothing
	feedBucket   = []byte("feed")        // sequence → entry
)

// Open opens the store file at path, and makes it when there is none. A file that is damaged, of another program, of a
// newer version of this one or in use by another process is left as it is, and the error says which and what to do.
func Open(path string, o Options) (*Embedded, error) {
	if err := prepareFile(path, o.Layout); err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	db, err := bolt.Open(path, 0o600, boltOptions(o))
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, explainOpenError(path, err))
	}
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	ctx, stop := context.WithCancel(context.Background())
	e := &Embedded{db: db, path: path, clock: o.Clock, lead: make(chan struct{}, 1), stop: stop}
	if o.SweepEvery >= 0 {
		e.idle.Go(func() { e.sweepEvery(ctx, o.SweepEvery) })
	}
	return e, nil
}

// lockWait is how long Open waits for another process to let go of the file.
const lockWait = 200 * time.Millisecond

// boltOptions tunes the file. Commits do not write the list of free pages, which makes them a third quicker; Close does,
// and an Open after a crash finds them by a walk (30 ms for 100,000 items). The map of free pages is the quicker kind for files of many pages; address space enough for
// a gigabyte spares readers the remapping while the file grows.
func boltOptions(o Options) *bolt.Options {
	return &bolt.Options{
		Timeout:         lockWait,
		FreelistType:    bolt.FreelistMapType,
		NoFreelistSync:  true,
		InitialMmapSize: 1 << 30,
		NoSync:          o.NoSync,
		NoGrowSync:      o.NoSync,
	}
}

// Close finishes the writes under way and closes the file. Calls after it fail; a second Close does nothing.
func (e *Embedded) Close() error {
	e.gate.Lock()
	if e.shut {
		e.gate.Unlock()
		return nil
	}
	e.shut = true
	e.gate.Unlock()
	e.stop()
	e.idle.Wait()
	e.db.NoFreelistSync = false
	// writes the list of free pages, so that the next Open need not find them
	err := e.db.Update(func(*bolt.Tx) error { return nil })
	if err = errors.Join(err, e.db.Close()); err != nil {
		return fmt.Errorf("close store %s: %w", e.path, err)
	}
	return nil
}

// beginOperation begins an operation; the store stays open until leave.
func (e *Embedded) beginOperation(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.gate.RLock()
	if e.shut {
		e.gate.RUnlock()
		return errClosed
	}
	return nil
}

// endOperation ends an operation.
func (e *Embedded) endOperation() { e.gate.RUnlock() }

// unixNow returns the time by which items expire, in Unix seconds.
func (e *Embedded) unixNow() int64 { return e.clock.Now().Unix() }

// readSnapshot runs read on a snapshot. A damaged page makes the engine below panic; that becomes an error here.
func (e *Embedded) readSnapshot(ctx context.Context, read func(*bolt.Tx) error) (err error) {
	if err := e.beginOperation(ctx); err != nil {
		return err
	}
	defer e.endOperation()
	tx, err := e.db.Begin(false)
	if err != nil {
		return fmt.Errorf("read store %s: %w", e.path, err)
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	defer recoverEnginePanic(e.path, &err)
	return read(tx)
}

// recoverEnginePanic turns a panic of the engine below into an error.
func recoverEnginePanic(path string, err *error) {
	if r := recover(); r != nil {
		*err = fault.New(fault.Internal, "the store file %s is damaged: %v", path, r)
	}
}

var _ Store = (*Embedded)(nil)
