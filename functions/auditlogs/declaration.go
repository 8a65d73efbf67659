package auditlogs

import (
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/audit/anchor"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/attempts"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "auditlogs",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: attempts.Access.With(table.Access{
		Appends: []table.Partition{audit.Partition, identity.MetaPartition},
	}),
	Calls: []string{anchor.Worker},
}
