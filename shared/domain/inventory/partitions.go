package inventory

import "lamplighter.dev/shared/engine/table"

// The partitions of the inventory.
const (
	AccountPartition  table.Partition = "ORG#*#CA"
	ClusterPartition  table.Partition = "ORG#*#CLUSTER"
	ResourcePartition table.Partition = "ORG#*#RES#*"
	IndexPartition    table.Partition = "ORG#*#INV"
	ScanPartition     table.Partition = "ORG#*#SCAN#*"
)
