package notifications

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
)

// Declaration declares the table access, the secrets and the sample events of this function.
var Declaration = platform.Declaration{
	Name:    "notifications",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(notification.Writing, notification.Sending, delivery.Access(), receiver.Access,
		table.Access{
			Reads: []table.Partition{ // recommendations that people share
				recommendation.RowPartition, recommendation.ColumnPartition, recommendation.ChunkPartition,
			},
			Writes: []table.Partition{ratelimit.Partition}, // counts requests for links in mails
		}),
	Seals:   []string{notification.Secret, mail.Secret},
	Opens:   []string{notification.Secret},
	Samples: []string{"list"},
	Kinds: []platform.Kind{
		{Name: "notification channel", Prefix: "chn", Delete: "deleteChannel"},
		{Name: "subscription", Prefix: "sub", Delete: "deleteSubscription"},
		{Name: "notification configuration", Prefix: "ntf", Delete: "deleteLegacyNotification"},
	},
	Names: []platform.Reference{
		{From: "subscription", To: "notification channel", Fields: []string{"channelID"}, OnDelete: platform.Ended},
		{
			From: "subscription", To: "cloud account", Fields: []string{"scopeID"}, OnDelete: platform.Refused,
			OnDetach: platform.Ended,
		},
		{From: "subscription", To: "resource group", Fields: []string{"scopeID"}, OnDelete: platform.Refused},
		{From: "subscription", To: "team", Fields: []string{"scopeID"}, OnDelete: platform.Refused},
		{From: "subscription", To: "resource", Fields: []string{"scopeID"}, OnDelete: platform.Kept},
	},
}
