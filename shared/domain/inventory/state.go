package inventory

import (
	"strings"
	"sync"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/cloud"
)

// state is the index of one organization in memory. Applying a segment to it is commutative and idempotent, so a reader
// may apply deltas and chunks in any order, more than once, while compaction replaces the ones by the others.
type state struct {
	mu      sync.RWMutex
	syms    *symbols
	rows    []row
	byUID   map[string]int32
	byID    map[ulid.ULID]int32 // nil until it is asked for
	orphans map[string]sighting // statuses of rows that have not arrived
	scans   map[partition]int64
	orders  [orderCount]*order
	head    head
	chunks  map[string]bool // applied
	deltas  map[string]bool // applied, of those that there were at the last look
	sets    sets
}

func newState() *state {
	return &state{
		syms: newSymbols(), byUID: map[string]int32{}, orphans: map[string]sighting{},
		scans: map[partition]int64{}, chunks: map[string]bool{}, deltas: map[string]bool{}, sets: newSets(),
	}
}

// applySegment merges an encoded segment.
func (st *state) applySegment(z []byte) error {
	g, err := decodeSegment(z, st.syms)
	if err != nil {
		return err
	}
	for i := range g.rows {
		st.merge(&g.rows[i])
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
func (st *state) merge(r *row) {
	i, ok := st.byUID[r.uid]
	if !ok {
		st.add(r)
		return
	}
	old := &st.rows[i]
	status := newest(st.syms, sighting{r.uid, r.refs[statusRef], r.times[statusTime]}, old.sighting())
	if !st.syms.isNewer(r, old) {
		st.setStatus(i, status)
		return
	}
	if st.byID != nil {
		delete(st.byID, old.id)
		st.byID[r.id] = i
	}
	r.refs[statusRef], r.times[statusTime] = status.status, status.at
	*old = *r
	st.markUnordered(i, everyOrder)
}

func (st *state) add(r *row) {
	i := int32(len(st.rows)) //nolint:gosec // far fewer than 2^31 fit into memory
	st.rows = append(st.rows, *r)
	st.byUID[r.uid] = i
	if st.byID != nil {
		st.byID[r.id] = i
	}
	st.markUnordered(i, everyOrder)
	if s, ok := st.orphans[r.uid]; ok {
		delete(st.orphans, r.uid)
		st.sight(s)
	}
}

// sight merges a status.
func (st *state) sight(s sighting) {
	if i, ok := st.byUID[s.uid]; ok {
		st.setStatus(i, newest(st.syms, s, st.rows[i].sighting()))
		return
	}
	if old, ok := st.orphans[s.uid]; ok {
		s = newest(st.syms, s, old)
	}
	st.orphans[strings.Clone(s.uid)] = s
}

func (st *state) setStatus(i int32, s sighting) {
	r := &st.rows[i]
	if r.refs[statusRef] != s.status {
		st.markUnordered(i, statusOrder)
	}
	r.refs[statusRef], r.times[statusTime] = s.status, s.at
}

func (r *row) sighting() sighting {
	return sighting{r.uid, r.refs[statusRef], r.times[statusTime]}
}

// newest returns the newer of two statuses, and of two equally old ones the one that is greater as a word.
func newest(syms *symbols, a, b sighting) sighting {
	if a.at > b.at || a.at == b.at && syms.names[a.status] > syms.names[b.status] {
		return a
	}
	return b
}

// lookupUID finds a row by its uid; nil when there is none or it was dropped.
func (st *state) lookupUID(uid string) *row {
	if i, ok := st.byUID[uid]; ok && !st.rows[i].gone {
		return &st.rows[i]
	}
	return nil
}

// lockReading returns the read lock, and how to give it back.
func (st *state) lockReading() (unlock func()) {
	st.mu.RLock()
	return st.mu.RUnlock
}

// lockIndexed returns a lock under which lookupID works, and how to give it back.
func (st *state) lockIndexed() (unlock func()) {
	st.mu.RLock()
	if st.byID != nil {
		return st.mu.RUnlock
	}
	st.mu.RUnlock()
	st.mu.Lock()
	if st.byID == nil {
		st.byID = make(map[ulid.ULID]int32, len(st.rows))
		for i := range st.rows {
			st.byID[st.rows[i].id] = int32(i) //nolint:gosec // far fewer than 2^31 fit into memory
		}
	}
	return st.mu.Unlock
}

// lookupID finds a row by its id, under the lock of indexed; nil when there is none or it was dropped.
func (st *state) lookupID(id string) *row {
	u, ok := parseID(id)
	if !ok {
		return nil
	}
	if i, ok := st.byID[u]; ok && !st.rows[i].gone {
		return &st.rows[i]
	}
	return nil
}

// lastSeen returns when the resource was there for certain: when it was written, or when a later scan of its partition found
// nothing to write. What is terminated was not seen after that.
func (st *state) lastSeen(r *row) int64 {
	seen := max(r.times[seenTime], st.scans[partition{r.refs[accountRef], r.refs[regionRef], r.refs[kindRef]}])
	if r.vanished {
		return r.times[seenTime]
	}
	if cloud.Status(st.syms.refName(r, statusRef)) == cloud.Terminated {
		return max(r.times[seenTime], min(seen, r.times[statusTime]))
	}
	return seen
}

// resourceOf returns the record of a row.
func (st *state) resourceOf(r *row) Resource {
	out := st.syms.resourceOf(r)
	out.LastSeenAt = timeOfMicros(st.lastSeen(r))
	return out
}

// segmentSince returns everything that the state knows, but for rows that were dropped before the time since.
func (st *state) segmentSince(since int64) *segment {
	g := &segment{syms: st.syms, rows: make([]row, 0, len(st.rows))}
	for _, i := range st.sortedRows(nameOrder) {
		g.rows = append(g.rows, st.rows[i])
	}
	for i := range st.rows {
		if r := &st.rows[i]; r.gone && r.times[contentTime] >= since {
			g.rows = append(g.rows, *r)
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
