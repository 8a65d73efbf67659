package execution

import "lamplighter.dev/shared/engine/table"

// The partitions of actions and of their records.
const (
	ActionPartition            table.Partition = "ORG#*#ACT#*"
	BulkPartition              table.Partition = "ORG#*#BULK"
	ChunkPartition             table.Partition = "ORG#*#BULK#*"
	BulkGroupPartition         table.Partition = "ORG#*#BULKGROUP"
	HistoryPartition           table.Partition = "ORG#*#HIST#*"
	HistoryOfResourcePartition table.Partition = "ORG#*#HIST#R#*"
	CountPartition             table.Partition = "ORG#*#COUNT"
)
