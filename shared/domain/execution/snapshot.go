package execution

import "lamplighter.dev/shared/engine/table"

// SnapshotPartition holds what a stop makes providers forget of resources, and the next start restores.
const SnapshotPartition table.Partition = "ORG#*#SNAP"

// SnapshotKey returns where the snapshot of a resource is stored.
func SnapshotKey(org, uid string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "SNAP", SK: uid}
}
