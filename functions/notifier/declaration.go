package notifier

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/membership"
)

// Declaration declares the table access, the secrets, the schedule and the stream of this function.
var Declaration = platform.Declaration{
	Name:    "notifier",
	Secrets: []platform.Secret{platform.PepperSecret},
	Share:   16,
	Access: delivery.Access().With(notification.Sending, receiver.WebhookSending,
		receiver.IntegrationSending, table.Access{
			Reads: []table.Partition{
				identity.MemberPartition, event.Partition, scheduling.SchedulePartition,
				override.Partition,
			},
			Writes: []table.Partition{
				delivery.ReceiverPartition, mail.Partition, membership.ReviewPartition,
				notification.SubscriptionPartition, notification.LegacyPartition, notification.RecipientPartition,
			},
		}),
	Seals:    []string{mail.Secret},
	Opens:    []string{notification.Secret, receiver.WebhookSecret, receiver.IntegrationSecret},
	Schedule: "rate(1 minute)",
	Stream:   []table.Partition{event.Partition, delivery.NowPartition},
	Samples:  []string{"schedule", "stream"},
	Heavy:    true,
}
