package table

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Options are the options of an embedded store. The zero value is for production.
type Options struct {
	// NoSync does not sync files: faster, but a power failure loses data. For tests.
	NoSync bool
	// Clock decides which items have expired; nil means the machine's clock.
	Clock clock.Clock
	// Layout is the version of keys and items that the program uses. A new file gets this version. A file of another
	// version is refused. 0 accepts every version, for tools and tests.
	Layout int
	// SweepEvery is the time between removals of expired items. 0 means one minute, a negative value means never.
	SweepEvery time.Duration
}

// Embedded is the engine for one process: a B+tree in a file. A write is acknowledged when it is on disk. All waiting
// writes are committed in one transaction of the file, so that many writers share the cost of a sync.
type Embedded struct {
	db    *bolt.DB
	path  string
	clock clock.Clock
	queue queue
	lead  chan struct{} // holds one element while a caller commits for all
	group []*op         // the last committed group; only used by the committing caller
	// contents sums up the file as Open found it.
	contents contents
	stop     context.CancelFunc
	idle     sync.WaitGroup
	gate     sync.RWMutex // locked for reading during an operation, for writing by Close
	shut     bool
	ended    atomic.Uint64 // operations
}

// errClosed is the error of calls after Close.
var errClosed = fault.New(fault.Unavailable, "the store is closed")

// The buckets of a store file.
var (
	headerBucket = []byte("lamplighter") // format and version
	itemBucket   = []byte("items")       // stored key → stored value
	expiryBucket = []byte("expiry")      // expiry, stored key → empty value
	feedBucket   = []byte("feed")        // sequence → entry
)

// Open opens the store file at path, and creates it if it does not exist. It does not change a file that is damaged, of
// another program, of a newer version, or in use by another process. The error names the problem and the way out.
func Open(path string, o Options) (*Embedded, error) {
	c, txid, err := prepareFile(path, o.Layout)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	db, err := openInspected(path, o, txid)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	ctx, stop := context.WithCancel(context.Background())
	e := &Embedded{db: db, path: path, clock: o.Clock, lead: make(chan struct{}, 1), stop: stop, contents: c}
	if o.SweepEvery >= 0 {
		e.idle.Go(func() { e.sweepEvery(ctx, o.SweepEvery) })
	}
	return e, nil
}

// openInspected opens a file whose last transaction was inspected.
func openInspected(path string, o Options, txid uint64) (*bolt.DB, error) {
	db, err := openEngine(path, boltOptions(o))
	if err != nil {
		return nil, explainOpenError(path, err)
	}
	err = db.View(func(tx *bolt.Tx) error {
		if uint64(tx.ID()) != txid { //nolint:gosec // counts from 0
			return fault.New(fault.Unavailable,
				"the store file %s was written to by another process; stop it, or name another file", path)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// lockWait is how long Open waits for another process to release the file.
const lockWait = 200 * time.Millisecond

// boltOptions returns the settings of the file. Commits do not write the list of free pages, which makes them a third
// faster. Close writes it, and an Open after a crash rebuilds it (30 ms for 100,000 items). The map type of that list
// is faster for files with many pages. An address space of a gigabyte avoids remapping while the file grows.
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

// Close completes running writes and closes the file. Later calls fail. A second Close does nothing.
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
	if err := errors.Join(e.storeFreePages(), e.db.Close()); err != nil {
		return fmt.Errorf("close store %s: %w", e.path, err)
	}
	return nil
}

// storeFreePages writes the list of free pages, so that the next Open need not rebuild it.
func (e *Embedded) storeFreePages() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer recoverEnginePanic(e.path, &err)
	tx, err := e.db.Begin(true)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	e.db.NoFreelistSync = false
	return errors.Join(e.contents.after(tx).store(tx), tx.Commit())
}

// beginOperation starts an operation. The store stays open until endOperation.
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
func (e *Embedded) endOperation() {
	if e.ended.Add(1)%releaseAfter == 0 {
		e.releaseMapped()
	}
	e.gate.RUnlock()
}

// unixNow returns the current time in Unix seconds, which decides whether items have expired.
func (e *Embedded) unixNow() int64 { return e.clock.Now().Unix() }

// readSnapshot calls read with a snapshot. It turns a panic of bbolt because of a damaged page into an error.
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
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer recoverEnginePanic(e.path, &err)
	return read(tx)
}

// recoverEnginePanic turns a panic of bbolt into an error. With debug.SetPanicOnFault, a page that is missing from the
// mapped file, or cannot be read, is such a panic.
func recoverEnginePanic(path string, err *error) {
	if r := recover(); r != nil {
		*err = fault.New(fault.Internal, "the store file %s is damaged (%v); stop the service, and restore a copy",
			path, r)
	}
}

var _ Store = (*Embedded)(nil)
