package resources

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "resources",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/resources", "/resources/{resourceID}", "/resources/{resourceID}/{proxy+}"},
	Access: rest.Access.With(report.Reading, report.RecordReading, table.Access{
		Reads: []table.Partition{identity.MetaPartition, discovery.PartPartition},
		Writes: []table.Partition{
			inventory.AccountPartition, discovery.JobPartition, "ORG#*#REFRESH",
			workqueue.Partition, report.ExportPartition, report.ExportDuePartition, viewPartition,
		},
	}),
	Starts:  []string{discovery.Machine, report.ExportMachine},
	Calls:   []string{inventory.Connector, archive.LinkWorker},
	Samples: []string{"list", "list-types"},
	Kinds: []platform.Kind{
		{Name: "resource", Prefix: "res"}, {Name: "view", Prefix: "view", Delete: "deleteView"},
	},
}
