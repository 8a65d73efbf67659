package auditlogs

import (
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/audit/anchor"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "auditlogs",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: table.Access{
		Reads:   []table.Partition{audit.DuePartition},
		Writes:  []table.Partition{audit.WaitingPartition},
		Appends: []table.Partition{audit.Partition, identity.MetaPartition},
	},
	Calls: []string{anchor.Worker},
}
