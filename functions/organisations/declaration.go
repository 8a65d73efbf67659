package organisations

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/people/membership"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name: "organisations",
	Access: rest.Access.With(table.Access{Writes: []table.Partition{
		identity.MetaPartition, identity.MemberPartition, identity.UserPartition, membership.AssignPartition, workqueue.Partition,
		identity.DirectoryPartition,
	}}),
	Starts:  []string{erasure.Machine},
	Samples: []string{"list"},
}
