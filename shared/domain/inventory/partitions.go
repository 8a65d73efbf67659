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
	// one for each chunk of the index; readers of the index read these.
	ChunkPartition table.Partition = "ORG#*#INV#*"
	ScanPartition  table.Partition = "ORG#*#SCAN#*"
)

// ChunkPartitions returns the partitions of the chunks that items of the index partition name, for the eraser.
// pricing.CostPartitions returns the partitions of the parts of Costs, which are beside them.
func ChunkPartitions(org string, items []table.Item) ([]string, error) {
	return index.ChunkPartitions(org, items)
}
