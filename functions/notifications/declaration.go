package notifications

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/teams"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name: "notifications",
	Access: rest.Access.With(notification.Writing, notification.Sending, delivery.Access(), table.Access{
		Reads:  []table.Partition{inventory.AccountPartition, teams.Partition}, // whether what is subscribed to exists
		Writes: []table.Partition{ratelimit.Partition},                         // how often links of mails are tried
	}),
	Seals:   []string{notification.Secret, mail.Secret},
	Opens:   []string{notification.Secret},
	Samples: []string{"list"},
}
