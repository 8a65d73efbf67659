package index

import (
	"encoding/binary"
	"strings"

	"github.com/oklog/ulid/v2"
)

// cell is the fixed-size part of a resource in an index: 56 bytes, without pointers, so that the collector skips it.
type cell struct {
	id       ulid.ULID
	created  int64  // Unix microseconds
	statusAt int64  // Unix microseconds
	text     uint32 // position in the symbols' texts: see appendText
	status   uint32 // symbol
	form     uint32 // run of the other refs
	seen     uint32 // run of the other times and the flags
	tags     uint32 // run of pairs
	capacity uint32 // run of amounts
}

// amountWords is how many words an amount has in its run: the symbol, and the value in two.
const amountWords = 3

// The flags of a resource. They are in the last word of its run of times; each time takes two words before it.
const (
	vanishedFlag = 1
	goneFlag     = 2
)

func appendInt64(ws []uint32, v int64) []uint32 {
	return append(ws, uint32(v), uint32(v>>32))
}

func int64At(ws []uint32) int64 { return int64(ws[1])<<32 | int64(ws[0]) }

const (
	cellSize = 56  // bytes; a test measures it
	cellPage = 256 // cells per page; a page fills one of the allocator's sizes
)

// Row is one resource of an index. Its methods return the current values, not the values when it was found, and need
// the read lock.
type Row struct {
	st *State
	c  *cell
}

// ID returns our id of the resource.
func (r Row) ID() ulid.ULID { return r.c.id }

// UID returns the native id.
func (r Row) UID() string { return r.st.textOf(r.c).uid }

// Name returns the name.
func (r Row) Name() string { return r.st.textOf(r.c).name }

// Ref returns the symbol of a field: KindRef and so on.
func (r Row) Ref(ref int) uint32 {
	if ref == StatusRef {
		return r.c.status
	}
	return r.st.runs.at(r.c.form)[ref]
}

// Word returns the text of a field: KindRef and so on.
func (r Row) Word(ref int) string { return r.st.Symbols.Name(r.Ref(ref)) }

// Time returns a time in Unix microseconds, such as ContentTime, or 0 if there is none.
func (r Row) Time(which int) int64 {
	switch which {
	case StatusTime:
		return r.c.statusAt
	case CreatedTime:
		return r.c.created
	case SeenTime:
		return int64At(r.seen()[2:])
	}
	return int64At(r.seen())
}

func (r Row) seen() []uint32 { return r.st.runs.at(r.c.seen) }

// Vanished reports whether a scan did not find it any more.
func (r Row) Vanished() bool { return r.seen()[4]&vanishedFlag != 0 }

func (r Row) gone() bool { return r.seen()[4]&goneFlag != 0 }

// Tags returns the numbers of the tags, for Symbols.Tag, ordered by key. The slice must not be changed.
func (r Row) Tags() []uint32 { return r.st.runs.at(r.c.tags) }

// Amounts is a capacity as a row has it.
type Amounts []uint32

// Len returns how many amounts there are.
func (a Amounts) Len() int { return len(a) / amountWords }

// At returns the i-th amount, in the order of their names.
func (a Amounts) At(i int) Amount { return Amount{a[i*amountWords], int64At(a[i*amountWords+1:])} }

// From returns the amounts from the i-th on.
func (a Amounts) From(i int) Amounts { return a[i*amountWords:] }

// Capacity returns the capacity. It must not be changed.
func (r Row) Capacity() Amounts { return r.st.runs.at(r.c.capacity) }

// Partition returns the partition whose scans find the row.
func (r Row) Partition() Partition {
	form := r.st.runs.at(r.c.form)
	return Partition{form[AccountRef], form[RegionRef], form[KindRef]}
}

// Mentions reports whether the name or the native id contains word, ignoring case. The word must be in lower case.
func (r Row) Mentions(word string) bool {
	t := r.st.textOf(r.c)
	return strings.Contains(t.lowerName, word) || strings.Contains(t.lowerUID, word)
}

// text is the texts of a row; the lower-case forms are for search and order.
type text struct{ uid, name, lowerUID, lowerName string }

// appendText writes the texts of a row: the two lengths, each with a bit that says whether the lower-case form
// differs, then the two texts, and then the differing lower-case forms with their lengths.
func appendText(b []byte, uid, name string) []byte {
	lowerUID, lowerName := strings.ToLower(uid), strings.ToLower(name)
	b = binary.AppendUvarint(b, uint64(len(uid))<<1|bit(lowerUID != uid))
	b = binary.AppendUvarint(b, uint64(len(name))<<1|bit(lowerName != name))
	b = append(append(b, uid...), name...)
	if lowerUID != uid {
		b = append(binary.AppendUvarint(b, uint64(len(lowerUID))), lowerUID...)
	}
	if lowerName != name {
		b = append(binary.AppendUvarint(b, uint64(len(lowerName))), lowerName...)
	}
	return b
}

func (st *State) textOf(c *cell) text {
	s := st.Symbols.texts.from(c.text)
	u, n := readUvarint(s)
	v, m := readUvarint(s[n:])
	s = s[n+m:]
	t := text{uid: s[:u>>1], name: s[u>>1 : u>>1+v>>1]}
	t.lowerUID, t.lowerName = t.uid, t.name
	rest := s[u>>1+v>>1:]
	if u&1 != 0 {
		t.lowerUID, rest = cutText(rest)
	}
	if v&1 != 0 {
		t.lowerName, _ = cutText(rest)
	}
	return t
}

// fill copies the content of e into c, without the status.
func (st *State) fill(c *cell, e *Entry) {
	if t := st.textOf(c); t.uid != e.UID || t.name != e.Name {
		st.scratch = appendText(st.scratch[:0], e.UID, e.Name)
		c.text = st.Symbols.texts.add(st.scratch)
	}
	c.id, c.created = e.ID, e.Times[CreatedTime]
	form := e.Refs
	form[StatusRef] = 0
	c.form = st.runs.intern(form[:])
	var words [8 * amountWords]uint32
	seen := appendInt64(appendInt64(words[:0], e.Times[ContentTime]), e.Times[SeenTime])
	c.seen = st.runs.intern(append(seen, uint32(bit(e.Vanished)*vanishedFlag|bit(e.Gone)*goneFlag)))
	c.tags = st.runs.intern(e.Tags)
	amounts := words[:0]
	for _, a := range e.Capacity {
		amounts = appendInt64(append(amounts, a.Name), a.Value)
	}
	c.capacity = st.runs.intern(amounts)
}

// entry returns the Entry of a cell.
func (st *State) entry(c *cell) Entry {
	r, t := Row{st, c}, st.textOf(c)
	e := Entry{UID: t.uid, Name: t.name, ID: c.id, Tags: r.Tags(), Vanished: r.Vanished(), Gone: r.gone()}
	for capacity, i := r.Capacity(), 0; i < capacity.Len(); i++ {
		e.Capacity = append(e.Capacity, capacity.At(i))
	}
	copy(e.Refs[:], st.runs.at(c.form))
	e.Refs[StatusRef] = c.status
	for which := range timeCount {
		e.Times[which] = r.Time(which)
	}
	return e
}

func (st *State) sightingOf(c *cell) sighting {
	return sighting{st.textOf(c).uid, c.status, c.statusAt}
}
