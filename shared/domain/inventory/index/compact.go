package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// The thresholds of compaction. Every request reads the deltas, so they stay few.
const (
	manyDeltas     = 128
	manyDeltaBytes = 200_000
)

// chunkRows is the initial number of rows of a chunk, before its size is checked.
const chunkRows = 4096

// goneKept is how long the index remembers a dropped resource, so that a late delta does not bring it back.
const goneKept = 24 * time.Hour

// Compact folds the deltas of the index into its chunks if there are many. Workers call it after they wrote deltas; an
// API request never does. Concurrent calls are safe, and a killed call loses nothing.
func (s *Store) Compact(ctx context.Context, org string) error {
	l, err := s.readDeltas(ctx, org)
	if err != nil {
		return err
	}
	if !l.many() {
		return nil
	}
	if _, busy := s.compacting.LoadOrStore(org, true); busy {
		return nil
	}
	defer s.compacting.Delete(org)
	if l.head.full() {
		return s.Rewrite(ctx, org)
	}
	return s.fold(ctx, org, l)
}

// Tidy compacts if v, read before the last write, was near the threshold.
func (s *Store) Tidy(ctx context.Context, v View) error {
	if len(v.reading.deltas) < manyDeltas/2 && v.reading.bytes < manyDeltaBytes/2 {
		return nil
	}
	return s.Compact(ctx, v.org)
}

func (l reading) many() bool { return len(l.deltas) > manyDeltas || l.bytes > manyDeltaBytes }

// full reports whether all chunks should be written anew: many of their rows are overwritten, or the chunks are small
// and many.
func (h head) full() bool {
	rows := 0
	for _, c := range h.Chunks {
		rows += c.Rows
	}
	return rows-h.Base > max(h.Base/2, 20_000) || len(h.Chunks) > 16+2*rows/chunkRows
}

// Fold makes chunks of deltas, whether or not a compaction is due. It swaps the head, and only then deletes the items
// that the chunks replace. If another compaction was first, the swap fails, and Fold deletes its own chunks. A dropped
// row stays in chunks made of deltas: older chunks may have it.
func (s *Store) Fold(ctx context.Context, org string) error {
	l, err := s.readDeltas(ctx, org)
	if err != nil || len(l.deltas) == 0 {
		return err
	}
	return s.fold(ctx, org, l)
}

func (s *Store) fold(ctx context.Context, org string, l reading) error {
	st := newState()
	if err := st.follow(reading{deltas: l.deltas}); err != nil {
		return fmt.Errorf("merge deltas of %s: %w", org, err)
	}
	c := compaction{
		org: org, old: l.head,
		next: head{Gen: l.head.Gen + 1, Base: l.head.Base, Chunks: slices.Clone(l.head.Chunks)},
	}
	c.encode(st, 0, s.clock.Now())
	_, err := s.commit(ctx, c, l.deltas)
	return err
}

// Rewrite writes all chunks anew, ordered by name, so that a reader who loads them need not sort, and deletes the old
// ones. A reader with the old head finds them missing and reads the head again.
func (s *Store) Rewrite(ctx context.Context, org string) error {
	v, err := s.Open(ctx, org)
	if err != nil {
		return err
	}
	now := s.clock.Now()
	c := compaction{org: org, old: v.reading.head, next: head{Gen: v.reading.head.Gen + 1}, whole: true}
	unlock := v.State.RLockOrdered(NameOrder)
	c.encode(v.State, now.Add(-goneKept).UnixMicro(), now)
	unlock()
	for _, one := range c.next.Chunks {
		c.next.Base += one.Rows
	}
	won, err := s.commit(ctx, c, v.reading.deltas)
	if err == nil && won {
		s.adopt(org, v.State, c)
	}
	return err
}

// adopt makes the state that was written anew the state of its new chunks, so that this process need not load them. It
// does not when many rows were dropped or written over: then the state holds much that the chunks lack, and is loaded
// without it.
func (s *Store) adopt(org string, st *State, c compaction) {
	cached := s.cache.cachedIndex(org)
	cached.loading.Lock()
	defer cached.loading.Unlock()
	st.Lock()
	defer st.Unlock()
	if cached.st != st || st.head.Gen != c.old.Gen || st.written > c.next.Base+c.next.Base/4 {
		return
	}
	st.head, st.chunks = c.next, map[string]bool{}
	for _, one := range c.next.Chunks {
		st.chunks[one.ID] = true
	}
}

