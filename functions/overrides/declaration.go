package overrides

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "overrides",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes: []string{
		"/overrides", "/overrides/{proxy+}", "/resource-groups/{groupID}/overrides",
		"/resource-groups/{groupID}/wake-links", "/resources/{resourceID}/wake-links",
		"/wake-links", "/wake-links/{proxy+}",
	},
	Access: rest.Access.With(evaluation.Access(), table.Access{
		Reads: []table.Partition{
			// the maker of an older wake link
			identity.UserPartition, identity.AddressPartition,
		},
		Writes: []table.Partition{
			event.Partition, override.WakeLinkPartition, override.WakeTokenPartition, ratelimit.Partition,
			inventory.AttachedPartition, inventory.AccountPartition, // count that an override or a wake link is on them
		},
	}),
	Starts:  []string{execution.BulkMachine},
	Samples: []string{"list"},
	Kinds: []platform.Kind{
		{Name: "override", Prefix: "ovr", Delete: "deleteOverride"},
		{Name: "wake link", Prefix: "wake", Delete: "deleteWakeLink"},
	},
	Names: []platform.Reference{
		{From: "override", To: "resource group", Fields: []string{"groupID"}, OnDelete: platform.Refused},
		{From: "override", To: "resource", Fields: []string{"resourceUID"}, OnDelete: platform.Refused},
		{From: "override", To: "wake link", OnDelete: platform.Kept},
		{From: "override", To: "cloud account", OnDelete: platform.Refused, OnDetach: platform.Refused},
		{From: "wake link", To: "resource group", OnDelete: platform.Refused},
		{From: "wake link", To: "resource", OnDelete: platform.Ended},
		{From: "wake link", To: "cloud account", OnDelete: platform.Refused, OnDetach: platform.Ended},
	},
}
