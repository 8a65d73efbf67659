package billing

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billing"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name: "billing",
	Access: rest.Access.With(table.Access{
		Reads:  []table.Partition{inventory.AccountPartition, cost.Partition},
		Writes: []table.Partition{billing.Partition, billing.UploadPartition, workqueue.Partition},
	}),
	Starts:  []string{billing.Machine, billing.UploadMachine},
	Calls:   []string{archive.LinkWorker},
	Samples: []string{"sync-status"},
}
