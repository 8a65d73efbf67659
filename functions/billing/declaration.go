package billing

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration declares the table access, the state machines and the sample events of this function.
var Declaration = platform.Declaration{
	Name:    "billing",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(table.Access{
		Reads:  []table.Partition{inventory.AccountPartition, cost.Partition},
		Writes: []table.Partition{billimport.Partition, billimport.UploadPartition, workqueue.Partition},
	}),
	Starts:  []string{billimport.Machine, billimport.UploadMachine},
	Calls:   []string{archive.LinkWorker},
	Samples: []string{"sync-status"},
}
