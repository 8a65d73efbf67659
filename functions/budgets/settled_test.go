package budgets

import (
	"testing"
	"time"

	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/costtest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// The bills of a second account come six days later than those of the first.
func TestBudgets_ForecastWaitsForTheSlowestAccount(t *testing.T) {
	f := newFixture(t)
	jan := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	slow := costtest.Bill{
		Org: apitest.Org, Account: "ca_2", From: jan, To: jan.AddDate(0, 0, 62),
		Delivered: time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC),
	}
	costtest.Import(f.Fixture, slow, costtest.Line{Resource: "i-9", Service: "S3", USD: costtest.Every("100")})
	budgets := []budgeting.Budget{
		{ScopeType: budgeting.Org},
		{ScopeType: budgeting.CloudAccount, ScopeID: inventorytest.Account},
		{ScopeType: budgeting.CloudAccount, ScopeID: "ca_2"},
	}
	for i := range budgets {
		budgets[i].Amount, budgets[i].Period = money.FromInt(200), budgeting.Month
	}
	states := apitest.Value(budgeting.ReadStates(f.In(apitest.Org), cost.New(f.Platform), apitest.Org, budgets,
		f.Clock.Now()))(f)
	for i, want := range []string{
		"2026-03-02 3595", // 31 days of 115, and support of 30
		"2026-03-08 495", "2026-03-02 3100",
	} {
		got := states[i].Trail.Last.Format(time.DateOnly) + " " + states[i].Forecast.Mean.String()
		f.Equal(string(budgets[i].ScopeType)+" "+budgets[i].ScopeID, got, want)
	}
}
