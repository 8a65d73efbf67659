package identity

import "lamplighter.dev/shared/engine/table"

// The partitions of identity records, for declarations of functions (platform.Declaration).
const (
	MetaPartition    table.Partition = "ORG#*#META" // the organization, its Access, the head of its audit log
	MemberPartition  table.Partition = "ORG#*#MEMBER"
	SSOPartition     table.Partition = "ORG#*#SSO"
	UserPartition    table.Partition = UserPrefix + "*"
	AddressPartition table.Partition = AddressPrefix + "*"
	SessionPartition table.Partition = SessionPrefix + "*"
	PATPartition     table.Partition = PATPrefix + "*"
	PATDuePartition  table.Partition = PATDuePrefix + "*"

	DirectoryPartition table.Partition = DirectoryPrefix + "*"
)
