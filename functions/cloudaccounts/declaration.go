package cloudaccounts

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/people/teams"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "cloudaccounts",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(notification.Writing, table.Access{
		Reads: []table.Partition{
			execution.ActionPartition, discovery.PartPartition, inventory.ChunkPartition, override.Partition,
			readiness.Partition,
		},
		Writes: []table.Partition{
			identity.MetaPartition, inventory.AccountPartition, inventory.ClusterPartition, connection.NativePartition,
			connection.NamePartition,
			discovery.JobPartition, discovery.DuePartition, billimport.DuePartition, workqueue.Partition,
			inventory.IndexPartition, teams.Partition, teams.NamePartition, // the account is removed from them
			scheduling.SchedulePartition, scheduling.AttachmentPartition, inventory.AttachedPartition, // this too
			// The account's rows in these partitions are deleted.
			budgeting.Partition, budgeting.NamePartition, receiver.WebhookPartition, receiver.IntegrationPartition,
			readiness.PolicyPartition,
			override.WakeLinkPartition, override.WakeTokenPartition, readiness.ClaimPartition,
		},
	}),
	Starts:  []string{billimport.Machine, discovery.Machine},
	Calls:   []string{inventory.Connector},
	Seals:   []string{inventory.AccountSecret, inventory.ClusterSecret},
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "cloud account", Prefix: "ca", Delete: "deleteCloudAccount"}},
	Names: []platform.Reference{
		{From: "cloud account", To: "cloud organisation", OnDelete: platform.Detached},
	},
}
