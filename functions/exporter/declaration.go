package exporter

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration describes this function to the platform.
var Declaration = platform.Declaration{
	Name:  report.ExportWorker,
	Share: 5,
	Access: report.Reading.With(report.ImportReading, report.RecordReading, table.Access{
		Writes: []table.Partition{report.ExportPartition, report.ExportDuePartition, workqueue.Partition},
	}),
	Tasks:    []string{report.ExportMachine},
	Schedule: "rate(1 hour)",
	Samples:  []string{"schedule", "export"},
	Heavy:    true,
}
