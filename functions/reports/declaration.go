package reports

import (
	"lamplighter.dev/functions/reports/unitmetric"
	"lamplighter.dev/shared/api/chart"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/teams"
)

// Declaration declares the routes, the table access and the sample events of this function.
var Declaration = platform.Declaration{
	Name:    "reports",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes: []string{
		"/reports/costs/{proxy+}", "/reports/providers/summary", "/reports/resources/summary",
		"/reports/savings", "/reports/snapshots", "/reports/summary", "/reports/tags",
		"/reports/tags/{proxy+}", "/reports/teams", "/reports/teams/{proxy+}", "/reports/trends",
		"/reports/trends.svg", "/reports/unit-metrics", "/reports/unit-metrics/{proxy+}",
	},
	Access: rest.Access.With(report.Reading, report.ImportReading, report.SavingReading, table.Access{
		Reads:  []table.Partition{teams.Partition, report.ShowbackPartition},
		Writes: []table.Partition{unitmetric.Partition},
	}),
	Calls:   []string{chart.Worker},
	Samples: []string{"summary"},
}
