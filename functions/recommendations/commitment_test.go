package recommendations

import (
	"net/http"
	"testing"

	"lamplighter.dev/shared/domain/commitment"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestRecommendations_ShowTheLevelsOfACommitment(t *testing.T) {
	f := newFixture(t)
	usd := money.MustParse
	one := f.findings()[0]
	one.RuleID, one.Category, one.Savings.Strength = "aws-account-compute-plan", "discount", recommendation.ByDiscount
	one.Commitment = []commitment.Advice{{
		Scope: commitment.Scope{Provider: "aws", Product: "databases", Region: "eu-west-1", Family: "db.r5"},
		Basis: commitment.Daily, Days: 91, AllDays: 390, Trend: commitment.Flat, Waste: usd("365"),
		Offers: []commitment.OfferAdvice{
			{
				Offer:    commitment.Offer{Kind: commitment.Plan, Rate: usd("0.72"), Source: commitment.FromBill},
				Levels:   []commitment.Level{{Name: commitment.Safe, Hourly: usd("4.5"), Gain: usd("-1.005")}},
				Backtest: commitment.Backtest{},
			},
			{
				Offer: commitment.Offer{
					Kind: commitment.Reservation, Years: 3, Payment: commitment.AllUpfront, Rate: usd("0.5"),
					Source: "prices",
				},
				Levels: []commitment.Level{{
					Name: commitment.Best, Hourly: usd("9.5"), Commitment: usd("4.75"), Upfront: usd("124830"),
					Gain: usd("2424.642857"), Coverage: usd("100"), Utilization: usd("85"), BreakEven: usd("50"),
					BreakEvenMonths: usd("21.2"),
				}},
				Backtest: commitment.Backtest{Months: 10, Results: []commitment.Outcome{
					{Level: commitment.Best, Gain: usd("57678.34"), Regret: usd("8.42"), Losses: 1},
				}},
			},
		},
	}}
	f.settle(one)
	id := recommendation.IDOf(one.Resource.ResourceID, one.Resource.ResourceUID, one.RuleID)
	f.Call(ada, "GET /recommendations/"+id).Want(http.StatusOK, `"commitment":[{"provider":"aws",`+
		`"product":"databases","region":"eu-west-1","family":"db.r5","basis":"daily","days":91,"allDays":390,`+
		`"trend":"flat","wasteUSD":"365.00","offers":[`+
		`{"kind":"plan","termYears":null,"payment":null,"rate":"0.720000","source":"bill","levels":[{"level":"safe",`+
		`"hourlyUSD":"4.5000","commitmentUSD":"0.0000","upfrontUSD":null,"monthlyGainUSD":"-1.00","coveragePct":0,`+
		`"utilizationPct":0,"breakEvenPct":0,"breakEvenMonths":null}],"backtest":{"months":0,"results":[]}},`+
		`{"kind":"reservation","termYears":3,"payment":"all","rate":"0.500000","source":"prices","levels":[`+
		`{"level":"best","hourlyUSD":"9.5000","commitmentUSD":"4.7500","upfrontUSD":"124830.00",`+
		`"monthlyGainUSD":"2424.64","coveragePct":100,"utilizationPct":85,"breakEvenPct":50,"breakEvenMonths":21.2}],`+
		`"backtest":{"months":10,"results":[{"level":"best","gainUSD":"57678.34","regretUSD":"8.42","losses":1}]}}]}]`)
	f.Call(ada, "GET /recommendations/"+f.recs[0]).Want(http.StatusOK, `"commitment":null`)
	f.Call(eve, "GET /recommendations/"+id).Want(http.StatusNotFound)
	scoped := apitest.Caller(apitest.Org, "bob", "viewer resource:"+f.ids[1])
	f.Call(scoped, "GET /recommendations/"+id).Want(http.StatusNotFound)
}
