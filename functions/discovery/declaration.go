package discovery

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/domain/sizing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/people/teams"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "discovery",
	Secrets: []platform.Secret{platform.GoogleCloudSecret},
	Share:   170,
	Access: table.Access{Reads: []table.Partition{
		identity.MetaPartition, inventory.ClusterPartition,
		pricing.Partition, cost.Partition, cost.ChunkPartition,
	}, Writes: []table.Partition{
		inventory.AccountPartition, inventory.ResourcePartition, inventory.IndexPartition, inventory.ChunkPartition,
		inventory.ScanPartition,
		teams.Partition, teams.NamePartition, // a deleted account is removed from its teams
		scheduling.SchedulePartition, scheduling.AttachmentPartition, inventory.AttachedPartition, // this too
		discovery.JobPartition, discovery.PartPartition, measurement.Partition, workqueue.Partition,
		sizing.Partition, opinion.AccountPartition, opinion.Partition,
		cloud.SimulatedPartition, throttle.Partition,
	}},
	Tasks:   []string{discovery.Machine},
	Opens:   []string{inventory.AccountSecret, inventory.ClusterSecret},
	Clouds:  true,
	Samples: []string{"plan"},
}
