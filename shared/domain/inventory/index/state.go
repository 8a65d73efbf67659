package index

import (
	"iter"
	"maps"
	"slices"
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
	Attached Attachment // let go of together with the rows, and under the same lock

	cells   [][]cell // pages, all full but the last
	count   int      // number of cells
	written int      // how often a cell was filled
	runs    runs
	byUID   hashed
	byID    *hashed             // nil until it is asked for
	orphans map[string]sighting // statuses of rows that have not arrived
	scans   map[Partition]int64
	orders  [orderCount]*order
	costs   []int64 // by row number; nil until they are asked for
	price   Price
	head    head
	chunks  map[string]bool // applied
	deltas  map[string]bool // the applied deltas among those of the last read
	scratch []byte
}

// Attachment is data that the reader of an index keeps beside the rows. Bytes returns its size in memory.
type Attachment interface{ Bytes() int }

func newState() *State {
	return &State{
		Symbols: newSymbols(), runs: newRuns(), orphans: map[string]sighting{},
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

func (st *State) cell(n int32) *cell { return &st.cells[n/cellPage][n%cellPage] }

// find returns the number of the row with a native id.
func (st *State) find(uid string) (int32, bool) { return st.findHashed(hashText(uid), uid) }

func (st *State) findHashed(sum uint64, uid string) (int32, bool) {
	n, ok := st.byUID.find(sum, func(n uint32) bool { return st.uidOf(n) == uid })
	return int32(n), ok
}

func (st *State) uidOf(n uint32) string  { return st.textOf(st.cell(int32(n))).uid }
func (st *State) uidSum(n uint32) uint64 { return hashText(st.uidOf(n)) }

// expect makes room for count more rows.
func (st *State) expect(count int) {
	st.Lock()
	defer st.Unlock()
	st.byUID.reserve(st.count+count, st.uidSum)
}

// merge merges a row. The newest content and the newest status win.
func (st *State) merge(e *Entry) {
	sum := hashText(e.UID)
	n, ok := st.findHashed(sum, e.UID)
	if !ok {
		st.add(sum, e)
		return
	}
	c := st.cell(n)
	status := newest(st.Symbols, e.sighting(), st.sightingOf(c))
	if st.supersedes(e, c) {
		if c.id != e.ID {
			st.byID = nil
		}
		st.written++
		st.fill(c, e)
		st.touch(n, everyOrder)
	}
	st.setStatus(n, status)
}

// supersedes reports whether the content of e wins over that of c. The newer one wins; see prevails for equal times.
func (st *State) supersedes(e *Entry, c *cell) bool {
	if at := (Row{st, c}).Time(ContentTime); e.Times[ContentTime] != at {
		return e.Times[ContentTime] > at
	}
	old := st.entry(c)
	return st.Symbols.prevails(e, &old)
}

func (st *State) add(sum uint64, e *Entry) {
	n := int32(st.count)
	if n%cellPage == 0 {
		st.cells = append(st.cells, make([]cell, cellPage))
	}
	st.count++
	c := st.cell(n)
	st.written++
	st.fill(c, e)
	c.status, c.statusAt = e.Refs[StatusRef], e.Times[StatusTime]
	st.byUID.add(sum, uint32(n), st.uidSum)
	if st.costs != nil {
		st.costs = append(st.costs, st.priceOf(n))
	}
	if st.byID != nil {
		st.addID(n)
	}
	st.touch(n, everyOrder)
	if s, ok := st.orphans[e.UID]; ok {
		delete(st.orphans, e.UID)
		st.sight(s)
	}
}

// sight merges a status.
func (st *State) sight(s sighting) {
	if n, ok := st.find(s.uid); ok {
		st.setStatus(n, newest(st.Symbols, s, st.sightingOf(st.cell(n))))
		return
	}
	if old, ok := st.orphans[s.uid]; ok {
		s = newest(st.Symbols, s, old)
	}
	s.uid = strings.Clone(s.uid)
	st.orphans[s.uid] = s
}

func (st *State) setStatus(n int32, s sighting) {
	c := st.cell(n)
	changed := c.status != s.status
	c.status, c.statusAt = s.status, s.at
	if changed {
		st.touch(n, StatusOrder)
		st.reprice(n)
	}
}

// RowByUID finds a row by its uid. It returns false if there is none, or if it was dropped. It needs the read lock.
func (st *State) RowByUID(uid string) (Row, bool) {
	n, ok := st.find(uid)
	if !ok {
		return Row{}, false
	}
	r := st.Row(n)
	return r, !r.gone()
}

// RLockByID takes the read lock with the index by id built, so that RowByID works, and returns the function that
// releases the lock.
func (st *State) RLockByID() (unlock func()) {
	st.RLock()
	if st.byID != nil {
		return st.RUnlock
	}
	st.RUnlock()
	st.Lock()
	if st.byID == nil {
		st.byID = &hashed{}
		st.byID.reserve(st.count, nil)
		for n := range int32(st.count) {
			st.addID(n)
		}
	}
	return st.Unlock
}

func (st *State) addID(n int32) {
	sumOf := func(n uint32) uint64 { return hashID(st.cell(int32(n)).id) }
	st.byID.add(sumOf(uint32(n)), uint32(n), sumOf)
}

// RowByID finds a row by its id, under the lock of RLockByID. It returns false if there is none, or if it was dropped.
func (st *State) RowByID(id ulid.ULID) (Row, bool) {
	n, ok := st.byID.find(hashID(id), func(n uint32) bool { return st.cell(int32(n)).id == id })
	if !ok {
		return Row{}, false
	}
	r := st.Row(int32(n))
	return r, !r.gone()
}

// Row returns row n of an order.
func (st *State) Row(n int32) Row { return Row{st, st.cell(n)} }

// Rows yields the rows that were not dropped, in no order. It needs the read lock.
func (st *State) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for _, r := range st.NumberedRows() {
			if !yield(r) {
				return
			}
		}
	}
}

