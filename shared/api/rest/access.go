package rest

import (
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/engine/table"
)

// Access is what every function that answers operations declares, besides what its operations touch: the answers that are
// kept under an Idempotency-Key, and the rows that requests leave in the audit log.
var Access = audit.Access.With(table.Access{Writes: []table.Partition{"ORG#*#IDEM", "IDEM#*"}})
