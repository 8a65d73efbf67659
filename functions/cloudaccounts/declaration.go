package cloudaccounts

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billing"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/people/teams"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name: "cloudaccounts",
	Access: rest.Access.With(table.Access{
		Reads: []table.Partition{execution.ActionPartition, discovery.PartPartition, inventory.ChunkPartition},
		Writes: []table.Partition{
			identity.MetaPartition, inventory.AccountPartition, inventory.ClusterPartition, connection.NativePartition, connection.NamePartition,
			discovery.JobPartition, discovery.DuePartition, billing.DuePartition, workqueue.Partition,
			inventory.IndexPartition, teams.Partition, teams.NamePartition, // what it is detached from
			scheduling.SchedulePartition, scheduling.AttachmentPartition, inventory.AttachedPartition, // this too
			budgeting.Partition, budgeting.NamePartition, // and these of it
		},
	}),
	Starts:  []string{billing.Machine, discovery.Machine},
	Calls:   []string{inventory.Connector},
	Seals:   []string{inventory.AccountSecret, inventory.ClusterSecret},
	Samples: []string{"list"},
}
