package evaluator

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/eventhold"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name:  "evaluator",
	Share: 2,
	Access: evaluation.Access().With(table.Access{
		Reads:  []table.Partition{identity.MetaPartition},
		Writes: []table.Partition{evaluation.StatePartition, evaluation.FiringPartition, eventhold.Partition},
	}),
	Starts:   []string{execution.BulkMachine},
	Schedule: "rate(1 minute)",
	Samples:  []string{"schedule"},
}
