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

// Declaration declares the table access and the sample events of this function.
var Declaration = platform.Declaration{
	Name:    "budgets",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(cost.Reading, table.Access{
		Reads: []table.Partition{inventory.IndexPartition, inventory.ChunkPartition},
		Writes: []table.Partition{
			budgeting.Partition, budgeting.NamePartition,
			inventory.AccountPartition, inventory.AttachedPartition, teams.Partition, // they count their budgets
		},
	}),
	Calls:   []string{chart.Worker},
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "budget", Prefix: "bud", Delete: "deleteBudget"}},
	Names: []platform.Reference{
		{
			From: "budget", To: "cloud account", Fields: []string{"scopeID"}, OnDelete: platform.Refused,
			OnDetach: platform.Ended,
		},
		{From: "budget", To: "resource group", Fields: []string{"scopeID"}, OnDelete: platform.Refused},
		{From: "budget", To: "team", Fields: []string{"scopeID"}, OnDelete: platform.Refused},
		{From: "budget", To: "resource", Fields: []string{"scopeID"}, OnDelete: platform.Kept},
	},
}
