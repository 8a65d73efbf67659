package exporter_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/functions/exporter"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

// exportedPeriods are the queries of the exports: a whole month, and all but one day of it. Exports of so few rows
// become a job in one format alone.
var exportedPeriods = []string{"period=2026-03&format=parquet", "from=2026-03-02&to=2026-04-01&format=parquet"}

// Two exports under way at once add up to the cent.
func TestKilledAtAnyStep_ExportsAddUpToTheCent(t *testing.T) {
	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		a := newFixture(t)
		a.bill(ours, "2026-03", 3)
		var jobs []rest.Job
		for _, query := range exportedPeriods {
			jobs = append(jobs, a.begin(ada, query))
		}
		service := killpoint.Service{
			Machines:  apitest.Machines(t, report.ExportMachine),
			Functions: map[string]string{"ExporterFunctionArn": report.ExportWorker},
			Clock:     clock.System{},
			Handlers: func(p *platform.Platform) map[string]workflow.Handler {
				return map[string]workflow.Handler{report.ExportWorker: exporter.Handler(p)}
			},
		}
		lives.Run(a.In(ours), t, func(ctx context.Context, p *killpoint.Process) error {
			return service.Run(ctx, p.Platform(a.Platform))
		})
		return a.exported(jobs)
	})
}

// exported returns the contents of the exported files and the results of their jobs.
func (a *fixture) exported(jobs []rest.Job) string {
	a.Helper()
	var out strings.Builder
	for _, j := range jobs {
		got := a.job(j)
		if got.Status != "succeeded" {
			a.Fatalf("%+v", got)
		}
		rows, sum := a.readParquet(a.fetch(*got.DownloadURL).Body.Bytes())
		fmt.Fprintf(&out, "%d rows of %s, told as %d of %s\n", rows, sum, got.Rows, *got.BilledUSD)
	}
	return out.String()
}
