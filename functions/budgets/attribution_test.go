package budgets

import (
	"testing"
	"time"

	"lamplighter.dev/functions/resourcegroups"
	"lamplighter.dev/functions/teams"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// closeMonth imports a final bill of a month of an account with a charge of 7 for i-1 on its second day.
func (f *fixture) closeMonth(account string, m cost.Month) {
	f.Helper()
	b := apitest.Value(cost.New(f.Platform).Begin(f.In(apitest.Org), cost.Import{
		Org: apitest.Org, AccountID: account, Provider: "aws", Month: m, Fingerprint: "closed", Final: true,
		DeliveredAt: f.Clock.Now(),
	}))(f)
	day, amount := m.Start().AddDate(0, 0, 1), money.FromInt(7)
	f.Must(b.Add(&bill.Charge{
		BillingPeriodStart: m.Start(), ChargePeriodStart: day, ChargeCategory: bill.Usage, SubAccountID: "123456789012",
		ServiceName: "EC2", ResourceID: "i-1", BillingCurrency: cost.USD,
		BilledCost: amount, EffectiveCost: amount, ListCost: amount,
	}))
	apitest.Value(b.Commit(f.In(apitest.Org)))(f)
}

// A team and a group are made in March, when the bills of another account for January and February are closed. Budgets
// tell from which day on they have the costs of these.
func TestBudgets_TellFromWhichDayOnTheirTeamsAndGroupsAreAttributed(t *testing.T) {
	f := newFixture(t)
	january := cost.MonthOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	f.closeMonth("ca_2", january)
	f.closeMonth("ca_2", january.Add(1))
	f.Mount(Operations, teams.Operations, resourcegroups.Operations)
	f.Clock.Advance(time.Minute)
	team := apitest.Data[teams.Team](f.Call(ada, "POST /teams",
		map[string]any{"name": "New", "resources": f.ids[1:]})).ID
	group := apitest.Data[resourcegroups.Group](f.Call(ada, "POST /resource-groups",
		map[string]any{"name": "Seconds", "members": []map[string]any{{"resourceID": f.ids[1]}}})).ID
	f.Clock.Advance(time.Minute)
	year := func(name string, of budgeting.ScopeType, scopeID string) string {
		return apitest.Data[Budget](f.Call(ada, "POST /budgets", map[string]any{
			"name": name, "scopeType": of, "scopeID": scopeID, "amountUSD": "9000", "period": "year",
		})).ID
	}
	young := []string{year("a team", budgeting.Team, team), year("a group", budgeting.ResourceGroup, group)}
	old := []string{year("all", budgeting.Org, ""), f.make("older", budgeting.Team, f.team, "5").ID}
	check := func(want, spent string) {
		t.Helper()
		summary := map[string]BudgetStanding{}
		for _, b := range apitest.Data[BudgetSummary](f.Call(ada, "GET /budgets/summary")).Items {
			summary[b.BudgetID] = b
		}
		for _, id := range append(young, old...) {
			st, from, in := f.stand(id).BudgetStanding, "", ""
			if st.AttributedFrom != nil {
				from = *st.AttributedFrom
			}
			if summary[id].AttributedFrom != nil {
				in = *summary[id].AttributedFrom
			}
			f.Equal(st.Name+" in the summary", in, from)
			if id == old[0] || id == old[1] {
				f.Equal(st.Name, from, "")
				continue
			}
			f.Equal(st.Name, from+" "+st.SpentUSD, want+" "+spent)
		}
	}
	books := cost.New(f.Platform)
	check("2026-04-01", "0.00")
	apitest.Value(books.RebuildOpen(f.In(apitest.Org), apitest.Org, nil))(f)
	check("2026-03-01", "340.00") // 68 days of 5
	for n, want := range []string{"2026-02-01 347.00", " 354.00"} {
		m := january.Add(1 - n)
		apitest.Value(books.AttributeMonth(f.In(apitest.Org), apitest.Org, m, f.Clock.Now().Add(time.Minute)))(f)
		check(want[:len(want)-len(" 347.00")], want[len(want)-len("347.00"):])
	}
}