// compaction is a compaction under way: the old head, the next head, and the contents of the chunks written for the
// next head.
type compaction struct {
	org   string
	old   head
	next  head
	whole bool // replaces every chunk of the old head
	made  []made
}

// made is a chunk written by a compaction.
type made struct {
	id string
	z  []byte
}

// encode makes chunks of all rows of st for the next head, except rows dropped before the time since.
func (c *compaction) encode(st *State, since int64, now time.Time) {
	rows := st.known(since)
	for {
		n := min(chunkRows, len(rows))
		part := &Segment{Symbols: st.Symbols, Rows: st.entries(rows[:n])}
		rows = rows[n:]
		if len(rows) == 0 {
			part.seen, part.scans = st.unmerged(), st.scanned()
		}
		for _, z := range part.split() {
			one := made{newULID(now), z}
			c.made = append(c.made, one)
			c.next.Chunks = append(c.next.Chunks, chunk{ID: one.id})
		}
		c.next.Chunks[len(c.next.Chunks)-1].Rows = n + len(part.seen)
		if len(rows) == 0 {
			return
		}
	}
}

// commit writes the chunks, swaps the head, and deletes the items that are not needed any more: the replaced ones, or
// the new chunks if another compaction was first, and reports whether the head is the next one. If commit is killed,
// the next compaction cleans up by its plan.
func (s *Store) commit(ctx context.Context, c compaction, consumed []table.Item) (won bool, err error) {
	p := newPlan(c, s.clock.Now())
	if err := s.announce(ctx, p); err != nil {
		return false, err
	}
	for some := range slices.Chunk(c.made, chunksAtOnce) {
		if err := s.writeChunks(ctx, c.org, some); err != nil {
			return false, err
		}
	}
	if won, err = s.swap(ctx, c, p); err != nil {
		return false, fmt.Errorf("swap head of %s: %w", c.org, err)
	}
	named := c.old
	if won {
		named = c.next
		if err = s.deleteDeltas(ctx, c.org, consumed); err != nil {
			return won, err
		}
	}
	if err = s.endPlan(ctx, p, named); err != nil {
		return won, err
	}
	return won, s.finishDead(ctx, c.org)
}

func (s *Store) writeChunks(ctx context.Context, org string, some []made) error {
	ws := make([]table.Write, len(some))
	for i, one := range some {
		it, err := segmentItem(chunkKey(org, one.id), one.z)
		if err != nil {
			return err
		}
		ws[i] = table.Put(it)
	}
	if err := s.table.BatchWrite(ctx, ws...); err != nil {
		return fmt.Errorf("write %d chunks of %s: %w", len(ws), org, err)
	}
	return nil
}

func (s *Store) deleteDeltas(ctx context.Context, org string, deltas []table.Item) error {
	ws := make([]table.Write, len(deltas))
	for i, it := range deltas {
		ws[i] = table.Delete(it.Key)
	}
	if err := s.table.BatchWrite(ctx, ws...); err != nil {
		return fmt.Errorf("delete %d deltas of %s: %w", len(ws), org, err)
	}
	return nil
}

// swap replaces the old head by the next one, unless another compaction was first, or the plan is marked dead. A head
// that names our chunks is ours, even if the table says that the condition failed: then the answer to the first try
// was lost.
func (s *Store) swap(ctx context.Context, c compaction, p plan) (bool, error) {
	it, err := table.NewItem(Key(c.org, headSK), c.next)
	if err != nil {
		return false, err
	}
	cond := table.Equal("gen", c.old.Gen)
	if c.old.Gen == 0 {
		cond = table.Absent()
	}
	err = s.table.Transact(ctx, table.Put(it, cond), table.Check(p.key(), table.Exists(), table.Lacks("dead")))
	lost, ok := errors.AsType[*table.ConditionError](err)
	if !ok {
		return err == nil, err
	}
	old, _ := lost.Old(0)
	if old.Data == nil {
		return false, nil
	}
	have, err := table.Decode[head](old)
	return err == nil && have.names(c.next.Chunks[len(c.next.Chunks)-1].ID), err
}

func (h head) names(id string) bool {
	return slices.ContainsFunc(h.Chunks, func(c chunk) bool { return c.ID == id })
}
