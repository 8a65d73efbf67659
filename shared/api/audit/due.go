package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// Notes tell that entries wait for a chain, so that whoever links need not look at every organization. A process leaves one
// with an entry, in its transaction, and none for half a minute after that.
const (
	duePrefix = "AUDITDUE#"
	dueShards = 16
	noteEvery = 30 * time.Second
)

// settled is how old a note is before it is followed: what was stored in reliance on it is then there, also where the clocks
// of two processes differ by a minute.
const settled = 2 * time.Minute

// duePK returns the partition of the notes for the chain.
func (p Place) duePK() string { return shardOf(duePrefix, hashOf(p.PK)%dueShards) }

// duePrefix begins the sort keys of the notes for the chain.
func (p Place) duePrefix() string { return p.PK + " " }

// due is a note.
type due struct {
	PK string    `json:"pk"` // of the chain
	At time.Time `json:"at"`
}

// noteDue returns the write that leaves a note, nil where the process has left one just now.
func (l *Log) noteDue(at Place, entryID string, now time.Time) *table.Write {
	l.mu.Lock()
	noted := l.remembered(at).noted
	l.mu.Unlock()
	if since := now.Sub(noted); since >= 0 && since < noteEvery {
		return nil
	}
	it, err := table.NewItem(table.Key{PK: at.duePK(), SK: at.duePrefix() + entryID}, due{at.PK, now})
	if err != nil { // a text and a time always encode
		panic(err)
	}
	w := table.Put(it)
	return &w
}

// remember keeps that a note is stored.
func (l *Log) remember(at Place, note *table.Write, when time.Time) {
	if note == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remembered(at).noted = when
}

// Due is what a run of LinkDue came to.
type Due struct {
	Chains  int `json:"chains"`  // for which entries were noted
	Rows    int `json:"rows"`    // linked
	Waiting int `json:"waiting"` // entries that still wait
}

// notesPage is how many notes are read at once, and atOnce how many chains are linked at the same time.
const (
	notesPage = 1000
	atOnce    = 8
)

// LinkDue links what waits for any chain, until enough says so. One chain that cannot be linked does not hold up the others;
// it is tried again by the next run.
func (l *Log) LinkDue(ctx context.Context, enough func() bool) (Due, error) {
	ctx = table.Within(ctx, duePrefix)
	var out Due
	var errs []error
	for _, shard := range rand.Perm(dueShards) { //nolint:gosec // so that none is always the last
		if enough() {
			break
		}
		errs = append(errs, l.linkShard(ctx, shardOf(duePrefix, uint32(shard)), enough, &out))
	}
	return out, errors.Join(errs...)
}

// linkShard follows the notes of one partition.
func (l *Log) linkShard(ctx context.Context, pk string, enough func() bool, out *Due) error {
	var errs []error
	for q := (table.Query{PK: pk, Limit: notesPage}); !enough(); {
		// a note that is missed waits for the next run; rows are read as they are
		page, err := l.store.Query(table.Eventually(ctx), q)
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("read notes of %s: %w", pk, err))...)
		}
		errs = append(errs, l.followAll(ctx, page.Items, enough, out))
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	return errors.Join(errs...)
}

// followAll follows a page of notes.
func (l *Log) followAll(ctx context.Context, items []table.Item, enough func() bool, out *Due) error {
	notes, err := l.followed(items)
	if err != nil {
		return err
	}
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		errs []error
		room = make(chan struct{}, atOnce)
	)
	for chainPK, keys := range notes {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			got, err := l.follow(ctx, placeAt(chainPK), keys, enough)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			out.Chains, out.Rows, out.Waiting = out.Chains+1, out.Rows+got.Rows, out.Waiting+got.Waiting
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// followed returns the keys of the notes that are to be followed, by chain.
func (l *Log) followed(items []table.Item) (map[string][]table.Key, error) {
	out, now := map[string][]table.Key{}, l.clock.Now()
	for _, it := range items {
		n, err := table.Decode[due](it)
		if err != nil {
			return nil, err
		}
		if now.Sub(n.At) >= settled {
			out[n.PK] = append(out[n.PK], it.Key)
		}
	}
	return out, nil
}

// follow links a chain and takes away the notes that led to it, unless something still waits.
func (l *Log) follow(ctx context.Context, at Place, notes []table.Key, enough func() bool) (Linked, error) {
	got, err := l.link(ctx, at, enough)
	if err != nil || got.Waiting > 0 {
		return got, err
	}
	gone := make([]table.Write, len(notes))
	for i, k := range notes {
		gone[i] = table.Delete(k)
	}
	if err = l.store.BatchWrite(ctx, gone...); err != nil {
		return got, fmt.Errorf("take away notes of %s: %w", at.PK, err)
	}
	return got, nil
}
