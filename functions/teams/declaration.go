package teams

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/reference"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/teams"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "teams",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(reference.Access, table.Access{
		Reads: []table.Partition{
			identity.MetaPartition, identity.MemberPartition, identity.UserPartition, identity.AddressPartition,
			membership.AssignPartition,
			inventory.ChunkPartition,
		},
		Writes: []table.Partition{
			teams.Partition, teams.NamePartition, "ORG#*#TEAMPEOPLE", inventory.IndexPartition,
			inventory.AccountPartition, // counts how often its resources are named
			workqueue.Partition,        // a change of a team's resources rebuilds costs
			report.ShowbackPartition,   // whose rules look at the teams again when one is deleted
		},
	}),
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "team", Prefix: "team", Delete: "deleteTeam"}},
	Names: []platform.Reference{
		{From: "team", To: "user", Fields: []string{"members", "email"}, OnDelete: platform.Detached},
		{
			From: "team", To: "resource", Fields: []string{"resources", "resourceID", "resourceIDs"},
			OnDelete: platform.Detached,
		},
		{From: "team", To: "cloud account", OnDelete: platform.Refused, OnDetach: platform.Detached},
	},
}
