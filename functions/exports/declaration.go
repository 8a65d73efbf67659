package exports

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration declares the routes, the table access and the state machines of this function.
var Declaration = platform.Declaration{
	Name:    "exports",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/reports/export", "/reports/exports/{proxy+}"},
	Access: rest.Access.With(report.Reading, report.ImportReading, table.Access{
		Writes: []table.Partition{report.ExportPartition, report.ExportDuePartition, workqueue.Partition},
	}),
	Starts:  []string{report.ExportMachine},
	Calls:   []string{archive.LinkWorker},
	Samples: []string{"export"},
}
