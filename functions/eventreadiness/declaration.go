package eventreadiness

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    readiness.Function,
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/event-readiness", "/event-readiness/{proxy+}", "/internal/event-readiness/{proxy+}"},
	Access: rest.Access.With(override.Access, table.Access{
		Reads: []table.Partition{
			identity.MetaPartition, readiness.PolicyPartition, inventory.AccountPartition, inventory.IndexPartition,
			inventory.ChunkPartition,
			inventory.ClusterPartition, measurement.Partition, pricing.Partition, inventory.ResourcePartition,
			override.Partition, execution.SnapshotPartition,
		},
		Writes: []table.Partition{
			readiness.Partition, readiness.ClaimPartition, readiness.LogPartition,
			workqueue.Partition,
		},
	}),
	Starts:  []string{readiness.Machine},
	Calls:   []string{inventory.Connector, readiness.Executor},
	Samples: []string{"list", "status"},
	Kinds:   []platform.Kind{{Name: "event readiness plan", Prefix: "evt", Delete: "deleteEventPlan"}},
	Names: []platform.Reference{
		{
			From: "event readiness plan", To: "autoscaler policy", Fields: []string{"policyId"},
			OnDelete: platform.Refused,
		},
	},
}
