package reports

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// allReports are the reports with a Basis, each ending so that a parameter can follow.
func (a *fixture) allReports() []string {
	return []string{
		"/reports/summary?", "/reports/trends?", "/reports/costs/resources?", "/reports/costs/breakdown?",
		"/reports/providers/summary?", "/reports/teams?", "/reports/teams/trends?", "/reports/teams/" + a.web + "?",
		"/reports/teams/" + a.web + "/resources?", "/reports/tags?", "/reports/tags/env?",
		"/reports/tags/trends?tag_key=env&", "/reports/tags/env/values/prod/resources?",
		"/reports/summary?filter[region]=eu-west-1&",
	}
}

// Today and yesterday are never billed, so they do not make the cost of a month an estimate.
func TestReports_CallACostActualWhenTheSettledDaysAreBilled(t *testing.T) {
	a := newFixture(t)
	a.estimate("2026-03", 10) // the bill ends on the 9th, and today is the 10th
	for _, path := range a.allReports() {
		a.get(path+"period=2026-03").Want(http.StatusOK, `"estimated":true,"costSource":"actual"`)
	}
	a.get("/reports/trends?from=2026-03-10&to=2026-03-11").Want(http.StatusOK, `"costSource":"estimated"`)
	a.get("/reports/trends?from=2026-03-08&to=2026-03-10").Want(http.StatusOK, `"costSource":"actual"`)
	a.Clock.Advance(2 * 24 * time.Hour)
	for _, path := range a.allReports() {
		a.get(path+"period=2026-03").Want(http.StatusOK, `"costSource":"estimated"`)
	}
}

// importing stores the state of the first import of the bills of ca_1, which has listed the bills of three months.
func (a *fixture) importing(change func(*billimport.Entry)) {
	a.Helper()
	a.Must(billimport.ChangeEntry(a.In(ours), a.Table, ours, inventorytest.Account, func(e *billimport.Entry) {
		e.Provider = "aws"
		change(e)
	}))
	a.Clock.Advance(time.Minute)
}

func TestReports_SayWhichMonthsAreNotImportedYet(t *testing.T) {
	a := newFixture(t)
	inventorytest.Connect(a.Fixture, ours, inventorytest.Account)
	const none = `"incomplete":[]`
	months := func(of ...string) string {
		out := []report.IncompleteMonth{}
		for _, m := range of {
			out = append(out, report.IncompleteMonth{Period: m, CloudAccountIDs: []string{inventorytest.Account}})
		}
		return `"incomplete":` + apitest.JSON(out)
	}
	a.get("/reports/trends?from=2026-01-01").Want(http.StatusOK, none, `"costSource":"actual"`)

	now := a.Clock.Now()
	a.importing(func(e *billimport.Entry) { e.JobID, e.StartedAt = "job_1", now })
	a.get("/reports/trends?from=2026-02-01").Want(http.StatusOK, months("2026-02", "2026-03"))

	a.importing(func(e *billimport.Entry) {
		e.Listed = []string{"2026-03", "2026-02", "2026-01"}
		e.Looked = map[string]time.Time{"2026-03": now}
	})
	for _, path := range a.allReports() {
		if strings.HasPrefix(path, "/reports/summary") {
			continue // TestSummary_SaysWhichMonthsOfItsFiguresAreNotImportedYet
		}
		a.get(path+"period=2026-03").Want(http.StatusOK, none, `"costSource":"actual"`)
		a.get(path+"period=2026-02").Want(http.StatusOK, months("2026-02"), `"costSource":"estimated"`)
	}
	a.get("/reports/trends?from=2025-12-01").Want(http.StatusOK, months("2026-01", "2026-02"))
	a.get("/reports/trends?from=2025-12-01&filter[cloud_account_id]=ca_other").Want(http.StatusOK, none)
	a.get("/reports/trends?from=2025-12-01&filter[provider]=gcp").Want(http.StatusOK, none)
	a.as("viewer team:"+a.web, "/reports/trends?from=2026-02-01").Want(http.StatusOK,
		`"incomplete":[{"period":"2026-02","cloudAccountIDs":[]}]`)
	for _, s := range apitest.Data[[]Snapshot](a.get("/reports/snapshots")) {
		if s.Period == "2026-01" || s.Period == "2026-02" {
			t.Errorf("%s is closed, and not all of its bills are imported", s.Period)
		}
	}

	failed := billimport.Failure{Step: billimport.Totals, Message: "x", At: now}
	a.importing(func(e *billimport.Entry) {
		e.Looked["2026-02"], e.JobID, e.TriedAt, e.Failure = now, "", now, &failed
	})
	a.get("/reports/trends?from=2025-12-01").Want(http.StatusOK, months("2026-01"))

	a.importing(func(e *billimport.Entry) { e.Looked["2026-01"], e.Failure, e.BackfilledAt = now, nil, now })
	a.get("/reports/trends?from=2025-12-01").Want(http.StatusOK, none, `"costSource":"actual"`)
	if n := len(apitest.Data[[]Snapshot](a.get("/reports/snapshots"))); n != 3 {
		t.Errorf("%d closed months; want 3", n)
	}
}

