package audit

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
)

// The partitions of the chains.
const (
	Partition       table.Partition = "ORG#*#AUDIT"
	SystemPartition table.Partition = systemPrefix + "*"
)

// Access is what a function that leaves rows must declare. A row, and the item that tells where its chain ends, are put
// in one transaction, and nothing but that may be done to a chain; the eraser alone deletes one.
var Access = table.Access{Appends: []table.Partition{Partition, SystemPartition, identity.MetaPartition}}
