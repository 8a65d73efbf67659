package resourcegroups

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/reference"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "resourcegroups",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/resource-groups", "/resource-groups/{groupID}", "/resource-groups/{groupID}/{proxy+}"},
	Access: rest.Access.With(reference.Access, table.Access{
		Reads: []table.Partition{
			execution.BulkPartition, inventory.ChunkPartition, scheduling.SchedulePartition,
			override.Partition, override.WakeLinkPartition, // a deleted group must not be held by these
		},
		Writes: []table.Partition{
			inventory.IndexPartition, execution.BulkGroupPartition,
			inventory.AttachedPartition, // a deleted group must not be attached here
			inventory.AccountPartition,  // counts how often its resources are named
			workqueue.Partition,         // costs are rebuilt when it has other members
		},
	}),
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "resource group", Prefix: "grp", Delete: "deleteResourceGroup"}},
	Names: []platform.Reference{
		{
			From: "resource group", To: "resource", Fields: []string{"members", "resourceID"},
			OnDelete: platform.Detached,
		},
		{From: "resource group", To: "cloud account", OnDelete: platform.Refused, OnDetach: platform.Detached},
	},
}
