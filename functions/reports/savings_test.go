package reports

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// apply stores the line of an applied recommendation for an instance: 7 days at 5 USD before, 7 days at 2 USD after.
func (a *fixture) apply(org, uid, first string) {
	a.Helper()
	from := apitest.Value(time.Parse(time.DateOnly, first))(a)
	l := recommendation.LedgerLine{
		RecommendationID: "rec_" + uid, RuleID: "aws-ec2-oversized", RuleVersion: 2,
		Resource: recommendation.Resource{ResourceUID: uid, ResourceName: "was " + uid, ResourceType: "aws-ec2"},
		From:     from, Before: usd("35"), After: usd("14.000000007"), Month: usd("89.99999997"),
		RunSeconds: 7 * 86400,
	}
	a.Put(table.Key{PK: table.OrgPK(org) + "SAVING", SK: first + "#" + l.RecommendationID}, l)
}

func TestSavings_HaveALineForAnAppliedRecommendation(t *testing.T) {
	a := newFixture(t) // 10 March, 09:30:31 UTC
	a.apply(ours, "i-0", "2026-02-26")
	a.apply(ours, "i-gone", "2026-03-09")
	a.apply(theirs, "i-secret", "2026-03-01")
	got := apitest.Data[Savings](a.get("/reports/savings"))
	a.Equal("number", len(got.Items), 2)
	one := got.Items[1]
	now := a.Clock.Now()
	march := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	a.Equal("seconds", one.Seconds, int64(now.Sub(march)/time.Second))
	a.Equal("amount", one.SavingsUSD,
		usd("2.999999999").MulDiv(money.FromInt(one.Seconds), money.FromInt(86400)).Fixed(2))
	a.Equal("proof", *one.Recommendation, SavingProof{
		ID: "rec_i-0", RuleID: "aws-ec2-oversized", RuleVersion: 2,
		BeforeFrom: "2026-02-18", BeforeTo: "2026-02-25", AfterFrom: "2026-02-26", AfterTo: "2026-03-05",
		BeforeUSD: "35.00", AfterUSD: "14.00", StopsUSD: "0.00", MonthlyUSD: "90.00",
	})
	a.Equal("source", one.Source, "bill of 2026-02-18 to 2026-02-24 and 2026-02-26 to 2026-03-04")
	a.Equal("rate", one.RateUSD, "0.125000")
	a.Equal("cause", one.ChangedBy, "recommendation:aws-ec2-oversized")
	a.Equal("action", one.Action, "rec_i-0")
	a.Equal("the name of a resource that is gone", got.Items[0].ResourceName, "was i-gone")

	scoped := a.as("viewer team:"+a.web, "/reports/savings").Want(http.StatusOK, `"total":1`, `"resourceUID":"i-0"`)
	a.as("viewer team:"+a.data, "/reports/savings").Want(http.StatusOK, `"total":0`)
	other := a.Call(apitest.Caller(theirs, "eve", "viewer"), "GET /reports/savings")
	other.Want(http.StatusOK, `"total":1`, "i-secret")
	if strings.Contains(scoped.Body, "i-gone") || strings.Contains(other.Body, "i-0") {
		t.Errorf("lines of others are shown: %s %s", scoped.Body, other.Body)
	}
	a.get("/reports/summary").Want(http.StatusOK, `"totalSavingsUSD":"`+got.TotalUSD+`"`)
}

func TestSavings_OfAStopAndARecommendationCountTheSameHoursOnce(t *testing.T) {
	a := newFixture(t)
	a.apply(ours, "i-0", "2026-03-01")
	rate := pricing.HourlyRate{Running: usd("0.1"), Version: "aws 2026-03-09"}
	a.Must(pricing.WriteCosts(a.In(ours), a.Platform, ours, []pricing.KnownCost{{UID: "i-0", Rate: rate}}))
	begin := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	for at, state := range map[time.Time]string{begin: "stopped", begin.Add(12 * time.Hour): "running"} {
		c := execution.StateChange{ID: id.New("sh", at), ResourceUID: "i-0", State: state, ChangedAt: at}
		a.Put(table.Key{PK: execution.HistoryPKs(ours)[0], SK: c.ID}, c)
	}
	got := apitest.Data[Savings](a.get("/reports/savings?from=2026-03-01&to=2026-03-04"))
	// 12 hours of the stop at 0.1, and two and a half days at 3 USD less 2.5e-9
	a.Equal("total", got.TotalUSD, "8.70")
	a.Equal("lines", len(got.Items), 2)
	a.Equal("hours of the stop", got.Items[0].Seconds, int64(12*3600))
	a.Equal("hours of the recommendation", got.Items[1].Seconds, int64(60*3600))
	a.Equal("amount of the recommendation", got.Items[1].SavingsUSD, "7.50")
	a.get("/reports/trends?from=2026-03-02&to=2026-03-03").Want(http.StatusOK, `"savingsUSD":"2.70"`)
}
