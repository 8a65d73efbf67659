package resources

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// bill imports a bill of an organization for the current month, with charges of i-0 on two days.
func (a *fixture) bill(org string, estimated bool, amounts ...string) {
	a.Helper()
	m := cost.MonthOf(a.Clock.Now())
	b := apitest.Value(cost.New(a.Platform).Begin(a.In(org), cost.Import{
		Org: org, AccountID: "ca_1", Provider: "aws", Month: m, Fingerprint: strings.Join(amounts, " "),
		DeliveredAt: a.Clock.Now(), Estimated: estimated,
	}))(a)
	for day, amount := range amounts {
		billed := money.MustParse(amount)
		c := bill.Charge{
			BillingPeriodStart: m.Start(), ChargePeriodStart: m.Start().AddDate(0, 0, day), ChargeCategory: bill.Usage,
			ResourceID: "i-0", BillingCurrency: cost.USD, BilledCost: billed, EffectiveCost: billed.MulInt(2),
		}
		a.Must(b.Add(&c))
		c.ResourceID, c.BilledCost = "i-1", money.FromInt(100)
		a.Must(b.Add(&c))
	}
	apitest.Value(b.Commit(a.In(org)))(a)
}

func TestResourceCosts_AreThoseOfItsBillByDay(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, false, "1.005", "2.005", "3.005")
	a.bill(ours, true, "9", "9", "9", "4")
	a.bill(theirs, false, "777")
	of := "/resources/" + inventorytest.IDs(a.Fixture, ours, "i-0")[0] + "/costs"
	m := cost.MonthOf(a.Clock.Now())
	got := apitest.Data[CostHistory](a.getPath(of + "?period=" + m.String()).AtMost(4))
	a.Equal("total", got.TotalUSD, "10.02")
	a.Equal("of", got.ResourceUID+" "+got.Cost+" "+got.From+" "+got.To,
		"i-0 billed "+m.Start().Format(time.DateOnly)+" "+m.End().Format(time.DateOnly))
	a.Equal("days", len(got.Items), m.Days())
	var sum money.Amount
	for _, day := range got.Items {
		sum = sum.Add(money.MustParse(day.CostUSD))
	}
	a.Equal("sum of the days", sum.Fixed(2), got.TotalUSD)
	a.Equal("an estimated day", got.Items[3], CostOfDay{m.Start().AddDate(0, 0, 3).Format(time.DateOnly), "4.00", true})
	a.Equal("source", got.CostSource, "estimated")

	first := m.Start().Format(time.DateOnly)
	got = apitest.Data[CostHistory](a.getPath(of + "?cost=effective&from=" + first + "&to=" +
		m.Start().AddDate(0, 0, 2).Format(time.DateOnly)))
	a.Equal("effective, of two days", got.TotalUSD+" "+got.CostSource, "6.02 actual")
}

func TestResourceCosts_AreOfTheResourcesThatACallerSees(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, false, "1")
	ids := inventorytest.IDs(a.Fixture, ours, "i-0", "i-1")
	a.call(theirs, http.MethodGet, "/resources/"+ids[0]+"/costs", "").Want(http.StatusNotFound)
	a.getPath("/resources/res_none/costs").Want(http.StatusNotFound)
	a.getPath("/resources/"+ids[0]+"/costs?period=March").Want(http.StatusBadRequest, "2026-03")
	scoped := apitest.Caller(ours, "bob", "resources:read resource:"+ids[0])
	a.Call(scoped, "GET /resources/"+ids[0]+"/costs").Want(http.StatusOK, `"totalUSD":"1.00"`)
	a.Call(scoped, "GET /resources/"+ids[1]+"/costs").Want(http.StatusNotFound)
}
