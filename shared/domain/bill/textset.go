package bill

import "hash/maphash"

// textSet numbers distinct texts from 1. It holds them one after the other, without a pointer for each, which takes a
// third of the memory of a map and costs the collector nothing.
type textSet struct {
	seed  maphash.Seed
	slots []slot // a power of two of them, at most half of them in use
	bytes []byte
	ends  []int // in bytes, by number
}

// slot is a place of the hash table.
type slot struct {
	hash   uint32
	number int32 // 0 in a free slot
}

// firstSlots is the size of an empty table.
const firstSlots = 64

func newTextSet() textSet {
	return textSet{seed: maphash.MakeSeed(), slots: make([]slot, firstSlots), ends: make([]int, 1, firstSlots)}
}

func (s *textSet) len() int { return len(s.ends) - 1 }

func (s *textSet) at(number int32) []byte { return s.bytes[s.ends[number-1]:s.ends[number]] }

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
	s.bytes = append(s.bytes, text...)
	s.ends = append(s.ends, len(s.bytes))
	return int32(len(s.ends) - 1) //nolint:gosec // memory ends before
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
