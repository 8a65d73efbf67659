package roles

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/teams"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name: "roles",
	Access: rest.Access.With(table.Access{
		Reads: []table.Partition{
			identity.UserPartition, identity.AddressPartition, identity.SSOPartition, membership.InvitePartition, inventory.IndexPartition, inventory.ChunkPartition,
		},
		Writes: []table.Partition{identity.MetaPartition, identity.MemberPartition, membership.AssignPartition, membership.ReviewPartition, teams.Partition},
	}),
}
