package exporter

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/costexport"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name:  costexport.Worker,
	Share: 5,
	Access: report.Reading.With(table.Access{
		Writes: []table.Partition{costexport.Partition, costexport.DuePartition, workqueue.Partition},
	}),
	Tasks:    []string{costexport.Machine},
	Schedule: "rate(1 hour)",
	Samples:  []string{"schedule", "export"},
	Heavy:    true,
}
