package reminder

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:  "reminder",
	Share: 1,
	Access: table.Access{
		Reads:  []table.Partition{identity.PATPartition, identity.UserPartition},
		Writes: []table.Partition{identity.PATDuePartition, mail.Partition},
	},
	Seals:    []string{mail.Secret},
	Schedule: "cron(0 6 * * ? *)",
	Samples:  []string{"schedule"},
}
