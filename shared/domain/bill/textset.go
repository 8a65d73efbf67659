package bill

import "hash/maphash"

// textSet numbers distinct texts from 1. It holds them in chunks, without a pointer for each, which takes a third of
// the memory of a map and costs the collector nothing. A chunk is never copied.
type textSet struct {
	seed   maphash.Seed
	slots  []slot   // a power of two of them, at most half of them in use
	chunks [][]byte // full ones, and the current one
	starts []start  // of the texts, by number
}

// start is the position where a text begins. It ends where the next one begins, or the chunk ends.
type start struct{ chunk, offset uint32 }

// The sizes of the first chunk, and of chunks that are full size. A longer text gets a chunk of its own size.
const (
	firstChunk = 1 << 10
	fullChunk  = 256 << 10
)

// slot is a place of the hash table.
type slot struct {
	hash   uint32
	number int32 // 0 in a free slot
}

// firstSlots is the size of an empty table.
const firstSlots = 64

func newTextSet() textSet {
	return textSet{seed: maphash.MakeSeed(), slots: make([]slot, firstSlots), starts: make([]start, 1, firstSlots)}
}

func (s *textSet) len() int { return len(s.starts) - 1 }

func (s *textSet) at(number int32) []byte {
	from, next := s.starts[number], int(number)+1
	chunk := s.chunks[from.chunk]
	if next < len(s.starts) && s.starts[next].chunk == from.chunk {
		chunk = chunk[:s.starts[next].offset]
	}
	return chunk[from.offset:]
}

// number returns the number of a text, which is a new one for a new text.
func (s *textSet) number(text string) int32 {
	hash := uint32(maphash.String(s.seed, text)) //nolint:gosec // half of the hash is enough
	mask := uint32(len(s.slots) - 1)             //nolint:gosec // memory ends before
	for i := hash & mask; ; i = (i + 1) & mask {
		switch at := &s.slots[i]; {
		case at.number == 0:
			*at = slot{hash, s.add(text)}
			return s.grow(at.number)
		case at.hash == hash && string(s.at(at.number)) == text:
			return at.number
		}
	}
}

func (s *textSet) add(text string) int32 {
	last := s.chunkFor(len(text))
	s.starts = append(s.starts, start{uint32(last), uint32(len(s.chunks[last]))}) //nolint:gosec // memory ends before
	s.chunks[last] = append(s.chunks[last], text...)
	return int32(s.len()) //nolint:gosec // memory ends before
}

// chunkFor returns the number of the last chunk, which has space for n bytes.
func (s *textSet) chunkFor(n int) int {
	last, size := len(s.chunks)-1, firstChunk
	if last >= 0 {
		if used := s.chunks[last]; cap(used)-len(used) >= n {
			return last
		}
		size = min(2*cap(s.chunks[last]), fullChunk)
	}
	s.chunks = append(s.chunks, make([]byte, 0, max(n, size)))
	return last + 1
}

// grow doubles the table when half of it is in use. It returns number.
func (s *textSet) grow(number int32) int32 {
	if s.len()*2 <= len(s.slots) {
		return number
	}
	old := s.slots
	s.slots = make([]slot, 2*len(old))
	mask := uint32(len(s.slots) - 1) //nolint:gosec // memory ends before
	for _, moved := range old {
		if moved.number == 0 {
			continue
		}
		i := moved.hash & mask
		for s.slots[i].number != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = moved
	}
	return number
}
