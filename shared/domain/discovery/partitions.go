package discovery

import "lamplighter.dev/shared/engine/table"

// The partitions of discoveries and of their parts.
const (
	JobPartition  table.Partition = "ORG#*#JOB"
	PartPartition table.Partition = "ORG#*#JOB#*"
)
