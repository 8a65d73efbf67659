package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// The index of an organization is one partition of the table. Its sort keys are chosen so that one Query, from the
// first delta to the head, reads in this order: deltas, the items that package inventory keeps beside the index
// (View.Heads), the index's head. If compaction deletes deltas while the Query runs, their rows are in the chunks of
// the head that the same Query reads after them.
const (
	deltaPrefix = "D#" // D#<ulid>: a delta
	headSK      = "HEAD"
	planPrefix  = "P#" // P#<ulid>: the chunks that a running compaction writes and replaces
)

// PK returns the partition of the index of an organization.
func PK(org string) string { return table.OrgPK(org) + "INV" }

// chunkSK is the one sort key of the partition of a chunk.
const chunkSK = "C"

// chunkKey returns the key of a chunk. A chunk never changes. Each is in a partition of its own, so that readers of
// all chunks of a large index do not all read from one partition.
func chunkKey(org, id string) table.Key { return table.Key{PK: PK(org) + "#" + id, SK: chunkSK} }

// Key returns the key of an item in the index partition. The index uses the sort keys that begin with "D#" and "P#",
// and "HEAD". Open also reads all other items between "D#" and "HEAD", into View.Heads. The sort key of an item that
// Open should not read begins with a letter after H.
func Key(org, sk string) table.Key { return table.Key{PK: PK(org), SK: sk} }

// head names the chunks of the index. Each change of them increments Gen.
type head struct {
	Gen    int64   `json:"gen"`
	Base   int     `json:"base"` // rows when all chunks were written last
	Chunks []chunk `json:"chunks"`
}

// chunk names a chunk and counts its rows.
type chunk struct {
	ID   string `json:"id"`
	Rows int    `json:"rows"`
}

// reading is the result of one Query of the index partition.
type reading struct {
	deltas []table.Item
	bytes  int // total size of the deltas
	heads  []table.Item
	head   head
}

// maxDeltas is how many deltas are read at most. More deltas mean that compaction has stopped working.
const maxDeltas = 20_000

// readDeltas reads deltas, heads and the index's head: one round trip as long as they are below a megabyte.
func (s *Store) readDeltas(ctx context.Context, org string) (reading, error) {
	var l reading
	q := table.Query{PK: PK(org), From: deltaPrefix, To: headSK, Limit: 10_000}
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return l, fmt.Errorf("read index of %s: %w", org, err)
		}
		if err = l.sort(page.Items); err != nil {
			return l, err
		}
		if page.Next == "" {
			return l, nil
		}
		if len(l.deltas) > maxDeltas {
			return l, fault.New(fault.Unavailable, "the inventory has %d changes that wait to be folded in; try "+
				"again later", len(l.deltas))
		}
		q.Cursor = page.Next
	}
}

func (l *reading) sort(items []table.Item) error {
	for _, it := range items {
		switch {
		case strings.HasPrefix(it.SK, deltaPrefix):
			l.deltas = append(l.deltas, it)
			l.bytes += len(it.Data)
		case it.SK == headSK:
			h, err := table.Decode[head](it)
			if err != nil {
				return err
			}
			l.head = h
		default:
			l.heads = append(l.heads, it)
		}
	}
	return nil
}

// errMoved says that a compaction deleted chunks after the head was read and before they were loaded. The reader has
// to read the head again.
var errMoved = errors.New("inventory index: chunks moved")

// openTries bounds how often a reader starts over because compaction was faster.
const openTries = 8

// View is the index as one request sees it: the state in memory, which later requests update, and the items between
// deltas and head that do not belong to the index, ordered by their keys.
type View struct {
	State *State
	Heads []table.Item

	org     string
	reading reading
}

// Open updates the organization's index in memory. It takes one round trip, and one more if there are new chunks.
func (s *Store) Open(ctx context.Context, org string) (View, error) {
	for range openTries {
		l, err := s.readDeltas(ctx, org)
		if err != nil {
			return View{}, err
		}
		v, err := s.refresh(ctx, org, l)
		if err == nil {
			return v, nil
		}
		if !errors.Is(err, errMoved) {
			return View{}, fmt.Errorf("load index of %s: %w", org, err)
		}
	}
	return View{}, fault.New(fault.Unavailable, "the inventory is being rewritten; try again in a moment")
}

