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

// A note says that entries wait to be linked into a chain, so that the worker need not look at every organization. A
// process stores a note in the transaction of an entry, at most once in noteEvery for each chain. A longer interval
// links more entries at once: a note and a run of the linker take 5 write units and 19 read units.
const (
	duePrefix = "AUDITDUE#"
	dueShards = 16
	noteEvery = 12 * time.Minute
)

// LinkAfter is the age of a note from when on it is processed. By then, the entries that rely on it are stored, even if
// the clocks of two processes differ by a minute.
const LinkAfter = noteEvery + 2*time.Minute

// duePK returns the partition of the notes for the chain.
func (p Place) duePK() string { return shardOf(duePrefix, hashOf(p.PK)%dueShards) }

// duePrefix returns the prefix of the sort keys of the notes for the chain.
func (p Place) duePrefix() string { return p.PK + " " }

// due is a note.
type due struct {
	PK string    `json:"pk"` // of the chain
	At time.Time `json:"at"`
}

// noteDue returns the write of a note, or nil if the process has stored one recently.
func (l *Log) noteDue(at Place, entryID string, now time.Time) *table.Write {
	l.mu.Lock()
	noted := l.chainState(at).noted
	l.mu.Unlock()
	if since := now.Sub(noted); since >= 0 && since < noteEvery {
		return nil
	}
	it, err := table.NewItem(table.Key{PK: at.duePK(), SK: at.duePrefix() + entryID}, due{at.PK, now})
	if err != nil { // a text and a time can always be encoded
		panic(err)
	}
	w := table.Put(it)
	return &w
}

// rememberNote records that a note is stored.
func (l *Log) rememberNote(at Place, note *table.Write, when time.Time) {
	if note == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chainState(at).noted = when
}

// Due is the result of LinkDue.
type Due struct {
	Chains  int `json:"chains"`  // chains with noted entries
	Rows    int `json:"rows"`    // linked rows
	Waiting int `json:"waiting"` // entries that still wait
}

// notesPage is the number of notes of one read, and atOnce the number of chains that are linked at the same time.
const (
	notesPage = 1000
	atOnce    = 8
)

// LinkDue links waiting entries of all chains, until enough returns true. A chain that cannot be linked does not delay
// the others; the next run tries it again.
func (l *Log) LinkDue(ctx context.Context, enough func() bool) (Due, error) {
	ctx = table.Within(ctx, duePrefix)
	var out Due
	var errs []error
	for _, shard := range rand.Perm(dueShards) { //nolint:gosec // so that no shard is always last
		if enough() {
			break
		}
		errs = append(errs, l.linkShard(ctx, shardOf(duePrefix, uint32(shard)), enough, &out))
	}
	return out, errors.Join(errs...)
}

// linkShard processes the notes of one partition.
func (l *Log) linkShard(ctx context.Context, pk string, enough func() bool, out *Due) error {
	var errs []error
	for q := (table.Query{PK: pk, Limit: notesPage}); !enough(); {
		// eventually consistent: the next run finds a missed note, and rows are read consistently
		page, err := l.store.Query(table.Eventually(ctx), q)
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("read notes of %s: %w", pk, err))...)
		}
		errs = append(errs, l.linkNoted(ctx, page.Items, enough, out))
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	return errors.Join(errs...)
}

// linkNoted links the chains of a page of notes.
func (l *Log) linkNoted(ctx context.Context, items []table.Item, enough func() bool, out *Due) error {
	notes, err := l.groupNotes(items)
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
			got, err := l.linkAndRemoveNotes(ctx, placeAt(chainPK), keys, enough)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			out.Chains, out.Rows, out.Waiting = out.Chains+1, out.Rows+got.Rows, out.Waiting+got.Waiting
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// groupNotes returns the keys of the notes to process, by chain.
func (l *Log) groupNotes(items []table.Item) (map[string][]table.Key, error) {
	out, now := map[string][]table.Key{}, l.clock.Now()
	for _, it := range items {
		n, err := table.Decode[due](it)
		if err != nil {
			return nil, err
		}
		if now.Sub(n.At) >= LinkAfter {
			out[n.PK] = append(out[n.PK], it.Key)
		}
	}
	return out, nil
}

// linkAndRemoveNotes links a chain, and removes its notes unless entries still wait.
func (l *Log) linkAndRemoveNotes(ctx context.Context, at Place, notes []table.Key, enough func() bool) (Linked, error) {
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
