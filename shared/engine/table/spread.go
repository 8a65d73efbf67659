package table

import (
	"fmt"
	"hash/fnv"
)

// Spread is a partition that one key could not take in, which takes 1,000 write units a second: it lies in Shards
// partitions, whose keys are PK with # and two digits, and the hash of an item's sort key tells in which.
type Spread struct {
	PK     string
	Shards int // 2–100; another number makes other keys of the same items
}

// Key returns where the item of the sort key is.
func (s Spread) Key(sk string) Key { return Key{PK: s.pk(ShardOf(sk, s.Shards)), SK: sk} }

// PKs returns the keys of all of its partitions, in order.
func (s Spread) PKs() []string {
	pks := make([]string, s.Shards)
	for i := range pks {
		pks[i] = s.pk(i)
	}
	return pks
}

func (s Spread) pk(shard int) string { return fmt.Sprintf("%s#%02d", s.PK, shard) }

// ShardOf returns which of n, from 0, the name falls to: always the same one, and each of them as often as the others.
func ShardOf(name string, n int) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash never fails
	sum := h.Sum64()
	sum ^= sum >> 32
	return int(sum % uint64(n)) //nolint:gosec // at most 100
}
