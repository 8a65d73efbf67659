package discovery

import "lamplighter.dev/shared/engine/table"

// The partitions of discoveries, of their parts, and of when they are due.
const (
	DuePartition  table.Partition = DuePrefix + "*"
	JobPartition  table.Partition = "ORG#*#JOB"
	PartPartition table.Partition = "ORG#*#JOB#*"
)
