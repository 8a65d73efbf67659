package scheduleddiscovery

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:  "scheduleddiscovery",
	Share: 1,
	Access: table.Access{
		Reads: []table.Partition{identity.MetaPartition},
		Writes: []table.Partition{
			inventory.AccountPartition, discovery.JobPartition, discovery.DuePartition, workqueue.Partition,
		},
	},
	Starts:   []string{discovery.Machine},
	Schedule: "rate(1 minute)",
	Samples:  []string{"schedule"},
}
