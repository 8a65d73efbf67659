package anomalies

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/teams"
)

// Declaration declares the routes, the table access and the sample events of this function.
var Declaration = platform.Declaration{
	Name:    "anomalies",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/reports/anomalies", "/reports/anomalies/{proxy+}", "/reports/anomaly-settings"},
	Access: rest.Access.With(table.Access{
		Reads: []table.Partition{
			identity.MetaPartition, inventory.IndexPartition, inventory.ChunkPartition, inventory.AccountPartition,
			teams.Partition,
		},
		Writes: []table.Partition{anomaly.Partition, event.Partition},
	}),
	Samples: []string{"list"},
}
