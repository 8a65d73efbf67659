package evaluator

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:  "evaluator",
	Share: 2,
	Access: evaluation.Access().With(table.Access{
		Reads:  []table.Partition{identity.MetaPartition},
		Writes: []table.Partition{evaluation.StatePartition, evaluation.FiringPartition, scheduling.EventHoldPartition},
	}),
	Starts:   []string{execution.BulkMachine},
	Schedule: "rate(1 minute)",
	Samples:  []string{"schedule"},
}
