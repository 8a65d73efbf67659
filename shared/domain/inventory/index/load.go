package index

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// The index of an organization is one partition of the table. Its sort keys are chosen so that one Query, from the first
// delta to the head, reads in this order: deltas, what others keep beside the index (View.Heads), the index's head. Whatever compaction takes away from the
// deltas while the Query runs is in the chunks of the head that the same Query reads after them.
const (
	chunkPrefix = "C#" // C#<ulid>: a chunk, never changed
	deltaPrefix = "D#" // D#<ulid>: a delta
	headSK      = "HEAD"
)

// IndexPK is the partition of the index of an organization.
func IndexPK(org string) string { return table.TenantPK(org) + "INV" }

// IndexKey is a place in that partition. What stands between "D#" and "HEAD" and is not the index's, every reader gets in
// View.Heads; what should not be read each time begins with a letter after H.
func IndexKey(org, sk string) table.Key { return table.Key{PK: IndexPK(org), SK: sk} }

// head says which chunks make up the index. Gen grows with each change of them.
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

// lookup is what one Query of the index partition found.
type lookup struct {
	deltas []table.Item
	bytes  int // of the deltas
	heads  []table.Item
	head   head
}

// maxLook is how many items one look reads at most: more deltas mean that compaction has stopped working.
const maxLook = 20_000

// look reads deltas, heads and the index's head: one round trip as long as they are below a megabyte.
func (s *IndexStore) look(ctx context.Context, org string) (lookup, error) {
	var l lookup
	q := table.Query{PK: IndexPK(org), From: deltaPrefix, To: headSK, Limit: 10_000}
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
		if len(l.deltas) > maxLook {
			return l, fault.New(fault.Unavailable, "the inventory has %d changes that wait to be folded in; try again later", len(l.deltas))
		}
		q.Cursor = page.Next
	}
}

func (l *lookup) sort(items []table.Item) error {
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

// errMoved tells that chunks went away between look and load: compaction was faster, look again.
var errMoved = errors.New("inventory index: chunks moved")

// openTries bounds how often a reader starts over because compaction was faster.
const openTries = 8

// IndexView is the index as one request sees it. Heads are the items that stand between deltas and head and are not the
// index's, ordered by their keys: they come in the same round trip.
type IndexView struct {
	State *State
	Heads []table.Item

	org    string
	lookup lookup
}

// Open brings the organization's index in memory up to date: one round trip, and one more when there are new chunks.
func (s *IndexStore) Open(ctx context.Context, org string) (*IndexView, error) {
	for range openTries {
		l, err := s.look(ctx, org)
		if err != nil {
			return nil, err
		}
		v, err := s.refresh(ctx, org, l)
		if err == nil {
			return v, nil
		}
		if !errors.Is(err, errMoved) {
			return nil, fmt.Errorf("load index of %s: %w", org, err)
		}
	}
	return nil, fault.New(fault.Unavailable, "the inventory is being rewritten; try again in a moment")
}

// refresh applies to the state in memory what l has and it has not. When chunks that it holds are gone from the head, all
// were rewritten, and rows may have been dropped for good: it starts over with an empty one.
func (s *IndexStore) refresh(ctx context.Context, org string, l lookup) (*IndexView, error) {
	c := s.cache.get(org)
	c.loading.Lock()
	defer c.loading.Unlock()
	st := c.st
	if l.head.Gen > st.head.Gen && !st.within(l.head) {
		st = newState()
	}
	err := s.loadChunks(ctx, org, st, l.head)
	if err != nil {
		return nil, err
	}
	if err = st.follow(l); err != nil {
		return nil, err
	}
	c.st = st
	s.cache.settle(c)
	return &IndexView{st, l.heads, org, l}, nil
}

// within tells whether h still has every chunk that was applied.
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

// chunksAtOnce is how many chunks are asked for in one round trip: all of them together stay below the 16 MB that
// DynamoDB hands over.
const chunksAtOnce = 40

// loadChunks applies the chunks of h that st lacks. An older head than st's has nothing to tell.
func (s *IndexStore) loadChunks(ctx context.Context, org string, st *State, h head) error {
	if h.Gen <= st.head.Gen {
		return nil
	}
	var missing []table.Key
	rows := 0
	for _, c := range h.Chunks {
		if !st.chunks[c.ID] {
			missing = append(missing, IndexKey(org, chunkPrefix+c.ID))
			rows += c.Rows
		}
	}
	st.expect(rows)
	for len(missing) > 0 {
		n := min(chunksAtOnce, len(missing))
		got, err := s.table.BatchGet(ctx, missing[:n]...)
		if err != nil {
			return fmt.Errorf("read %d chunks: %w", n, err)
		}
		if err = st.applyChunks(got, missing[:n]); err != nil {
			return err
		}
		missing = missing[n:]
	}
	st.Lock()
	st.head = h
	st.Unlock()
	return nil
}

// expect makes room in an empty state.
func (st *State) expect(rows int) {
	st.Lock()
	defer st.Unlock()
	if len(st.rows) == 0 {
		st.rows, st.byUID = make([]Row, 0, rows), make(map[string]int32, rows)
	}
}

func (st *State) applyChunks(got map[table.Key]table.Item, keys []table.Key) error {
	st.Lock()
	defer st.Unlock()
	for _, k := range keys {
		it, ok := got[k]
		if !ok {
			return errMoved
		}
		if err := st.applyItem(it); err != nil {
			return err
		}
		st.chunks[strings.TrimPrefix(k.SK, chunkPrefix)] = true
	}
	return nil
}

func (st *State) applyItem(it table.Item) error {
	p, err := table.Decode[packed](it)
	if err != nil {
		return err
	}
	if err = st.apply(p.Z); err != nil {
		return fmt.Errorf("apply %s: %w", it.SK, err)
	}
	return nil
}

// follow applies the deltas that st has not seen.
func (st *State) follow(l lookup) error {
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
