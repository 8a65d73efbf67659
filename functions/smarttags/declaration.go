package smarttags

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/smarttag"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "smarttags",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(table.Access{
		Reads:  []table.Partition{inventory.AccountPartition, inventory.ChunkPartition},
		Writes: []table.Partition{smarttag.Partition, inventory.IndexPartition},
	}),
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "smart tag policy", Prefix: "tagp", Delete: "deleteSmartTagPolicy"}},
}
