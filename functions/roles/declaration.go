package roles

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/membership"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name: "roles",
	Access: rest.Access.With(membership.Access, table.Access{Reads: []table.Partition{
		identity.SSOPartition, inventory.TeamPartition, inventory.IndexPartition, inventory.AccountPartition,
	}}),
}
