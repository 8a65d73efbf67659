package resources

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/domain/smarttag"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:   "resources",
	Routes: []string{"/resources", "/resources/{resourceID}", "/resources/{resourceID}/{proxy+}"},
	Access: rest.Access.With(report.Reading, table.Access{
		Reads: []table.Partition{
			identity.MetaPartition, inventory.ResourcePartition, inventory.IndexPartition,
			inventory.ChunkPartition, inventory.AttachedPartition, discovery.PartPartition, smarttag.Partition,
		},
		Writes: []table.Partition{
			inventory.AccountPartition, discovery.JobPartition, "ORG#*#REFRESH",
			workqueue.Partition,
		},
	}),
	Starts:  []string{discovery.Machine},
	Calls:   []string{inventory.Connector},
	Samples: []string{"list", "list-types"},
	Kinds:   []platform.Kind{{Name: "resource", Prefix: "res"}},
}
