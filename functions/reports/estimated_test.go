package reports

import (
	"net/http"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/testkit/apitest"
)

// estimate imports estimated costs for the first days of a month.
func (a *fixture) estimate(month string, days int) {
	a.Helper()
	m := apitest.Value(cost.ParseMonth(month))(a)
	b, err := cost.New(a.Platform).Begin(a.In(ours), cost.Import{
		Org: ours, AccountID: "ca_1", Provider: "aws", Month: m, Fingerprint: "estimate", DeliveredAt: a.Clock.Now(),
		Estimated: true, Source: "estimate",
	})
	a.Must(err)
	for d := range days {
		c := charge(m.Start().AddDate(0, 0, d).Format(time.DateOnly), "i-0", "Amazon EC2", "5")
		a.Must(b.Add(&c))
	}
	_, err = b.Commit(a.In(ours))
	a.Must(err)
}

// TestReports_SayThatAMonthWithoutABillIsEstimated checks that every report marks a month without a bill as estimated,
// and a billed month before it as not estimated.
func TestReports_SayThatAMonthWithoutABillIsEstimated(t *testing.T) {
	a := newFixture(t)
	a.Clock.Advance(time.Date(2026, 4, 5, 12, 0, 0, 0, time.UTC).Sub(a.Clock.Now()))
	a.estimate("2026-04", 5)
	for _, path := range []string{
		"/reports/summary?", "/reports/trends?", "/reports/costs/resources?", "/reports/costs/breakdown?",
		"/reports/providers/summary?",
		"/reports/teams?", "/reports/teams/trends?", "/reports/teams/" + a.web + "?", "/reports/tags?",
		"/reports/tags/env?", "/reports/summary?filter[region]=eu-west-1&",
	} {
		a.get(path+"period=2026-04").Want(http.StatusOK, `"costSource":"estimated"`)
		a.get(path+"period=2026-02").Want(http.StatusOK, `"costSource":"actual"`)
	}
}
