package recommendation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// The thresholds of folding. Every request reads the changes, so they stay few.
const (
	manyDeltas     = 128
	manyDeltaBytes = 200_000
	manyChunks     = 48 // then all of them are written anew
)

// Fold folds the changes into chunks if there are many. Workers call it after they wrote changes; an API request never
// does. Concurrent calls are safe, and a killed call loses nothing: it writes the chunks, swaps the head on the
// condition that no other fold was first, and only then deletes what the chunks replace.
func (s *Store) Fold(ctx context.Context, org string) error {
	c, l, err := s.open(ctx, org)
	if err != nil || len(l.deltas) <= manyDeltas && l.bytes <= manyDeltaBytes {
		return err
	}
	f := &fold{org: org, old: l.head, next: head{Gen: l.head.Gen + 1}, consumed: l.deltas}
	if f.isWhole(len(c.entries)) {
		now := s.clock.Now()
		f.whole = true
		f.encode(c.segment(func(e *entry) bool { return !e.expired(now) }), now)
		f.next.Base = f.rows
		return s.commit(ctx, f)
	}
	changes, err := foldDeltas(org, l.deltas)
	if err != nil {
		return err
	}
	f.next.Base, f.next.Chunks = l.head.Base, slices.Clone(l.head.Chunks)
	f.encode(changes.segment(func(*entry) bool { return true }), s.clock.Now())
	return s.commit(ctx, f)
}

// foldDeltas returns the changes alone, merged.
func foldDeltas(org string, deltas []table.Item) (*Columns, error) {
	out := make([]*segment, len(deltas))
	for i, it := range deltas {
		s, err := decodeItem(it)
		if err != nil {
			return nil, err
		}
		out[i] = s
	}
	return newColumns(org).with(out...), nil
}

// fold is a fold under way.
type fold struct {
	org      string
	old      head
	next     head
	whole    bool // replaces every chunk of the old head
	consumed []table.Item
	made     []madeChunk
	rows     int
}

// madeChunk is a chunk that a fold writes.
type madeChunk struct {
	id string
	z  []byte
}

// isWhole reports whether all chunks should be written anew: half of their rows are overwritten, or they are many.
func (f *fold) isWhole(entries int) bool {
	stored := 0
	for _, c := range f.old.Chunks {
		stored += c.Rows
	}
	return stored >= f.old.Base+max(f.old.Base/2, chunkRows) || len(f.old.Chunks) >= manyChunks || entries <= chunkRows
}

func (f *fold) encode(s *segment, now time.Time) {
	parts := s.split()
	f.rows = len(s.entries)
	for i, z := range parts {
		one := madeChunk{newULID(now), z}
		rows := f.rows / len(parts)
		if i == 0 {
			rows += f.rows % len(parts)
		}
		f.made = append(f.made, one)
		f.next.Chunks = append(f.next.Chunks, chunk{one.id, rows})
	}
}

// plan lists the chunks that a fold writes and those that it replaces. It is stored before the fold writes anything,
// until it has deleted everything. Partitions cannot be listed, so the plan is the only way to find the chunks of a
// fold that died.
type plan struct {
	Chunks []string `json:"chunks"`
	Dead   bool     `json:"dead,omitempty"` // its fold must not swap the head
}

// deadAge is the age from which a plan counts as that of a dead fold. No function lives that long.
const deadAge = time.Hour

func (f *fold) plan() plan {
	p := plan{}
	for _, one := range f.made {
		p.Chunks = append(p.Chunks, one.id)
	}
	if f.whole {
		for _, one := range f.old.Chunks {
			p.Chunks = append(p.Chunks, one.ID)
		}
	}
	return p
}

// commit writes the chunks, swaps the head, and deletes what is not needed any more: the replaced items, or the new
// chunks if another fold was first.
func (s *Store) commit(ctx context.Context, f *fold) error {
	p, key := f.plan(), columnKey(f.org, planPrefix+newULID(s.clock.Now()))
	it, err := table.NewItem(key, p)
	if err != nil {
		return err
	}
	if _, err = s.table.Write(ctx, table.Put(it)); err != nil {
		return fmt.Errorf("announce a fold of recommendations of %s: %w", f.org, err)
	}
	if err = s.writeChunks(ctx, f); err != nil {
		return err
	}
	won, err := s.swap(ctx, f, key)
	if err != nil {
		return fmt.Errorf("swap the columns of recommendations of %s: %w", f.org, err)
	}
	named := f.old
	if won {
		named = f.next
		if err = s.deleteItems(ctx, f.org, f.consumed); err != nil {
			return err
		}
	}
	if err = s.endPlan(ctx, key, p, named); err != nil {
		return err
	}
	return s.endDeadPlans(ctx, f.org)
}

