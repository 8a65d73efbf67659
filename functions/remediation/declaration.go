package remediation

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	domain "lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration declares the table access, the state machine and the sample events of this function.
var Declaration = platform.Declaration{
	Name:    domain.Function,
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/recommendations/{recID}/remediate", workflows, workflows + "/{proxy+}"},
	Access: rest.Access.With(table.Access{
		Reads: []table.Partition{
			identity.MetaPartition, inventory.IndexPartition, inventory.ChunkPartition, recommendation.RowPartition,
		},
		Writes: []table.Partition{domain.Partition, workqueue.Partition},
	}),
	Starts:  []string{domain.Machine},
	Calls:   []string{domain.Executor},
	Samples: []string{"list"},
}
