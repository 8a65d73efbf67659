package inventory

import (
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
)

// The partitions of the inventory.
const (
	AccountPartition  table.Partition = "ORG#*#CA"
	ClusterPartition  table.Partition = "ORG#*#CLUSTER"
	ResourcePartition table.Partition = "ORG#*#RES#*"
	IndexPartition    table.Partition = "ORG#*#INV"
	ChunkPartition    table.Partition = "ORG#*#INV#*" // one for each chunk of the index: who reads the index reads these
	ScanPartition     table.Partition = "ORG#*#SCAN#*"
)

// ChunkPartitions returns the partitions of the chunks that items of the index partition name, for who erases all of it.
func ChunkPartitions(org string, items []table.Item) ([]string, error) {
	return index.ChunkPartitions(org, items)
}
