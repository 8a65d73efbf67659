package mailer

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
)

// Declaration declares the table access, the schedule and the stream of this function.
var Declaration = platform.Declaration{
	Name:     "mailer",
	Secrets:  []platform.Secret{platform.MailServerSecret},
	Share:    14,
	Access:   table.Access{Writes: []table.Partition{mail.Partition, deadPartition, ratelimit.Partition}},
	Opens:    []string{mail.Secret},
	Schedule: "rate(1 minute)",
	Stream:   []table.Partition{mail.Partition},
	Samples:  []string{"schedule", "stream"},
	Heavy:    true,
}
