package identity

import (
	"fmt"

	"lamplighter.dev/shared/engine/table"
)

// The directory lists all organizations, in DirectoryShards partitions, for periodic work on each of them.
const (
	DirectoryPrefix = "ORGS#"
	DirectoryShards = 16
)

// DirectoryPK returns the partition of a shard of the directory.
func DirectoryPK(shard int) string { return fmt.Sprintf("%s%02d", DirectoryPrefix, shard) }

// DirectoryKey returns the key of an organization in the directory.
func DirectoryKey(org string) table.Key {
	return table.Key{PK: DirectoryPK(table.ShardOf(org, DirectoryShards)), SK: org}
}

// AddToDirectory returns the write that lists an organization. Use it in the transaction that creates the organization,
// in table.Within(ctx, DirectoryPrefix).
func AddToDirectory(org string) (table.Write, error) {
	it, err := table.NewItem(DirectoryKey(org), map[string]string{"org": org})
	return table.Put(it, table.Absent()), err
}
