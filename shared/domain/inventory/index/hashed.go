package index

import (
	"hash/maphash"

	"github.com/oklog/ulid/v2"
)

// hashed finds numbers by the hash of the values they stand for. It takes 4 bytes per slot; a map takes 40.
type hashed struct {
	slots []uint32 // a number and one, 0 where none is; at most three of four are taken
	count int
}

var hashSeed = maphash.MakeSeed()

func hashText(s string) uint64 { return maphash.String(hashSeed, s) }

func hashID(id ulid.ULID) uint64 { return maphash.Bytes(hashSeed, id[:]) }

// hashWords mixes the words, like multiplication by a large odd number.
func hashWords(ws []uint32) uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := uint64(len(ws)) * odd
	for _, w := range ws {
		h = (h ^ uint64(w)) * odd
		h ^= h >> 29
	}
	return h
}

// find returns the number with this hash that passes right.
func (h *hashed) find(sum uint64, right func(uint32) bool) (uint32, bool) {
	mask := uint64(len(h.slots)) - 1
	for i := sum; len(h.slots) > 0; i++ {
		n := h.slots[i&mask]
		if n == 0 {
			return 0, false
		}
		if right(n - 1) {
			return n - 1, true
		}
	}
	return 0, false
}

// add adds a number that is not in the table. sumOf returns the hash of the value that a number stands for.
func (h *hashed) add(sum uint64, n uint32, sumOf func(uint32) uint64) {
	if (h.count+1)*4 > len(h.slots)*3 {
		h.reserve(h.count+1, sumOf)
	}
	h.put(sum, n)
	h.count++
}

// reserve makes room for count numbers.
func (h *hashed) reserve(count int, sumOf func(uint32) uint64) {
	size := max(16, len(h.slots))
	for count*4 > size*3 {
		size *= 2
	}
	if size == len(h.slots) {
		return
	}
	old := h.slots
	h.slots = make([]uint32, size)
	for _, n := range old {
		if n != 0 {
			h.put(sumOf(n-1), n-1)
		}
	}
}

func (h *hashed) put(sum uint64, n uint32) {
	mask := uint64(len(h.slots)) - 1
	i := sum & mask
	for h.slots[i] != 0 {
		i = (i + 1) & mask
	}
	h.slots[i] = n + 1
}

// held returns how many bytes of memory h takes.
func (h *hashed) held() int { return 4 * cap(h.slots) }
