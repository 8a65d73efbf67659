package index

import (
	"iter"
	"strings"
	"sync"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/cloud"
)

// State is the index of one organization in memory. Applying a segment to it is commutative and idempotent, so a reader
// may apply deltas and chunks in any order, more than once, while compaction replaces the ones by the others.
type State struct {
	sync.RWMutex
	Symbols  *Symbols
	Attached any // what the reader keeps beside the rows, under the same lock: it is let go of together with them

	rows    []Row
	byUID   map[string]int32
	byID    map[ulid.ULID]int32 // nil until it is asked for
	orphans map[string]sighting // statuses of rows that have not arrived
	scans   map[Partition]int64
	orders  [orderCount]*order
	head    head
	chunks  map[string]bool // applied
	deltas  map[string]bool // applied, of those that there were when they were last read
}

func newState() *State {
	return &State{
		Symbols: newSymbols(), byUID: map[string]int32{}, orphans: map[string]sighting{},
		scans: map[Partition]int64{}, chunks: map[string]bool{}, deltas: map[string]bool{},
	}
}

// apply merges an encoded segment.
func (st *State) apply(z []byte) error {
	g, err := decodeSegment(z, st.Symbols)
	if err != nil {
		return err
	}
	for i := range g.Rows {
		st.merge(&g.Rows[i])
	}
	for _, s := range g.seen {
		st.sight(s)
	}
	for _, s := range g.scans {
		st.scans[s.part] = max(st.scans[s.part], s.at)
	}
	return nil
}

// merge merges a row: of its content and of its status the newest wins.
func (st *State) merge(r *Row) {
	i, ok := st.byUID[r.UID]
	if !ok {
		st.add(r)
		return
	}
	old := &st.rows[i]
	status := newest(st.Symbols, sighting{r.UID, r.Refs[StatusRef], r.Times[StatusTime]}, old.sighting())
	if !st.Symbols.supersedes(r, old) {
		st.setStatus(i, status)
		return
	}
	if st.byID != nil {
		delete(st.byID, old.ID)
		st.byID[r.ID] = i
	}
	r.Refs[StatusRef], r.Times[StatusTime] = status.status, status.at
	*old = *r
	st.touch(i, everyOrder)
}

func (st *State) add(r *Row) {
	i := int32(len(st.rows)) //nolint:gosec // far fewer than 2^31 fit into memory
	st.rows = append(st.rows, *r)
	st.byUID[r.UID] = i
	if st.byID != nil {
		st.byID[r.ID] = i
	}
	st.touch(i, everyOrder)
	if s, ok := st.orphans[r.UID]; ok {
		delete(st.orphans, r.UID)
		st.sight(s)
	}
}

// sight merges a status.
func (st *State) sight(s sighting) {
	if i, ok := st.byUID[s.uid]; ok {
		st.setStatus(i, newest(st.Symbols, s, st.rows[i].sighting()))
		return
	}
	if old, ok := st.orphans[s.uid]; ok {
		s = newest(st.Symbols, s, old)
	}
	st.orphans[strings.Clone(s.uid)] = s
}

func (st *State) setStatus(i int32, s sighting) {
	r := &st.rows[i]
	if r.Refs[StatusRef] != s.status {
		st.touch(i, StatusOrder)
	}
	r.Refs[StatusRef], r.Times[StatusTime] = s.status, s.at
}

func (r *Row) sighting() sighting {
	return sighting{r.UID, r.Refs[StatusRef], r.Times[StatusTime]}
}

// newest returns the newer of two statuses, and of two equally old ones the one that is greater as a word.
func newest(syms *Symbols, a, b sighting) sighting {
	if a.at > b.at || a.at == b.at && syms.names[a.status] > syms.names[b.status] {
		return a
	}
	return b
}

// RowByUID finds a row by its uid; nil when there is none or it was dropped. It needs the read lock.
func (st *State) RowByUID(uid string) *Row {
	if i, ok := st.byUID[uid]; ok && !st.rows[i].Gone {
		return &st.rows[i]
	}
	return nil
}

// RLockByID takes the read lock, under which RowByID works then, and returns how to give it back.
func (st *State) RLockByID() (unlock func()) {
	st.RLock()
	if st.byID != nil {
		return st.RUnlock
	}
	st.RUnlock()
	st.Lock()
	if st.byID == nil {
		st.byID = make(map[ulid.ULID]int32, len(st.rows))
		for i := range st.rows {
			st.byID[st.rows[i].ID] = int32(i) //nolint:gosec // far fewer than 2^31 fit into memory
		}
	}
	return st.Unlock
}

// RowByID finds a row by its id, under the lock of RLockByID; nil when there is none or it was dropped.
func (st *State) RowByID(id ulid.ULID) *Row {
	if i, ok := st.byID[id]; ok && !st.rows[i].Gone {
		return &st.rows[i]
	}
	return nil
}

// Rows yields the rows that were not dropped, in no order. It needs the read lock.
func (st *State) Rows() iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		for i := range st.rows {
			if r := &st.rows[i]; !r.Gone && !yield(r) {
				return
			}
		}
	}
}

// LastSeen returns when the resource was there for certain, in Unix microseconds: when it was written, or when a later scan of its partition found
// nothing to write. What is terminated was not seen after that.
func (st *State) LastSeen(r *Row) int64 {
	seen := max(r.Times[SeenTime], st.scans[r.Partition()])
	if r.Vanished {
		return r.Times[SeenTime]
	}
	if cloud.Status(st.Symbols.Ref(r, StatusRef)) == cloud.Terminated {
		return max(r.Times[SeenTime], min(seen, r.Times[StatusTime]))
	}
	return seen
}

// segment returns everything that the state knows, but for rows that were dropped before the time since.
func (st *State) segment(since int64) *Segment {
	g := &Segment{Symbols: st.Symbols, Rows: make([]Row, 0, len(st.rows))}
	for _, i := range st.sorted(NameOrder) {
		g.Rows = append(g.Rows, st.rows[i])
	}
	for i := range st.rows {
		if r := &st.rows[i]; r.Gone && r.Times[ContentTime] >= since {
			g.Rows = append(g.Rows, *r)
		}
	}
	for _, s := range st.orphans {
		g.seen = append(g.seen, s)
	}
	for p, at := range st.scans {
		g.scans = append(g.scans, scanned{p, at})
	}
	return g
}

// Partition returns the partition of scans with these names, if the index has anything of each.
func (st *State) Partition(account, region, kind string) (Partition, bool) {
	a, hasAccount := st.Symbols.ids[account]
	r, hasRegion := st.Symbols.ids[region]
	k, hasKind := st.Symbols.ids[kind]
	return Partition{a, r, k}, hasAccount && hasRegion && hasKind
}

// ScannedAt returns when the last finished scan of p began, in Unix microseconds; 0 when none has finished.
func (st *State) ScannedAt(p Partition) int64 { return st.scans[p] }
