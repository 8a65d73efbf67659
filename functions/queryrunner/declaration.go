package queryrunner

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/engine/table"
)

// Declaration describes this function to the platform.
var Declaration = platform.Declaration{
	Name:  costquery.Worker,
	Share: 4,
	Access: table.Access{
		Reads:  []table.Partition{cost.Partition},
		Writes: []table.Partition{costquery.Partition, costquery.AnswerPartition},
	},
	Samples: []string{"ask"},
	Heavy:   true,
}
