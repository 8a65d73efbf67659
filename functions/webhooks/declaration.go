package webhooks

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
)

// Declaration declares the table access, the secrets and the sample events of this function.
var Declaration = platform.Declaration{
	Name:    "webhooks",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(receiver.Access, delivery.Access(), table.Access{
		Reads:  []table.Partition{receiver.IntegrationPartition}, // its secret verifies incoming webhooks
		Writes: []table.Partition{receiver.WebhookPartition, receiver.ReceivedPartition, ratelimit.Partition},
	}),
	Seals:   []string{receiver.WebhookSecret},
	Opens:   []string{receiver.WebhookSecret, receiver.IntegrationSecret},
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "webhook", Prefix: "whk", Delete: "deleteWebhook"}},
	Names: []platform.Reference{
		{
			From: "webhook", To: "cloud account", Fields: []string{"scopeID"}, OnDelete: platform.Refused,
			OnDetach: platform.Ended,
		},
		{From: "webhook", To: "resource group", Fields: []string{"scopeID"}, OnDelete: platform.Refused},
		{From: "webhook", To: "team", Fields: []string{"scopeID"}, OnDelete: platform.Refused},
		{From: "webhook", To: "resource", Fields: []string{"scopeID"}, OnDelete: platform.Kept},
	},
}
