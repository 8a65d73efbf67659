package authorizer

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name: "authorizer",
	Access: table.Access{
		Reads: []table.Partition{identity.MetaPartition, identity.MemberPartition, identity.UserPartition,
			identity.SessionPartition},
		Writes: []table.Partition{identity.PATPartition, "RATE#*"},
	},
	Samples: []string{"forged-token", "token"},
}