// A summary also shows the month before, and the forecast needs the two before that.
func TestSummary_SaysWhichMonthsOfItsFiguresAreNotImportedYet(t *testing.T) {
	a := newFixture(t)
	inventorytest.Connect(a.Fixture, ours, inventorytest.Account)
	now := a.Clock.Now()
	a.importing(func(e *billimport.Entry) {
		e.JobID, e.StartedAt = "job_1", now
		e.Listed = []string{"2026-03", "2026-02", "2026-01", "2025-12", "2025-11"}
		e.Looked = map[string]time.Time{"2026-03": now, "2026-01": now}
	})
	for query, want := range map[string]struct {
		incomplete []string
		source     string
	}{
		"?":                              {[]string{"2025-12", "2026-02"}, report.ActualCost},
		"?filter[region]=eu-west-1&":     {[]string{"2025-12", "2026-02"}, report.ActualCost},
		"?filter[provider]=gcp&":         {[]string{}, report.ActualCost},
		"?period=2026-02":                {[]string{"2026-02"}, report.EstimatedCost},
		"?period=2026-01":                {[]string{"2025-12"}, report.ActualCost},
		"?period=2025-12":                {[]string{"2025-11", "2025-12"}, report.EstimatedCost},
		"?period=2026-01&cost=effective": {[]string{"2025-12"}, report.ActualCost},
	} {
		got := apitest.Data[MonthSummary](a.get("/reports/summary" + query))
		months := []string{}
		for _, m := range got.Incomplete {
			months = append(months, m.Period)
		}
		a.Equal("the incomplete months of "+query, months, want.incomplete)
		a.Equal("the source of "+query, got.CostSource, want.source)
	}
}

// The first import of an account begins when its discovery has ended. Until then its bills are missing, too.
func TestReports_MissTheBillsOfAnAccountFromItsConnection(t *testing.T) {
	a := newFixture(t)
	at := inventory.Account{ID: "ca_new", Provider: "aws", Name: "New", CreatedAt: a.Clock.Now()}
	a.get("/reports/trends").Want(http.StatusOK, `"incomplete":[]`)
	a.Put(inventory.AccountKey(ours, at.ID), at)
	a.Clock.Advance(report.ImportedFor)
	a.get("/reports/trends?from=2026-03-01").Want(http.StatusOK, `"costSource":"estimated"`,
		`"incomplete":[{"period":"2026-03","cloudAccountIDs":["ca_new"]}]`)
	a.Clock.Advance(8 * time.Hour) // whatever became of it, it is not under way
	a.get("/reports/trends?from=2026-03-01").Want(http.StatusOK, `"incomplete":[]`)
}

// An account whose first import never listed a bill has none that could be missing.
func TestReports_MissNothingOfAnAccountWithoutBills(t *testing.T) {
	a := newFixture(t)
	inventorytest.Connect(a.Fixture, ours, inventorytest.Account)
	now := a.Clock.Now()
	a.importing(func(e *billimport.Entry) {
		e.TriedAt, e.Failure = now, &billimport.Failure{Step: billimport.Reachability, Message: "no export", At: now}
	})
	a.get("/reports/trends").Want(http.StatusOK, `"incomplete":[]`)
	a.importing(func(e *billimport.Entry) { e.JobID, e.StartedAt = "job_2", now })
	a.get("/reports/trends").Want(http.StatusOK, `"incomplete":[]`)
}

// The forecast of the summary is that of a budget for the organization, also when one account's bill is slow.
func TestSummary_ForecastsFromTheSettledDayOfTheSlowestAccount(t *testing.T) {
	a := newFixture(t)
	a.bring(ours, "ca_2", "2026-03", false, charge("2026-03-01", "i-8", "Amazon EC2", "40"),
		charge("2026-03-02", "i-8", "Amazon EC2", "44"), charge("2026-03-03", "i-8", "Amazon EC2", "41"))
	b := budgeting.Budget{ScopeType: budgeting.Org, Period: budgeting.Month, Amount: usd("100")}
	states, err := budgeting.ReadStates(a.In(ours), cost.New(a.Platform), ours, []budgeting.Budget{b}, a.Clock.Now())
	a.Must(err)
	a.Equal("the settled day", states[0].Trail.Last.Format(time.DateOnly), "2026-03-03")
	for _, path := range []string{"/reports/summary", "/reports/summary?filter[provider]=aws"} {
		got := apitest.Data[MonthSummary](a.get(path)).ForecastUSD
		want := states[0].Forecast
		a.Equal(path, *got, Forecast{want.Low.Fixed(2), want.Mean.Fixed(2), want.High.Fixed(2)})
	}
	a.get("/reports/summary").AtMost(2)
}
