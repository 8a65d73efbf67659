package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/engine/table"
)

// When compaction is due: deltas are read by every request, so they stay few.
const (
	manyDeltas     = 128
	manyDeltaBytes = 200_000
)

// chunkRows is how many rows a chunk begins with before its size is looked at.
const chunkRows = 4096

// orphanAge is the age at which a chunk that no head names is the remains of a compaction that died.
const orphanAge = time.Hour

// goneKept is how long the index remembers that a resource was dropped, so that late news does not bring it back.
const goneKept = 24 * time.Hour

// Compact folds the deltas of the index into its chunks when there are many. Workers call it after they wrote deltas, an
// API request never does; two at once do no harm, and being killed anywhere loses nothing.
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

// Tidy compacts when v, read before the last write, was near the bound.
func (s *Store) Tidy(ctx context.Context, v View) error {
	if len(v.reading.deltas) < manyDeltas/2 && v.reading.bytes < manyDeltaBytes/2 {
		return nil
	}
	return s.Compact(ctx, v.org)
}

func (l reading) many() bool { return len(l.deltas) > manyDeltas || l.bytes > manyDeltaBytes }

// full reports whether it is time to write all chunks anew: when much in them is overwritten, or when they are small and
// many.
func (h head) full() bool {
	rows := 0
	for _, c := range h.Chunks {
		rows += c.Rows
	}
	return rows-h.Base > max(h.Base/2, 20_000) || len(h.Chunks) > 16+2*rows/chunkRows
}

// Fold makes chunks of deltas, whether or not that is due. It swaps the head, and only then deletes what the chunks replace.
// The swap fails when another compaction was first; then its own chunks go again. A dropped row stays in what is made of
// deltas: older chunks may have it.
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
	c := compaction{org: org, old: l.head, next: head{Gen: l.head.Gen + 1, Base: l.head.Base, Chunks: slices.Clone(l.head.Chunks)}}
	if err := c.encode(st.segment(0), s.clock.Now()); err != nil {
		return fmt.Errorf("encode deltas of %s: %w", org, err)
	}
	_, err := s.commit(ctx, c, l.deltas)
	return err
}

// compaction is one under way: the head before, the head to be, and the chunks that are written for it.
type compaction struct {
	org  string
	old  head
	next head
	puts []table.Write
}

// encode makes chunks of a segment for the next head.
func (c *compaction) encode(g *Segment, now time.Time) error {
	for from := 0; ; from += chunkRows {
		to := min(from+chunkRows, len(g.Rows))
		part, last := &Segment{Symbols: g.Symbols, Rows: g.Rows[from:to]}, to == len(g.Rows)
		if last {
			part.seen, part.scans = g.seen, g.scans
		}
		for _, z := range part.split() {
			if err := c.add(z, now); err != nil {
				return err
			}
		}
		c.next.Chunks[len(c.next.Chunks)-1].Rows = to - from + len(part.seen)
		if last {
			return nil
		}
	}
}

func (c *compaction) add(z []byte, now time.Time) error {
	id := newULID(now)
	it, err := segmentItem(Key(c.org, chunkPrefix+id), z)
	c.puts = append(c.puts, table.Put(it))
	c.next.Chunks = append(c.next.Chunks, chunk{ID: id})
	return err
}

// commit writes the chunks, swaps the head, and deletes the deltas that the chunks replace. It reports whether the head is
// ours now.
func (s *Store) commit(ctx context.Context, c compaction, consumed []table.Item) (bool, error) {
	if err := s.table.BatchWrite(ctx, c.puts...); err != nil {
		return false, fmt.Errorf("write %d chunks of %s: %w", len(c.puts), c.org, err)
	}
	won, err := s.swap(ctx, c)
	if err != nil {
		return false, fmt.Errorf("swap head of %s: %w", c.org, err)
	}
	var gone []table.Write
	if won {
		for _, it := range consumed {
			gone = append(gone, table.Delete(it.Key))
		}
	} else {
		for _, w := range c.puts {
			gone = append(gone, table.Delete(w.Item.Key))
		}
	}
	if err = s.table.BatchWrite(ctx, gone...); err != nil {
		return won, fmt.Errorf("delete %d items that %s does not need any more: %w", len(gone), c.org, err)
	}
	return won, nil
}

// swap puts the next head in the place of the old one, unless another compaction was first. A head that names our chunks
// is ours, even when the table says that the condition failed: then the answer to the first try was lost.
func (s *Store) swap(ctx context.Context, c compaction) (bool, error) {
	it, err := table.NewItem(Key(c.org, headSK), c.next)
	if err != nil {
		return false, err
	}
	cond := table.Equal("gen", c.old.Gen)
	if c.old.Gen == 0 {
		cond = table.Absent()
	}
	_, err = s.table.Write(ctx, table.Put(it, cond))
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

// Rewrite writes all chunks anew, in the order of names, so that a reader who loads them need not sort, and deletes the
// old ones. A reader who holds the old head finds them gone and looks again.
func (s *Store) Rewrite(ctx context.Context, org string) error {
	v, err := s.Open(ctx, org)
	if err != nil {
		return err
	}
	now := s.clock.Now()
	unlock := v.State.RLockOrdered(NameOrder)
	g := v.State.segment(now.Add(-goneKept).UnixMicro())
	c := compaction{org: org, old: v.reading.head, next: head{Gen: v.reading.head.Gen + 1, Base: len(g.Rows)}}
	err = c.encode(g, now)
	unlock()
	if err != nil {
		return fmt.Errorf("encode index of %s: %w", org, err)
	}
	if won, err := s.commit(ctx, c, v.reading.deltas); err != nil || !won {
		return err
	}
	return s.sweep(ctx, org, c, now)
}

// sweep deletes the chunks that a rewrite replaced, and those that no head names: the remains of compactions that died.
// Young ones of these may belong to a compaction that has not swapped its head yet.
func (s *Store) sweep(ctx context.Context, org string, c compaction, now time.Time) error {
	var gone []table.Write
	q := table.Query{PK: PK(org), Prefix: chunkPrefix, Limit: 1000}
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("list chunks of %s: %w", org, err)
		}
		for _, it := range page.Items {
			id := strings.TrimPrefix(it.SK, chunkPrefix)
			if c.old.names(id) || !c.next.names(id) && aged(id, now) {
				gone = append(gone, table.Delete(it.Key))
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			if err = s.table.BatchWrite(ctx, gone...); err != nil {
				return fmt.Errorf("delete %d chunks of %s: %w", len(gone), org, err)
			}
			return nil
		}
	}
}

// aged reports whether a chunk is too old to belong to a compaction under way.
func aged(id string, now time.Time) bool {
	u, err := ulid.ParseStrict(strings.ToUpper(id))
	return err == nil && now.Sub(ulid.Time(u.Time())) > orphanAge
}
