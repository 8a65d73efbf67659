package index

import (
	"errors"
	"fmt"

	"lamplighter.dev/shared/foundation/packing"
)

var errSegment = errors.New("inventory index: malformed segment")

// minRow is the least number of bytes that a row takes.
const minRow = 16 + 2 + 1 + RefCount + timeCount + 1

// reader decodes the output of a writer. After an error it reads zeros.
type reader struct {
	b     string
	at    int
	bad   bool
	syms  *Symbols
	index []uint32 // symbols of the segment, to those of the index
}

func (r *reader) readUint() uint64 {
	v, n := readUvarint(r.b[r.at:])
	if n == 0 {
		r.fail()
		return 0
	}
	r.at += n
	return v
}

func (r *reader) int() int64 {
	v := r.readUint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *reader) fail() { r.bad, r.at = true, len(r.b) }

// count reads the number of the following values, each of at least size bytes. It refuses an impossible number before
// memory is allocated for it.
func (r *reader) count(size int) int {
	v := r.readUint()
	if v > uint64((len(r.b)-r.at)/size) {
		r.fail()
		return 0
	}
	return int(v)
}

func (r *reader) take(n uint64) string {
	if n > uint64(len(r.b)-r.at) {
		r.fail()
		return ""
	}
	from := r.at
	r.at += int(n)
	return r.b[from:r.at]
}

func (r *reader) symbol() uint32 {
	v := r.readUint()
	if v >= uint64(len(r.index)) {
		r.fail()
		return 0
	}
	return r.index[v]
}

// decompressor refuses input that needs more memory than the largest segment.
var decompressor = packing.Unpacker{Max: 256 * maxSegment}

// decodeSegment reads an encoded segment into the symbols of syms.
func decodeSegment(z []byte, syms *Symbols) (*Segment, error) {
	if len(z) == 0 || z[0] != segmentVersion {
		return nil, fmt.Errorf("%w: version", errSegment)
	}
	b, err := decompressor.Unpack(z[1:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSegment, err)
	}
	r := &reader{b: string(b), syms: syms}
	r.index = make([]uint32, 0, 64)
	for range r.count(1) {
		r.index = append(r.index, syms.Intern(r.take(r.readUint())))
	}
	g := &Segment{Symbols: syms}
	g.Rows = make([]Entry, r.count(minRow))
	r.tags(g.Rows)
	r.rows(g.Rows)
	for range r.count(3) {
		g.seen = append(g.seen, sighting{r.take(r.readUint()), r.symbol(), r.int()})
	}
	for range r.count(4) {
		g.scans = append(g.scans, scanned{Partition{r.symbol(), r.symbol(), r.symbol()}, r.int()})
	}
	if r.bad || r.at != len(r.b) {
		return nil, errSegment
	}
	return g, nil
}

// tags reads the tags of rows into one array.
func (r *reader) tags(rows []Entry) {
	pairs := make([]uint32, r.count(2))
	for i := range pairs {
		key := r.symbol()
		pairs[i] = r.syms.internPair(key, r.symbol())
	}
	total := 0
	sizes := make([]int, len(rows))
	for i := range sizes {
		sizes[i] = r.count(1)
		total += sizes[i]
	}
	if total > len(r.b)-r.at {
		r.fail()
		return
	}
	all := make([]uint32, total)
	for i := range all {
		if n := r.readUint(); n < uint64(len(pairs)) {
			all[i] = pairs[n]
		} else {
			r.fail()
		}
	}
	for i := range rows {
		rows[i].Tags, all = all[:sizes[i]:sizes[i]], all[sizes[i]:]
	}
}

func (r *reader) rows(rows []Entry) {
	for i := range rows {
		copy(rows[i].ID[:], r.take(uint64(len(rows[i].ID))))
	}
	r.texts(rows)
	for c := range RefCount {
		for i := range rows {
			rows[i].Refs[c] = r.symbol()
		}
	}
	for c := range timeCount {
		var before int64
		for i := range rows {
			before += r.int()
			rows[i].Times[c] = before
		}
	}
	for i := range rows {
		v := r.readUint()
		rows[i].Vanished, rows[i].Gone = v>>1&1 == 1, v&1 == 1
		if v>>2 > uint64(len(r.b)-r.at) {
			r.fail()
			return
		}
		for range v >> 2 {
			name := r.symbol()
			rows[i].Capacity = append(rows[i].Capacity, Amount{name, r.int()})
		}
	}
}

// texts reads the uids and names of rows. They are substrings of the input.
func (r *reader) texts(rows []Entry) {
	sizes := make([]int, 2*len(rows))
	total := 0
	for i := range sizes {
		sizes[i] = r.count(1)
		total += sizes[i]
	}
	text := r.take(uint64(total))
	if r.bad {
		return
	}
	for i := range rows {
		u, n := sizes[2*i], sizes[2*i+1]
		rows[i].UID, rows[i].Name, text = text[:u], text[u:u+n], text[u+n:]
	}
}
