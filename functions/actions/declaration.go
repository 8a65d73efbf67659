package actions

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "actions",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/actions", "/actions/{proxy+}", "/state-history", "/state-history/{proxy+}"},
	Access: rest.Access.With(table.Access{
		Reads: []table.Partition{
			identity.MetaPartition, identity.MemberPartition, inventory.AccountPartition,
			inventory.IndexPartition, inventory.ChunkPartition, override.Partition, scheduling.EventHoldPartition,
		},
		Writes: []table.Partition{
			inventory.ResourcePartition, execution.ActionPartition, execution.BulkPartition,
			execution.BulkGroupPartition,
			execution.ChunkPartition, execution.CountPartition,
			execution.HistoryPartition, execution.HistoryOfResourcePartition,
			workqueue.Partition,
		},
	}),
	Starts:  []string{execution.Machine, execution.BulkMachine},
	Samples: []string{"get-action", "submit"},
}
