package reminder

import (
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/maildomain"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "reminder",
	Share:   1,
	Secrets: []platform.Secret{platform.PepperSecret}, // seals audit entries
	Access: audit.Access.With(table.Access{
		Reads: []table.Partition{
			identity.PATPartition, identity.UserPartition, identity.DirectoryPartition, identity.MemberPartition,
		},
		Writes: []table.Partition{
			identity.PATDuePartition, identity.SSOPartition, identity.MetaPartition, identity.RotationPartition,
			maildomain.ClaimPartition, mail.Partition,
		},
	}),
	Seals:    []string{mail.Secret},
	Schedule: "cron(0 6 * * ? *)",
	Samples:  []string{"schedule"},
}
