package inventory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// The index of an organization is one partition of the table. Its sort keys are chosen so that one Query, from the first
// delta to the head, reads in this order: deltas, heads of groups and teams, the index's head. Whatever compaction takes away from the
// deltas while the Query runs is in the chunks of the head that the same Query reads after them.
const (
	chunkPrefix  = "C#" // C#<ulid>: a chunk, never changed
	deltaPrefix  = "D#" // D#<ulid>: a delta
	setPrefix    = "G#" // G#<grp>: the head of a group; G#<team>: what tells that a team owns resources
	groupPrefix  = setPrefix + "grp_"
	ownerPrefix  = setPrefix + "team_"
	headSK       = "HEAD"
	memberPrefix = "M#" // M#<grp>, M#<team>: the members of a static group, the resources of a team
	namePrefix   = "N#" // N#<name>: keeps the names of groups unique
)

func indexPK(org string) string { return table.OrgPK(org) + "INV" }

func indexKey(org, sk string) table.Key { return table.Key{PK: indexPK(org), SK: sk} }

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

// look is what one Query of the index partition found.
type look struct {
	deltas []table.Item
	bytes  int // of the deltas
	groups []table.Item
	owners []table.Item // teams
	head   head
}

// maxLook is how many items one look reads at most: more deltas mean that compaction has stopped working.
const maxLook = 20_000

// readChanges reads deltas, groups, teams and head: one round trip as long as they are below a megabyte.
func (s *Store) readChanges(ctx context.Context, org string) (look, error) {
	var l look
	q := table.Query{PK: indexPK(org), From: deltaPrefix, To: headSK, Limit: 10_000}
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

func (l *look) sort(items []table.Item) error {
	for _, it := range items {
		switch {
		case strings.HasPrefix(it.SK, deltaPrefix):
			l.deltas = append(l.deltas, it)
			l.bytes += len(it.Data)
		case strings.HasPrefix(it.SK, groupPrefix):
			l.groups = append(l.groups, it)
		case strings.HasPrefix(it.SK, ownerPrefix):
			l.owners = append(l.owners, it)
		case it.SK == headSK:
			h, err := table.Decode[head](it)
			if err != nil {
				return err
			}
			l.head = h
		}
	}
	return nil
}

// errMoved tells that chunks went away between look and load: compaction was faster, look again.
var errMoved = errors.New("inventory index: chunks moved")

// attempts bounds how often a reader starts over because compaction was faster.
const attempts = 8

// view is the index as one request sees it.
type view struct {
	org    string
	st     *state
	look   look
	groups []Group // ordered by id
	owners []owner // ordered by id
	scoped []scoped
}

// openIndex brings the organization's index in memory up to date: one round trip, and one more when there are new chunks.
func (s *Store) openIndex(ctx context.Context, org string) (*view, error) {
	for range attempts {
		l, err := s.readChanges(ctx, org)
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
func (s *Store) refresh(ctx context.Context, org string, l look) (*view, error) {
	c := s.cache.cachedIndex(org)
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
	v := &view{org: org, st: st, look: l}
	if v.groups, v.owners, err = st.applyChanges(l); err != nil {
		return nil, err
	}
	c.st = st
	s.cache.evictBeyondBound(c)
	return v, nil
}

// within reports whether h still has every chunk that was applied.
func (st *state) within(h head) bool {
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
func (s *Store) loadChunks(ctx context.Context, org string, st *state, h head) error {
	if h.Gen <= st.head.Gen {
		return nil
	}
	var missing []table.Key
	rows := 0
	for _, c := range h.Chunks {
		if !st.chunks[c.ID] {
			missing = append(missing, indexKey(org, chunkPrefix+c.ID))
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
	st.mu.Lock()
	st.head = h
	st.mu.Unlock()
	return nil
}

// expect makes room in an empty state.
func (st *state) expect(rows int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.rows) == 0 {
		st.rows, st.byUID = make([]row, 0, rows), make(map[string]int32, rows)
	}
}

func (st *state) applyChunks(got map[table.Key]table.Item, keys []table.Key) error {
	st.mu.Lock()
	defer st.mu.Unlock()
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

func (st *state) applyItem(it table.Item) error {
	p, err := table.Decode[packed](it)
	if err != nil {
		return err
	}
	if err = st.applySegment(p.Z); err != nil {
		return fmt.Errorf("apply %s: %w", it.SK, err)
	}
	return nil
}

// applyChanges applies the deltas that st has not seen, and reads the groups and the teams.
func (st *state) applyChanges(l look) ([]Group, []owner, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	seen := make(map[string]bool, len(l.deltas))
	for _, it := range l.deltas {
		if !st.deltas[it.SK] {
			if err := st.applyItem(it); err != nil {
				return nil, nil, err
			}
		}
		seen[it.SK] = true
	}
	st.deltas = seen
	return st.sets.decodeHeads(l)
}
