package eraser

import (
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/people/membership"
)

// Everything is every partition of every organization.
const Everything table.Partition = "ORG#*"

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "eraser",
	Secrets: []platform.Secret{platform.PepperSecret},
	Share:   16,
	Access: audit.Access.With(table.Access{Writes: []table.Partition{
		Everything, workqueue.Partition, identity.UserPartition, membership.InvitedPartition, domainPrefix + "*",
		wakePrefix + "*", simulatedPrefix + "*",
		discovery.DuePartition, billimport.DuePartition, identity.DirectoryPartition,
		identity.SessionPartition, identity.PATPartition, identity.PATDuePartition, accounts.IdentityPartition,
		membership.ReviewPartition,
	}}),
	Tasks:   []string{erasure.Machine},
	Calls:   []string{archive.Worker},
	Stops:   []string{platform.EveryMachine},
	Samples: []string{"erase"},
}