// RowsFrom yields those of count rows, from a number on, that were not dropped. It needs the read lock.
func (st *State) RowsFrom(from int32, count int32) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for n := from; n < min(from+count, int32(st.count)); n++ {
			if r := st.Row(n); !r.gone() && !yield(r) {
				return
			}
		}
	}
}

// HasRow reports whether there is a row with a number, dropped or not. It needs the read lock.
func (st *State) HasRow(n int32) bool { return int(n) < st.count }

// NumberedRows yields Rows with their numbers, which Row takes.
func (st *State) NumberedRows() iter.Seq2[int32, Row] {
	return func(yield func(int32, Row) bool) {
		for n := range int32(st.count) {
			if r := st.Row(n); !r.gone() && !yield(n, r) {
				return
			}
		}
	}
}

// LastSeen returns the last time the resource certainly existed, in Unix microseconds: when it was written, or when a
// later scan of its partition found it unchanged. A terminated resource was last seen at the time of that status at
// the latest.
func (st *State) LastSeen(r Row) int64 {
	written := r.Time(SeenTime)
	if r.Vanished() {
		return written
	}
	seen := max(written, st.scans[r.Partition()])
	if cloud.Status(r.Word(StatusRef)) == cloud.Terminated {
		return max(written, min(seen, r.Time(StatusTime)))
	}
	return seen
}

// Partition returns the partition of scans with these names, if the index knows all three names.
func (st *State) Partition(account, region, kind string) (Partition, bool) {
	a, hasAccount := st.Symbols.Find(account)
	r, hasRegion := st.Symbols.Find(region)
	k, hasKind := st.Symbols.Find(kind)
	return Partition{a, r, k}, hasAccount && hasRegion && hasKind
}

// PartitionNames is a partition by the names of its symbols.
type PartitionNames struct{ Account, Region, Kind string }

// Partitions returns the partitions that have rows, in no order. It needs the read lock.
func (st *State) Partitions() []PartitionNames {
	had := map[Partition]struct{}{}
	var out []PartitionNames
	for r := range st.Rows() {
		p := r.Partition()
		if _, known := had[p]; !known {
			had[p] = struct{}{}
			out = append(out,
				PartitionNames{st.Symbols.Name(p.account), st.Symbols.Name(p.region), st.Symbols.Name(p.kind)})
		}
	}
	return out
}

// ScannedAt returns the start of the last finished scan of p, in Unix microseconds, or 0 if no scan has finished.
func (st *State) ScannedAt(p Partition) int64 { return st.scans[p] }

// known returns the rows ordered by name, followed by the rows that were dropped at the time since or later. It needs
// the lock of RLockOrdered.
func (st *State) known(since int64) []int32 {
	out := slices.Clone(st.sorted(NameOrder))
	for n := range int32(st.count) {
		if r := st.Row(n); r.gone() && r.Time(ContentTime) >= since {
			out = append(out, n)
		}
	}
	return out
}

// entries returns the Entries of rows.
func (st *State) entries(rows []int32) []Entry {
	out := make([]Entry, len(rows))
	for i, n := range rows {
		out[i] = st.entry(st.cell(n))
	}
	return out
}

// unmerged returns the statuses of rows that are not in the index yet.
func (st *State) unmerged() []sighting { return slices.Collect(maps.Values(st.orphans)) }

// scanned returns the start times of the last scans of all partitions.
func (st *State) scanned() []scanned {
	out := make([]scanned, 0, len(st.scans))
	for p, at := range st.scans {
		out = append(out, scanned{p, at})
	}
	return out
}

// keptBytes is the approximate memory of an id and its place in a map. Bytes uses it for the parts of the index that
// are counted and not measured.
const keptBytes = 120

// Bytes returns the size of the index in memory, without the memory of requests under way. It needs the read lock.
func (st *State) Bytes() int {
	sum := st.Symbols.held() + st.runs.held() + st.byUID.held() + 24*cap(st.cells) + 8*cap(st.costs) +
		len(st.cells)*cellPage*cellSize
	if st.byID != nil {
		sum += st.byID.held()
	}
	for _, o := range st.orders {
		if o != nil {
			sum += o.held()
		}
	}
	if st.Attached != nil {
		sum += st.Attached.Bytes()
	}
	return sum + keptBytes*(len(st.orphans)+len(st.scans)+2*len(st.chunks)+len(st.deltas))
}
