package table

import (
	"fmt"
	"hash/fnv"
)

// Spread is a list that needs more than the 1,000 write units per second of one partition. It is stored in Shards
// partitions. Their keys are PK, # and two digits. The hash of an item's sort key determines its partition.
type Spread struct {
	PK     string
	Shards int // 2 to 100; changing it moves items to other partitions
}

// Key returns the key of the item with the sort key.
func (s Spread) Key(sk string) Key { return Key{PK: s.shardPK(ShardOf(sk, s.Shards)), SK: sk} }

// PKs returns the keys of all its partitions, in order.
func (s Spread) PKs() []string {
	pks := make([]string, s.Shards)
	for i := range pks {
		pks[i] = s.shardPK(i)
	}
	return pks
}

func (s Spread) shardPK(shard int) string { return fmt.Sprintf("%s#%02d", s.PK, shard) }

// ShardOf returns the shard of name, from 0 to n-1. It is always the same, and all shards are equally frequent.
func ShardOf(name string, n int) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash never fails
	sum := h.Sum64()
	sum ^= sum >> 32
	return int(sum % uint64(n)) //nolint:gosec // at most 100
}
