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
	// one for each chunk of the index: who reads the index reads these
	ChunkPartition table.Partition = "ORG#*#INV#*"
	ScanPartition  table.Partition = "ORG#*#SCAN#*"
)

// ChunkPartitions returns the partitions of the chunks that items of the index partition name, for the eraser. Those
// of the parts of Costs, which lie beside them, pricing.CostPartitions returns.
func ChunkPartitions(org string, items []table.Item) ([]string, error) {
	return index.ChunkPartitions(org, items)
}
