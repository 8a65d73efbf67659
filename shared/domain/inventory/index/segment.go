package index

import (
	"encoding/binary"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/packing"
)

// Segment is a part of an index: the content of a delta or of a chunk. Both have the same format, so compaction only
// merges segments.
type Segment struct {
	Symbols *Symbols // the symbols of Rows
	Rows    []Entry
	seen    []sighting
	scans   []scanned
}

// scanned says that a scan of a partition, begun at the time at, was complete.
type scanned struct {
	part Partition
	at   int64
}

// Partition is the scope of one scan: the symbols of an account, a region and a kind.
type Partition struct{ account, region, kind uint32 }

// NewSegment makes an empty segment with symbols of its own.
func NewSegment() *Segment { return &Segment{Symbols: newSymbols()} }

// AddStatus adds the status of the resource uid as it was observed at a time in Unix microseconds.
func (g *Segment) AddStatus(uid, status string, at int64) {
	g.seen = append(g.seen, sighting{uid, g.Symbols.Intern(status), at})
}

// AddScan records that a scan of a partition, begun at a time in Unix microseconds, was complete.
func (g *Segment) AddScan(account, region, kind string, at int64) {
	g.scans = append(g.scans,
		scanned{Partition{g.Symbols.Intern(account), g.Symbols.Intern(region), g.Symbols.Intern(kind)}, at})
}

// maxSegment bounds the compressed bytes of one item: base64 makes a third more of them, and an item holds 400,000.
const maxSegment = 250_000

const segmentVersion = 2

// packed is the stored form of a segment.
type packed struct {
	Z []byte `json:"z"`
}

// segmentItem makes the item that holds the compressed segment z under k.
func segmentItem(k table.Key, z []byte) (table.Item, error) { return table.NewItem(k, packed{z}) }

// split encodes g into as many parts as its size needs. Scans are in the last part: if it is written last, a scan
// counts as finished only after all resources that it found.
func (g *Segment) split() [][]byte {
	z := g.encode()
	if len(z) <= maxSegment || len(g.Rows)+len(g.seen) < 2 {
		return [][]byte{z}
	}
	r, n := len(g.Rows)/2, len(g.seen)/2
	a := &Segment{Symbols: g.Symbols, Rows: g.Rows[:r], seen: g.seen[:n]}
	b := &Segment{Symbols: g.Symbols, Rows: g.Rows[r:], seen: g.seen[n:], scans: g.scans}
	return append(a.split(), b.split()...)
}

// compressor needs a third less space than s2, and twice its time. Units of the table cost more than that time.
var compressor = packing.Packer{Level: packing.Fastest}

// writer appends numbers and strings, and numbers the symbols of a segment as they come.
type writer struct {
	b     []byte
	names []byte
	count int
	local map[uint32]uint64 // symbols of the index to symbols of the segment
	syms  *Symbols
}

func (w *writer) uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }
func (w *writer) int(v int64)   { w.b = binary.AppendVarint(w.b, v) }

func (w *writer) string(s string) {
	w.uint(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) symbol(n uint32) {
	l, ok := w.local[n]
	if !ok {
		l = uint64(w.count)
		w.local[n] = l
		w.count++
		name := w.syms.Name(n)
		w.names = binary.AppendUvarint(w.names, uint64(len(name)))
		w.names = append(w.names, name...)
	}
	w.uint(l)
}

// encode writes the segment column by column, so that similar values are adjacent, and compresses it.
func (g *Segment) encode() []byte {
	w := &writer{local: map[uint32]uint64{}, syms: g.Symbols}
	w.uint(uint64(len(g.Rows)))
	w.pairs(g.Rows)
	w.rows(g.Rows)
	w.uint(uint64(len(g.seen)))
	for _, s := range g.seen {
		w.string(s.uid)
		w.symbol(s.status)
		w.int(s.at)
	}
	w.uint(uint64(len(g.scans)))
	for _, s := range g.scans {
		w.symbol(s.part.account)
		w.symbol(s.part.region)
		w.symbol(s.part.kind)
		w.int(s.at)
	}
	out := binary.AppendUvarint(make([]byte, 0, len(w.names)+len(w.b)+8), uint64(w.count))
	out = append(append(out, w.names...), w.b...)
	return compressor.Append([]byte{segmentVersion}, out)
}

// pairs writes the tags in use, each once, and renumbers the rows' tags by their position in that list.
func (w *writer) pairs(rows []Entry) {
	local, order := map[uint32]uint32{}, []uint32(nil)
	for i := range rows {
		for _, p := range rows[i].Tags {
			if _, ok := local[p]; !ok {
				local[p] = uint32(len(order))
				order = append(order, p)
			}
		}
	}
	w.uint(uint64(len(order)))
	for _, p := range order {
		w.symbol(w.syms.pairs[p][0])
		w.symbol(w.syms.pairs[p][1])
	}
	for i := range rows {
		w.uint(uint64(len(rows[i].Tags)))
	}
	for i := range rows {
		for _, p := range rows[i].Tags {
			w.uint(uint64(local[p]))
		}
	}
}

func (w *writer) rows(rows []Entry) {
	for i := range rows {
		w.b = append(w.b, rows[i].ID[:]...)
	}
	for i := range rows {
		w.uint(uint64(len(rows[i].UID)))
		w.uint(uint64(len(rows[i].Name)))
	}
	for i := range rows {
		w.b = append(append(w.b, rows[i].UID...), rows[i].Name...)
	}
	for c := range RefCount {
		for i := range rows {
			w.symbol(rows[i].Refs[c])
		}
	}
	for c := range timeCount {
		var before int64
		for i := range rows {
			w.int(rows[i].Times[c] - before)
			before = rows[i].Times[c]
		}
	}
	for i := range rows {
		w.uint(uint64(len(rows[i].Capacity))<<2 | bit(rows[i].Vanished)<<1 | bit(rows[i].Gone))
		for _, a := range rows[i].Capacity {
			w.symbol(a.Name)
			w.int(a.Value)
		}
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
