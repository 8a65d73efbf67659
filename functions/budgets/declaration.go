package budgets

import (
	"lamplighter.dev/shared/api/chart"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/teams"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name: "budgets",
	Access: rest.Access.With(cost.Reading, table.Access{
		Reads: []table.Partition{inventory.IndexPartition, inventory.ChunkPartition},
		Writes: []table.Partition{
			budgeting.Partition, budgeting.NamePartition,
			inventory.AccountPartition, teams.Partition, // count that a budget names them
		},
	}),
	Calls:   []string{chart.Worker},
	Samples: []string{"list"},
}
