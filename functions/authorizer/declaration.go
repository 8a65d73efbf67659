package authorizer

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/attempts"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:  "authorizer",
	Share: 150,
	Access: table.Access{
		Reads: []table.Partition{
			identity.MetaPartition, identity.MemberPartition, identity.UserPartition,
			identity.SessionPartition,
		},
		Writes: []table.Partition{identity.PATPartition, "RATE#*", attempts.Partition},
	},
	Samples: []string{"forged-token", "token"},
}
