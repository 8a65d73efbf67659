package integrations

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/table"
)

// Declaration declares the table access, the secrets and the workers of this function.
var Declaration = platform.Declaration{
	Name:    "integrations",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(receiver.Access, table.Access{
		Reads:  []table.Partition{identity.MetaPartition, receiver.ReceivedPartition},
		Writes: []table.Partition{receiver.IntegrationPartition},
	}),
	Calls:   []string{inventory.Connector}, // checks whether the cloud account of a registry is open
	Seals:   []string{receiver.IntegrationSecret},
	Opens:   []string{receiver.IntegrationSecret},
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "integration", Prefix: "int", Delete: "deleteIntegration"}},
	Names: []platform.Reference{
		{
			From: "integration", To: "cloud account", Fields: []string{"scopeID"}, OnDelete: platform.Refused,
			OnDetach: platform.Ended,
		},
		{From: "integration", To: "resource group", Fields: []string{"scopeID"}, OnDelete: platform.Refused},
		{From: "integration", To: "team", Fields: []string{"scopeID"}, OnDelete: platform.Refused},
		{From: "integration", To: "resource", Fields: []string{"scopeID"}, OnDelete: platform.Kept},
		{
			From: "integration", To: "cloud account", Fields: []string{"config"}, OnDelete: platform.Refused,
			OnDetach: platform.Ended,
		},
	},
}
