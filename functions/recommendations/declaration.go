package recommendations

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration declares the table access, the state machine and the sample events of this function.
var Declaration = platform.Declaration{
	Name:    "recommendations",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/recommendations/{recID}", "/recommendations/{recID}/{proxy+}"},
	Access: rest.Access.With(table.Access{
		Reads: []table.Partition{
			identity.MetaPartition, inventory.AccountPartition, inventory.IndexPartition, inventory.ChunkPartition,
			recommendation.ChunkPartition, opinion.Partition,
		},
		Writes: []table.Partition{
			recommendation.RowPartition, recommendation.ColumnPartition, recommendation.RulePartition,
			workqueue.Partition,
		},
	}),
	Starts:  []string{recommendation.Machine},
	Calls:   []string{recommendation.CheckWorker},
	Samples: []string{"list"},
}
