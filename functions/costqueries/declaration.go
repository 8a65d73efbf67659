package costqueries

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// Declaration declares the routes, the table access and the workers of this function.
var Declaration = platform.Declaration{
	Name:    "costqueries",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/reports/queries/{proxy+}", "/reports/query"},
	Access: rest.Access.With(table.Access{
		Reads: []table.Partition{
			cost.Partition, costquery.AnswerPartition, inventory.IndexPartition,
			inventory.ChunkPartition,
		},
		Writes: []table.Partition{costquery.Partition},
	}),
	Calls:   []string{costquery.Worker},
	Samples: []string{"ask"},
}