func (s *Store) writeChunks(ctx context.Context, f *fold) error {
	for some := range slices.Chunk(f.made, chunksAtOnce) {
		ws := make([]table.Write, len(some))
		for i, one := range some {
			it, err := itemOf(chunkKey(f.org, one.id), one.z)
			if err != nil {
				return err
			}
			ws[i] = table.Put(it)
		}
		if err := s.table.BatchWrite(ctx, ws...); err != nil {
			return fmt.Errorf("write %d chunks of recommendations of %s: %w", len(ws), f.org, err)
		}
	}
	return nil
}

// swap replaces the old head by the next one, unless another fold was first, or the plan is marked dead. A head that
// names our chunks is ours: then the answer to the first try was lost.
func (s *Store) swap(ctx context.Context, f *fold, planKey table.Key) (bool, error) {
	it, err := table.NewItem(columnKey(f.org, headSK), f.next)
	if err != nil {
		return false, err
	}
	cond := table.Equal("gen", f.old.Gen)
	if f.old.Gen == 0 {
		cond = table.Absent()
	}
	err = s.table.Transact(ctx, table.Put(it, cond), table.Check(planKey, table.Exists(), table.Lacks("dead")))
	lost, ok := errors.AsType[*table.ConditionError](err)
	if !ok {
		return err == nil, err
	}
	old, _ := lost.Old(0)
	if old.Data == nil {
		return false, nil
	}
	have, err := table.Decode[head](old)
	return err == nil && have.names(f.made[len(f.made)-1].id), err
}

func (s *Store) deleteItems(ctx context.Context, org string, items []table.Item) error {
	ws := make([]table.Write, len(items))
	for i := range items {
		ws[i] = table.Delete(items[i].Key)
	}
	return fault.Wrap(fmt.Sprintf("delete %d folded changes of recommendations of %s", len(ws), org),
		s.table.BatchWrite(ctx, ws...))
}

// endPlan deletes the chunks of a plan that the head does not name, and then the plan.
func (s *Store) endPlan(ctx context.Context, key table.Key, p plan, h head) error {
	org := orgOf(key)
	var gone []table.Write
	for _, id := range p.Chunks {
		if !h.names(id) {
			gone = append(gone, table.Delete(chunkKey(org, id)))
		}
	}
	if err := s.table.BatchWrite(ctx, gone...); err != nil {
		return fmt.Errorf("delete %d chunks of recommendations of %s: %w", len(gone), org, err)
	}
	_, err := s.table.Write(ctx, table.Delete(key))
	return fault.Wrap("end a fold of recommendations of "+org, err)
}

// endDeadPlans ends the plans of folds that died. It marks each plan before it reads the head, so that no dead fold can
// swap the head afterwards.
func (s *Store) endDeadPlans(ctx context.Context, org string) error {
	page, err := s.table.Query(ctx, table.Query{PK: columnKey(org, "").PK, Prefix: planPrefix, Limit: 1000})
	if err != nil {
		return fmt.Errorf("list folds of recommendations of %s: %w", org, err)
	}
	for _, it := range page.Items {
		u, err := ulid.ParseStrict(strings.ToUpper(strings.TrimPrefix(it.SK, planPrefix)))
		if err != nil || s.clock.Now().Sub(ulid.Time(u.Time())) <= deadAge {
			continue
		}
		if err = s.endDeadPlan(ctx, org, it.Key); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) endDeadPlan(ctx context.Context, org string, key table.Key) error {
	it, err := s.table.Write(ctx, table.Update(key, []table.Change{table.Set("dead", true)}, table.Exists()))
	if _, ended := errors.AsType[*table.ConditionError](err); ended {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mark a fold of recommendations of %s as dead: %w", org, err)
	}
	p, err := table.Decode[plan](it)
	if err != nil {
		return err
	}
	h, err := table.Read[head](ctx, s.table, columnKey(org, headSK))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return fmt.Errorf("read the head of the recommendations of %s: %w", org, err)
	}
	return s.endPlan(ctx, key, p, h)
}

// orgOf returns the organization of a key beside the columns.
func orgOf(k table.Key) string {
	return strings.TrimSuffix(strings.TrimPrefix(k.PK, "ORG#"), "#RECX")
}

// ChunkPartitions returns the partitions of the chunks that items of the columns' partition name. The eraser deletes
// them.
func ChunkPartitions(org string, items []table.Item) ([]string, error) {
	named := map[string]bool{}
	for _, it := range items {
		switch {
		case it.SK == headSK:
			h, err := table.Decode[head](it)
			if err != nil {
				return nil, err
			}
			for _, c := range h.Chunks {
				named[c.ID] = true
			}
		case strings.HasPrefix(it.SK, planPrefix):
			p, err := table.Decode[plan](it)
			if err != nil {
				return nil, err
			}
			for _, id := range p.Chunks {
				named[id] = true
			}
		}
	}
	out := make([]string, 0, len(named))
	for id := range named {
		out = append(out, chunkKey(org, id).PK)
	}
	slices.Sort(out)
	return out, nil
}