// refresh applies the changes in l to the state in memory. If the head no longer has chunks that the state was loaded
// from, all chunks were rewritten, and rows may have been dropped for good. Then refresh starts over with an empty
// state. It releases the old state first, so that the two are not in memory together.
func (s *Store) refresh(ctx context.Context, org string, l reading) (View, error) {
	c := s.cache.cachedIndex(org)
	c.loading.Lock()
	defer c.loading.Unlock()
	if l.head.Gen > c.st.head.Gen && !c.st.within(l.head) {
		c.st = newState()
	}
	if err := s.loadChunks(ctx, c, l.head); err != nil {
		return View{}, err
	}
	if err := c.st.follow(l); err != nil {
		return View{}, err
	}
	s.cache.count(c, c.st.size())
	return View{c.st, l.heads, org, l}, nil
}

// within reports whether h still has every chunk that was applied.
func (st *State) within(h head) bool {
	have := map[string]bool{}
	for _, c := range h.Chunks {
		have[c.ID] = true
	}
	for id := range st.chunks {
		if !have[id] {
			return false
		}
	}
	return true
}

// chunksAtOnce is how many chunks are read in one round trip. A chunk takes several times its size in memory while it
// is decoded, and the function may have a seventh of a processor.
const chunksAtOnce = 8

// rowBytes is the approximate memory of a row.
const rowBytes = 160

// loadChunks applies the chunks of h that the state in c lacks. It ignores a head that is older than the state's own.
func (s *Store) loadChunks(ctx context.Context, c *cached, h head) error {
	st := c.st
	if h.Gen <= st.head.Gen {
		return nil
	}
	var missing []string
	rows := 0
	for _, one := range h.Chunks {
		if !st.chunks[one.ID] {
			missing = append(missing, one.ID)
			rows += one.Rows
		}
	}
	s.cache.count(c, st.size()+rows*rowBytes)
	st.expect(rows)
	for ids := range slices.Chunk(missing, chunksAtOnce) {
		if err := s.loadSome(ctx, c, ids); err != nil {
			return err
		}
	}
	st.Lock()
	defer st.Unlock()
	st.head = h
	return nil
}

// loadSome applies a few chunks. Chunks never change, so it reads them with eventual consistency, at half the price. A
// missing chunk is deleted, or newer than the replica; loadSome reads it again with consistency.
func (s *Store) loadSome(ctx context.Context, c *cached, ids []string) error {
	got, err := s.readChunks(table.Eventually(ctx), c.org, ids)
	if err != nil {
		return err
	}
	late := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return got[chunkKey(c.org, id)].Data != nil })
	again, err := s.readChunks(ctx, c.org, late)
	if err != nil {
		return err
	}
	maps.Copy(again, got)
	return c.st.applyChunks(again, c.org, ids)
}

func (s *Store) readChunks(ctx context.Context, org string, ids []string) (map[table.Key]table.Item, error) {
	keys := make([]table.Key, len(ids))
	for i, id := range ids {
		keys[i] = chunkKey(org, id)
	}
	got, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read %d chunks: %w", len(ids), err)
	}
	return got, nil
}

func (st *State) applyChunks(got map[table.Key]table.Item, org string, ids []string) error {
	st.Lock()
	defer st.Unlock()
	for _, id := range ids {
		it, ok := got[chunkKey(org, id)]
		if !ok {
			return errMoved
		}
		if err := st.applyItem(it); err != nil {
			return err
		}
		st.chunks[id] = true
	}
	return nil
}

// size is Bytes under the read lock.
func (st *State) size() int {
	st.RLock()
	defer st.RUnlock()
	return st.Bytes()
}

func (st *State) applyItem(it table.Item) error {
	p, err := table.Decode[packed](it)
	if err != nil {
		return err
	}
	if err = st.apply(p.Z); err != nil {
		return fmt.Errorf("apply %s %s: %w", it.PK, it.SK, err)
	}
	return nil
}

// follow applies the deltas that st has not seen.
func (st *State) follow(l reading) error {
	st.Lock()
	defer st.Unlock()
	seen := make(map[string]bool, len(l.deltas))
	for _, it := range l.deltas {
		if !st.deltas[it.SK] {
			if err := st.applyItem(it); err != nil {
				return err
			}
		}
		seen[it.SK] = true
	}
	st.deltas = seen
	return nil
}
