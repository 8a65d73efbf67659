package overrides

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name: "overrides",
	Access: rest.Access.With(table.Access{
		Reads: []table.Partition{inventory.AccountPartition, inventory.IndexPartition, inventory.ChunkPartition},
		Writes: []table.Partition{
			override.Partition, linkPartition, tokenPartition, ratelimit.Partition, execution.BulkPartition, execution.ChunkPartition,
			evaluation.DuePartition, workqueue.Partition,
		},
	}),
	Starts:  []string{execution.BulkMachine},
	Samples: []string{"list"},
}
