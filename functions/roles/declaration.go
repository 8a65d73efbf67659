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

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "roles",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(table.Access{
		Reads: []table.Partition{
			identity.UserPartition, identity.AddressPartition, identity.SSOPartition, membership.InvitePartition,
			inventory.IndexPartition, inventory.ChunkPartition,
		},
		Writes: []table.Partition{
			identity.MetaPartition, identity.MemberPartition, membership.AssignPartition,
			membership.ReviewPartition, teams.Partition,
		},
	}),
	Kinds: []platform.Kind{
		{Name: "role", Prefix: "role", Delete: "deleteRole"},
		{Name: "assignment", Prefix: "asgn", Delete: "deleteAssignment"},
	},
	Names: []platform.Reference{
		{From: "assignment", To: "role", Fields: []string{"roleID"}, OnDelete: platform.Refused},
		{From: "assignment", To: "team", Fields: []string{"scope"}, OnDelete: platform.Refused},
		{From: "assignment", To: "resource", Fields: []string{"scope"}, OnDelete: platform.Kept},
		{From: "assignment", To: "user", Fields: []string{"email"}, OnDelete: platform.Ended},
	},
}
