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

// Head is the end of a chain: its last row, and the epoch when that was linked. The zero Head is that of an empty
// chain.
type Head struct {
	Seq   int64     `json:"seq"`
	At    time.Time `json:"at"`
	Hash  string    `json:"hash"`
	Epoch time.Time `json:"epoch,omitzero"`
}

// Linked is the result of linking.
type Linked struct {
	Head    Head // the chain's head afterwards
	Rows    int  // linked rows
	Waiting int  // entries that still wait: of running requests, or because the time was up
}

// Link links waiting entries of a chain, until enough returns true, so that a reader finds all rows that were
// acknowledged before. If no entries wait, it makes two concurrent calls.
func (l *Log) Link(ctx context.Context, at Place, enough func() bool) (Linked, error) {
	ctx = table.Within(table.WithoutAttachment(ctx), at.permitted()...)
	var head Head
	var due bool
	g, both := errgroup.WithContext(ctx)
	g.Go(func() (err error) { head, err = ReadHead(both, l.store, at); return err })
	g.Go(func() (err error) { due, err = l.isDue(both, at); return err })
	if err := g.Wait(); err != nil || !due && !l.isRestored(head) {
		return Linked{Head: head}, err
	}
	return l.link(ctx, at, enough)
}

// isDue reports whether entries may wait for the chain.
func (l *Log) isDue(ctx context.Context, at Place) (bool, error) {
	page, err := l.store.Query(ctx, table.Query{PK: at.duePK(), Prefix: at.duePrefix(), Limit: 1})
	return len(page.Items) > 0, fault.Wrap("read notes of "+at.PK, err)
}

// ReadHead reads the end of a chain. It returns the zero Head if the chain is empty.
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

// isRestored reports whether the store was restored after the chain was last written.
func (l *Log) isRestored(h Head) bool { return h.Seq > 0 && h.Epoch.Before(l.epoch) }

// link links waiting entries. Only one call at a time runs in a process. A caller that had to wait links again, because
// its entries may be newer than those that the previous call read.
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
	more    bool            // more entries wait than were read
	seen    map[string]bool // entries known to wait, or to be in the chain
}

// run links until no entries wait that can be linked. If another process was faster or the store did not answer, it
// reads again: an entry is deleted in the transaction that stores its row, so the waiting entries are those that remain
// to be linked.
func (k *linking) run(ctx context.Context) error {
	var err error
	for n := 0; n < maxTries; n++ {
		before := k.rows
		if err = k.linkRound(ctx); err == nil {
			if !k.more || k.rows == before || k.enough() {
				return nil
			}
			n = -1 // continue with the entries after a full page
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
	return fmt.Errorf("link waiting entries of %s: %w", k.place.PK, err)
}

// linkRound reads waiting entries and links them.
func (k *linking) linkRound(ctx context.Context) error {
	var err error
	if k.head, err = ReadHead(ctx, k.log.store, k.place); err != nil {
		return err
	}
	found, err := k.readWaiting(ctx)
	if err != nil {
		return err
	}
	k.waiting = len(found)
	steps, err := k.planSteps(ctx, found)
	if err != nil {
		return err
	}
	for len(steps) > 0 && !k.enough() {
		group := steps[:groupSize(steps)]
		if err = k.commit(ctx, group); err != nil {
			return err
		}
		steps = steps[len(group):]
	}
	return nil
}

// step is a row to be linked, and the entry to be deleted with it. Either may be missing.
type step struct {
	content map[string]any
	entry   *waiting
}

// groupSize returns how many steps fit into one transaction of 100 writes, including that of the head. With rows of 20
// kB they stay below its 4 MB.
func groupSize(steps []step) int {
	writes := 1
	for i := range steps {
		if writes += 2; writes > table.MaxTransact {
			return i
		}
	}
	return len(steps)
}

// commit links a group, all or none.
func (k *linking) commit(ctx context.Context, group []step) error {
	head, left := k.head, 0
	ws := make([]table.Write, 1, 1+2*len(group))
	for _, s := range group {
		if s.content != nil {
			head = sealAfter(s.content, head)
			ws = append(ws, table.Put(storedItem(k.place.PK, s.content), table.Absent()))
		}
		if s.entry != nil {
			ws = append(ws, s.entry.deleteWrite())
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
		return k.judgeConflict(err)
	}
	k.rows += int(head.Seq - k.head.Seq)
	k.head, k.waiting = head, k.waiting-left
	return nil
}

// judgeConflict returns an error if the chain is damaged: if there is a row where the next one belongs although the
// head has not moved. Otherwise the conflict was a race.
func (k *linking) judgeConflict(err error) error {
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

// entriesPage is the number of entries read from each partition at once.
const entriesPage = 1000

// readWaiting reads waiting entries in the order of time.
func (k *linking) readWaiting(ctx context.Context) ([]waiting, error) {
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
	return k.openAll(pages), nil
}

// byTime compares entries by time.
func byTime(a, b waiting) int {
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.Nth, b.Nth), cmp.Compare(a.key.SK, b.key.SK))
}
