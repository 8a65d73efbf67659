package anomalycheck

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
)

// Declaration declares the table access, the schedule and the sample events of this function.
var Declaration = platform.Declaration{
	Name:  "anomalycheck",
	Share: 1,
	Access: cost.Reading.With(table.Access{
		Reads: []table.Partition{
			identity.DirectoryPartition, identity.MetaPartition, billimport.Partition,
		},
		Writes: []table.Partition{identity.RotationPartition, anomaly.Partition, budgeting.Partition, event.Partition},
	}),
	Schedule: "rate(1 hour)",
	Samples:  []string{"schedule"},
}
