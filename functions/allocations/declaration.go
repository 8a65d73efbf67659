package allocations

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// Declaration declares the routes, the table access and the sample events of this function.
var Declaration = platform.Declaration{
	Name:    "allocations",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/reports/kubernetes/allocation"},
	Access: rest.Access.With(cost.Reading, table.Access{
		Reads: []table.Partition{
			inventory.AccountPartition, inventory.IndexPartition, inventory.ChunkPartition,
			inventory.ResourcePartition,
		},
	}),
	Samples: []string{"list"},
}
