package teams

import "lamplighter.dev/shared/engine/table"

// The partitions of teams.
const (
	Partition     table.Partition = "ORG#*#TEAM"
	NamePartition table.Partition = "ORG#*#TEAMNAME"
)
