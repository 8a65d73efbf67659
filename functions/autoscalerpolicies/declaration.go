package autoscalerpolicies

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "autoscalerpolicies",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(table.Access{
		Reads: []table.Partition{
			identity.MetaPartition, inventory.ClusterPartition, inventory.IndexPartition, inventory.ChunkPartition,
			measurement.Partition,
			readiness.Partition, // whose plans name policies
		},
		Writes: []table.Partition{
			readiness.PolicyPartition, readiness.ClaimPartition,
			inventory.AccountPartition, // counts that a policy names it
		},
	}),
	Calls:   []string{inventory.Connector},
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "autoscaler policy", Prefix: "asp", Delete: "deleteAutoscalerPolicy"}},
	Names: []platform.Reference{
		{
			From: "autoscaler policy", To: "cloud account", Fields: []string{"cloudAccountID"},
			OnDelete: platform.Refused,
			OnDetach: platform.Ended,
		},
		{From: "autoscaler policy", To: "resource", Fields: []string{"uid"}, OnDelete: platform.Kept},
	},
}
