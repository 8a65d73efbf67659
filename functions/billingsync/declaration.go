package billingsync

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration describes this function to the platform.
var Declaration = platform.Declaration{
	Name:    billimport.Worker,
	Secrets: []platform.Secret{platform.GoogleCloudSecret, platform.GooglePricesSecret},
	Share:   10,
	Access: cost.Importing.With(table.Access{
		Reads: []table.Partition{identity.MetaPartition},
		Writes: []table.Partition{
			billimport.Partition, billimport.UploadPartition, billimport.DuePartition, workqueue.Partition,
			cloud.SimulatedPartition, throttle.Partition,
			pricing.Partition,                                  // rates of currencies, price lists of new accounts
			inventory.IndexPartition, inventory.ChunkPartition, // the costs of resources
			inventory.AccountPartition, // when its bills were last read
		},
	}),
	Tasks:    []string{billimport.Machine, billimport.AccountMachine, billimport.UploadMachine},
	Starts:   []string{billimport.AccountMachine},
	Opens:    []string{inventory.AccountSecret},
	Schedule: "rate(1 hour)",
	Clouds:   true,
	Samples:  []string{"schedule", "import"},
}
