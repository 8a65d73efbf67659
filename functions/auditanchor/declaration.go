package auditanchor

import (
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/audit/anchor"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:  anchor.Worker,
	Share: 2, // the night, and questions of who verifies a log meanwhile
	Access: table.Access{Reads: []table.Partition{
		audit.Partition, audit.SystemPartition, identity.DirectoryPartition, identity.MetaPartition,
	}},
	Schedule: "cron(20 2 * * ? *)",
	Samples:  []string{"schedule"},
	Heavy:    true,
}
