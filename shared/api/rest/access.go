package rest

import (
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/engine/table"
)

// Access are the partitions that every function with operations declares in addition to those of its operations:
// answers kept under an Idempotency-Key, and audit entries.
var Access = audit.Access.With(table.Access{Writes: []table.Partition{"ORG#*#IDEM", "IDEM#*"}})
