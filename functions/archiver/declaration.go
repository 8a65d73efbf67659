package archiver

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:  archive.Worker,
	Share: 2,
	Access: table.Access{
		Reads: []table.Partition{
			execution.ActionPartition, execution.HistoryPartition, execution.BulkPartition, execution.ChunkPartition,
		},
		Writes: []table.Partition{identity.DirectoryPartition},
	},
	Schedule: "rate(1 hour)",
	Samples:  []string{"schedule"},
	Heavy:    true,
}
