package membership

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
)

// The partitions of invitations, by organization and by address, and of assignments.
const (
	InvitePartition  table.Partition = "ORG#*#INVITE"
	InvitedPartition table.Partition = InvitedPrefix + "*"
	AssignPartition  table.Partition = "ORG#*#ASSIGN"
)

// Access are the partitions for changing members of an organization and their grants.
var Access = table.Access{
	Reads: []table.Partition{identity.AddressPartition},
	Writes: []table.Partition{
		identity.MetaPartition, identity.MemberPartition, identity.UserPartition, InvitePartition, InvitedPartition,
		AssignPartition,
		ReviewPartition,
	},
}
