package exports

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/costexport"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name:   "exports",
	Routes: []string{"/reports/export", "/reports/exports/{proxy+}"},
	Access: rest.Access.With(report.Reading, table.Access{
		Writes: []table.Partition{costexport.Partition, costexport.DuePartition, workqueue.Partition},
	}),
	Starts:  []string{costexport.Machine},
	Calls:   []string{archive.LinkWorker},
	Samples: []string{"export"},
}
