package exporter_test

import (
	"net/http"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// An export of a month that is being imported has a part of its costs, and says so.
func TestExport_NamesTheMonthsThatAreNotImportedYet(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, "2026-02", 3)
	inventorytest.Connect(a.Fixture, ours, inventorytest.Account)
	now := a.Clock.Now()
	a.Must(billimport.ChangeEntry(a.In(ours), a.Table, ours, inventorytest.Account, func(e *billimport.Entry) {
		e.JobID, e.StartedAt, e.Listed = "job_1", now, []string{"2026-02", "2026-01"}
		e.Looked = map[string]time.Time{"2026-01": now}
	}))
	for query, want := range map[string]string{
		"period=2026-01":                                     "",
		"period=2026-02":                                     "2026-02",
		"from=2026-01-01&to=2026-03-01":                      "2026-02",
		"period=2026-02&filter[provider]=gcp":                "",
		"period=2026-02&filter[cloud_account_id]=ca_another": "",
	} {
		got := a.Call(ada, "GET /reports/export?"+query)
		got.Want(http.StatusOK)
		a.Equal("X-Incomplete-Months of "+query, got.Header.Get("X-Incomplete-Months"), want)
	}
	for _, detail := range []string{"days", "lines"} {
		j := a.begin(ada, "period=2026-02&format=parquet&detail="+detail)
		a.Must(a.turn("export", j.JobID))
		a.Equal("incomplete of "+detail, a.job(j).Incomplete, []string{"2026-02"})
	}
	j := a.begin(ada, "period=2026-01&format=parquet")
	a.Must(a.turn("export", j.JobID))
	a.Equal("incomplete of a month that is imported", a.job(j).Incomplete, []string{})
}
