package connector

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "connector",
	Secrets: []platform.Secret{platform.GoogleCloudSecret},
	Share:   36,
	Access:  table.Access{Writes: []table.Partition{cloud.SimulatedPartition, throttle.Partition}},
	Opens:   []string{inventory.AccountSecret, inventory.ClusterSecret},
	Clouds:  true,
	Samples: []string{"verify"},
}
