package overrides

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name: "overrides",
	Access: rest.Access.With(evaluation.Access(), table.Access{
		Reads:  []table.Partition{evaluation.FiringPartition, identity.UserPartition, identity.AddressPartition}, // the maker of an older wake link
		Writes: []table.Partition{event.Partition, linkPartition, tokenPartition, ratelimit.Partition},
	}),
	Starts:  []string{execution.BulkMachine},
	Samples: []string{"list"},
}
