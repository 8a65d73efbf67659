package recommendation

import (
	"encoding/binary"
	"encoding/json"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/packing"
)

// segment is a part of the columns: a change, or a chunk. Segments are merged in any order, and more than once: of an
// entry the highest version counts, of a confirmation the latest.
type segment struct {
	names     *names
	entries   []entry
	confirmed map[int]int64 // shard → Unix milliseconds of the last pass that evaluated all of it
}

// The limits of a stored segment.
const (
	chunkRows       = 12_000
	maxSegmentBytes = 250_000 // 334 kB in the item, where they are base64
	maxUnpacked     = 16 << 20
)

// packed is a stored segment.
type packed struct {
	Z []byte `json:"z"`
}

var (
	packer   = &packing.Packer{}
	unpacker = &packing.Unpacker{Max: maxUnpacked}
)

func (s *segment) item(k table.Key) (table.Item, error) { return itemOf(k, s.encode()) }

func itemOf(k table.Key, z []byte) (table.Item, error) { return table.NewItem(k, packed{z}) }

// segmentFormat is the first byte of an unpacked segment.
const segmentFormat = 1

// encode returns the segment as it is stored.
func (s *segment) encode() []byte {
	w := &writer{b: []byte{segmentFormat}}
	w.uint(uint64(len(s.names.places)))
	for _, p := range s.names.places {
		w.text(p.prefix, p.provider, p.kind, p.account, p.region)
	}
	w.uint(uint64(len(s.names.rules)))
	for _, r := range s.names.rules {
		w.text(r.id, r.title, r.category)
	}
	w.uint(uint64(len(s.confirmed)))
	for shard := range Shards {
		if at, ok := s.confirmed[shard]; ok {
			w.uint(uint64(shard))
			w.uint(uint64(at))
		}
	}
	w.uint(uint64(len(s.entries)))
	for i := range s.entries {
		w.b = append(w.b, s.entries[i].id[:]...)
	}
	for i := range s.entries { // the time is mostly that of the id
		w.b = append(w.b, s.entries[i].resource[:]...)
	}
	w.columns(s.entries)
	for i := range s.entries {
		w.extras(&s.entries[i])
	}
	return packer.Append(nil, w.b)
}

// writer appends numbers and texts.
type writer struct{ b []byte }

func (w *writer) uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }

func (w *writer) text(texts ...string) {
	for _, s := range texts {
		w.uint(uint64(len(s)))
		w.b = append(w.b, s...)
	}
}

// numbers returns the numbers of an entry in the order of the columns.
func (e *entry) numbers() [columnCount]uint64 {
	return [columnCount]uint64{
		uint64(e.place), uint64(e.rule), uint64(e.gross), uint64(e.net), uint64(e.cost), uint64(e.realized),
		uint64(e.updated), uint64(e.until), uint64(e.ended), uint64(e.print), uint64(e.version), uint64(e.status),
		uint64(e.severity), uint64(e.strength), uint64(e.reason), uint64(e.flags), uint64(len(e.claims())),
	}
}

const columnCount = 17

func (w *writer) columns(entries []entry) {
	for c := range columnCount {
		for i := range entries {
			w.uint(entries[i].numbers()[c])
		}
	}
}

// extras appends what few entries have.
func (w *writer) extras(e *entry) {
	for _, c := range e.claims() {
		w.b = append(w.b, c.bearer[:]...)
		w.uint(uint64(c.cents))
		w.uint(uint64(c.cost))
	}
	if e.has(inlineFlag) {
		w.text(e.more.uid, e.more.name)
	}
}

// split encodes the segment in parts that fit into an item each.
func (s *segment) split() [][]byte {
	z := s.encode()
	if len(z) <= maxSegmentBytes && len(s.entries) <= chunkRows || len(s.entries) < 2 {
		return [][]byte{z}
	}
	half := len(s.entries) / 2
	if len(s.entries) > chunkRows {
		half = chunkRows
	}
	first, second := s.part(s.entries[:half]), s.part(s.entries[half:])
	first.confirmed = s.confirmed
	return append(first.split(), second.split()...)
}

// part returns a segment of entries with the names that they use.
func (s *segment) part(entries []entry) *segment {
	out := &segment{names: newNames()}
	for _, e := range entries {
		out.add(s.names, e)
	}
	return out
}

// add adds an entry whose numbers are those of from.
func (s *segment) add(from *names, e entry) {
	e.place, e.rule = s.names.placeNumber(from.places[e.place]), s.names.ruleNumber(from.rules[e.rule])
	s.entries = append(s.entries, e)
}

func newSegment() *segment { return &segment{names: newNames(), confirmed: map[int]int64{}} }

// unpackItem returns the content of a stored segment.
func unpackItem(it table.Item) ([]byte, error) {
	var p packed
	if err := json.Unmarshal(it.Data, &p); err != nil {
		return nil, &table.DamageError{Key: it.Key, Err: err}
	}
	b, err := unpacker.Unpack(p.Z)
	if err != nil {
		return nil, &table.DamageError{Key: it.Key, Err: err}
	}
	return b, nil
}
