package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Head is where a chain ends: its last row, and the epoch in which that was linked. The zero Head is that of an empty chain.
type Head struct {
	Seq   int64     `json:"seq"`
	At    time.Time `json:"at"`
	Hash  string    `json:"hash"`
	Epoch time.Time `json:"epoch,omitzero"`
}

// Linked is what linking came to.
type Linked struct {
	Head    Head // of the chain, afterwards
	Rows    int  // that were linked
	Waiting int  // entries that still wait: of requests under way, or more than there was time for
}

// Link links what waits for a chain, until enough says so, so that who reads it finds whatever was acknowledged before. Where
// nothing waits it is two calls at once.
func (l *Log) Link(ctx context.Context, at Place, enough func() bool) (Linked, error) {
	ctx = table.Within(table.WithoutAttachment(ctx), at.permitted()...)
	var head Head
	var due bool
	g, both := errgroup.WithContext(ctx)
	g.Go(func() (err error) { head, err = ReadHead(both, l.store, at); return err })
	g.Go(func() (err error) { due, err = l.isDue(both, at); return err })
	if err := g.Wait(); err != nil || !due && !l.restored(head) {
		return Linked{Head: head}, err
	}
	return l.link(ctx, at, enough)
}

// isDue reports whether anything may wait for the chain.
func (l *Log) isDue(ctx context.Context, at Place) (bool, error) {
	page, err := l.store.Query(ctx, table.Query{PK: at.duePK(), Prefix: at.duePrefix(), Limit: 1})
	return len(page.Items) > 0, fault.Wrap("read notes of "+at.PK, err)
}

// ReadHead reads where a chain ends; the zero Head when it is empty.
func ReadHead(ctx context.Context, s table.Store, at Place) (Head, error) {
	h, err := table.Read[Head](ctx, s, at.Head)
	if fault.Is(err, fault.NotFound) {
		return Head{}, nil
	}
	if err != nil {
		return h, fmt.Errorf("read head of %s: %w", at.PK, err)
	}
	return h, nil
}

// restored reports whether the store was restored after the chain was written to.
func (l *Log) restored(h Head) bool { return h.Seq > 0 && h.Epoch.Before(l.epoch) }

// link links what waits, one at a time in a process: those who come meanwhile may have left entries that the first does
// not see.
func (l *Log) link(ctx context.Context, at Place, enough func() bool) (Linked, error) {
	ctx = table.Within(ctx, at.permitted()...)
	c := l.enter(at)
	defer l.leave(c)
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return Linked{}, ctx.Err()
	}
	k := &linking{log: l, place: at, enough: enough, seen: map[string]bool{}}
	err := k.run(ctx)
	return Linked{k.head, k.rows, k.waiting}, err
}

// linking is a run of link.
type linking struct {
	log     *Log
	place   Place
	enough  func() bool
	head    Head
	rows    int
	waiting int
	more    bool            // entries wait behind those that were read
	seen    map[string]bool // entries that are known to wait, or to be in the chain
}

// run links until nothing waits that can be linked. When another process was first, or the store gave no answer, it looks
// again: an entry leaves in the transaction that brings its row, so what waits tells what is still to be done.
func (k *linking) run(ctx context.Context) error {
	var err error
	for n := 0; n < tries; n++ {
		before := k.rows
		if err = k.round(ctx); err == nil {
			if !k.more || k.rows == before || k.enough() {
				return nil
			}
			n = -1 // what was behind a full page comes next
			continue
		}
		if _, raced := errors.AsType[*table.ConditionError](err); !raced && !fault.Is(err, fault.Unavailable) {
			break
		}
		if k.rows > before {
			n = 0
		}
		if k.enough() || (clock.System{}).Sleep(ctx, jitter(n+1)) != nil {
			break
		}
	}
	return fmt.Errorf("link what waits for %s: %w", k.place.PK, err)
}

// round reads what waits, and links it.
func (k *linking) round(ctx context.Context) error {
	var err error
	if k.head, err = ReadHead(ctx, k.log.store, k.place); err != nil {
		return err
	}
	found, err := k.read(ctx)
	if err != nil {
		return err
	}
	k.waiting = len(found)
	steps, err := k.plan(ctx, found)
	if err != nil {
		return err
	}
	for len(steps) > 0 && !k.enough() {
		group := steps[:groupOf(steps)]
		if err = k.commit(ctx, group); err != nil {
			return err
		}
		steps = steps[len(group):]
	}
	return nil
}

// step is a row that is to be linked, and the entry that leaves with it; either may be missing.
type step struct {
	content map[string]any
	entry   *waiting
}

// groupOf returns how many steps go into one transaction, which has room for 100 writes, one of them the head's. At 20 kB a row
// they stay below its 4 MB.
func groupOf(steps []step) int {
	writes := 1
	for i := range steps {
		if writes += 2; writes > table.MaxTransact {
			return i
		}
	}
	return len(steps)
}

// commit links a group: all of it or nothing.
func (k *linking) commit(ctx context.Context, group []step) error {
	head, left := k.head, 0
	ws := make([]table.Write, 1, 1+2*len(group))
	for _, s := range group {
		if s.content != nil {
			head = sealAfter(s.content, head)
			ws = append(ws, table.Put(storedItem(k.place.PK, s.content), table.Absent()))
		}
		if s.entry != nil {
			ws = append(ws, s.entry.leave())
			left++
		}
	}
	if head.Epoch.Before(k.log.epoch) {
		head.Epoch = k.log.epoch
	}
	here := table.Absent()
	if k.head.Seq > 0 {
		here = table.Equal("hash", k.head.Hash)
	}
	row, err := table.NewItem(k.place.Head, head)
	if err != nil {
		return err
	}
	ws[0] = table.Put(row, here)
	if err = k.log.store.Transact(ctx, ws...); err != nil {
		return k.judge(err)
	}
	k.rows += int(head.Seq - k.head.Seq)
	k.head, k.waiting = head, k.waiting-left
	return nil
}

// judge tells a race from a chain that is damaged: a row lies where the next one belongs, and the head has not moved.
func (k *linking) judge(err error) error {
	lost, ok := errors.AsType[*table.ConditionError](err)
	if !ok {
		return err
	}
	for _, f := range lost.Failed {
		if f.Index == 0 || f.Old.PK != k.place.PK {
			return err
		}
	}
	at := lost.Failed[0].Old.Key
	return fault.New(fault.Internal, "the rows of %s do not end where its head says: there is a row %s behind it",
		at.PK, at.SK)
}

// entriesPage is how many entries are read at once of each partition.
const entriesPage = 1000

// read reads what waits, in the order of time.
func (k *linking) read(ctx context.Context) ([]waiting, error) {
	pks := k.place.waitingPKs()
	pages := make([]table.Page, len(pks))
	g, all := errgroup.WithContext(ctx)
	for i, pk := range pks {
		g.Go(func() (err error) {
			pages[i], err = k.log.store.Query(all, table.Query{PK: pk, Limit: entriesPage})
			return fault.Wrap("read entries of "+pk, err)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	k.more = slices.ContainsFunc(pages, func(p table.Page) bool { return p.Next != "" })
	return k.open(pages), nil
}

// byTime compares entries by when they happened.
func byTime(a, b waiting) int {
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.Nth, b.Nth), cmp.Compare(a.key.SK, b.key.SK))
}
