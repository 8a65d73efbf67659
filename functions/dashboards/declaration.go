package dashboards

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/teams"
)

// Declaration declares the table access and the sample events of this function.
var Declaration = platform.Declaration{
	Name:    "dashboards",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(cost.Reading, report.SavingReading, table.Access{
		Reads: []table.Partition{
			identity.MetaPartition, inventory.AccountPartition,
			anomaly.Partition, budgeting.Partition, execution.ActionPartition, teams.Partition,
		},
		Writes: []table.Partition{identity.DashboardPartition, namePartition},
	}),
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "dashboard", Prefix: "dash", Delete: "deleteDashboard"}},
}
