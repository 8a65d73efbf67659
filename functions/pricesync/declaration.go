package pricesync

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/table"
)

// Declaration describes this function to the platform.
var Declaration = platform.Declaration{
	Name:    "pricesync",
	Secrets: []platform.Secret{platform.GooglePricesSecret},
	Share:   1,
	Access: table.Access{
		Reads: []table.Partition{identity.DirectoryPartition, inventory.AccountPartition},
		Writes: []table.Partition{
			identity.RotationPartition, pricing.Partition, inventory.IndexPartition, inventory.ChunkPartition,
			cost.Partition, cost.ChunkPartition,
		},
	},
	SDKs:     true,
	Schedule: "cron(15 1-5 * * ? *)",
	Samples:  []string{"schedule"},
}
