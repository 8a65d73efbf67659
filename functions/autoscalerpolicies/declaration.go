package autoscalerpolicies

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/autoscaling"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/engine/table"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name: "autoscalerpolicies",
	Access: rest.Access.With(table.Access{
		Reads: []table.Partition{
			identity.MetaPartition, inventory.AccountPartition, inventory.ClusterPartition, inventory.IndexPartition, inventory.ChunkPartition, measurement.Partition,
		},
		Writes: []table.Partition{autoscaling.Partition},
	}),
	Calls:   []string{inventory.Connector},
	Samples: []string{"list"},
}
