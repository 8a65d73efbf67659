package reports

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestDaysBefore_AreThoseThatPeopleCompareWith(t *testing.T) {
	for name, c := range map[string][4]string{
		"a month":                              {"2026-03-01", "2026-04-01", "2026-02-01", "2026-03-01"},
		"three months over a new year":         {"2025-12-01", "2026-03-01", "2025-09-01", "2025-12-01"},
		"the first days of a month":            {"2026-03-01", "2026-03-10", "2026-02-01", "2026-02-10"},
		"more days than the month before has":  {"2026-03-01", "2026-03-31", "2026-02-01", "2026-03-01"},
		"a week":                               {"2026-03-03", "2026-03-10", "2026-02-24", "2026-03-03"},
		"months and days":                      {"2026-02-01", "2026-03-11", "2025-12-25", "2026-02-01"},
		"a day that is the first of its month": {"2026-03-01", "2026-03-02", "2026-02-01", "2026-02-02"},
	} {
		t.Run(name, func(t *testing.T) {
			day := func(s string) time.Time { return apitest.Value(time.Parse(time.DateOnly, s))(t) }
			from, to := daysBefore(day(c[0]), day(c[1]))
			if got := [2]string{from.Format(time.DateOnly), to.Format(time.DateOnly)}; got != [2]string{c[2], c[3]} {
				t.Errorf("%v; want %v", got, c[2:])
			}
		})
	}
}

// The previous cost of each node is what a breakdown of the period before says of it, and its parts add up.
func TestBreakdown_ComparesWithThePeriodBefore(t *testing.T) {
	a := newFixture(t)
	path := "/reports/costs/breakdown?dims=service_name,resource_uid&limit=100&period="
	got := apitest.Data[Breakdown](a.get(path + "2026-03&compare=true"))
	before := apitest.Data[Breakdown](a.get(path + "2026-02"))
	if got.Previous == nil || got.Previous.From != "2026-02-01" || got.Previous.To != "2026-03-01" {
		t.Fatalf("previous: %+v", got.Previous)
	}
	a.Equal("previous total", *got.Previous.TotalUSD, before.TotalUSD)
	a.Equal("previous total of the root", *got.Nodes[0].PreviousUSD, before.TotalUSD)
	was, sums := map[string]string{}, map[string]money.Amount{}
	for _, n := range before.Nodes {
		was[n.ID] = n.CostUSD
	}
	for _, n := range got.Nodes[1:] {
		want := was[n.ID]
		if delete(was, n.ID); want == "" {
			want = "0.00"
		}
		a.Equal("previous cost of "+n.ID, *n.PreviousUSD, want)
		parent := n.ID[:strings.LastIndex(n.ID, "/")]
		sums[parent] = sums[parent].Add(usd(*n.PreviousUSD))
	}
	a.Equal("the parts together", sums[rootID].Fixed(2), before.TotalUSD)
	if delete(was, rootID); len(was) > 0 {
		t.Errorf("only in the month before, and not shown: %v", was)
	}
}

func TestBreakdown_KnowsNoCostsOfAPeriodWithoutBills(t *testing.T) {
	a := newFixture(t)
	got := apitest.Data[Breakdown](a.get("/reports/costs/breakdown?from=2025-03-01&to=2025-04-01&compare=true"))
	if got.Previous.TotalUSD != nil || got.Previous.CoveredFrom != nil || got.Nodes[0].PreviousUSD != nil {
		t.Errorf("previous: %+v, root %+v", got.Previous, got.Nodes[0])
	}
	if got.CoveredFrom != nil || got.CoveredTo != nil {
		t.Errorf("covered from %v to %v; want null", got.CoveredFrom, got.CoveredTo)
	}
	plain := apitest.Data[Breakdown](a.get("/reports/costs/breakdown?period=2026-03"))
	if plain.Previous != nil || plain.Nodes[0].PreviousUSD != nil {
		t.Errorf("without compare: %+v, %v", plain.Previous, plain.Nodes[0].PreviousUSD)
	}
}

func TestReports_SayWhichDaysBillsCover(t *testing.T) {
	a := newFixture(t)
	for path, want := range map[string]string{
		"/reports/trends?from=2025-06-01&to=2026-03-20":     "2025-12-01 2026-03-11",
		"/reports/trends?from=2026-03-03&to=2026-03-05":     "2026-03-03 2026-03-05",
		"/reports/costs/breakdown?from=2025-06-01":          "2025-12-01 2026-03-11",
		"/reports/summary?filter[service_name]=Amazon+S3":   "2026-03-01 2026-03-11",
		"/reports/teams/trends?from=2025-12-01&limit=1":     "2025-12-01 2026-03-11",
		"/reports/trends?from=2025-06-01&dims=service_name": "2025-12-01 2026-03-11",
	} {
		got := apitest.Data[struct{ CoveredFrom, CoveredTo string }](a.get(path).Want(http.StatusOK))
		a.Equal(path, got.CoveredFrom+" "+got.CoveredTo, want)
	}
}

// The series of a point add up to the point, those of all points to the series, and the series to the total.
func TestTrends_SplitByDimensions(t *testing.T) {
	a := newFixture(t)
	for _, query := range []string{
		"dims=service_name", "dims=team_id&limit=1", "dims=service_name,region&granularity=week&limit=2",
		"dims=tag:env",
		"dims=provider&granularity=month&from=2025-12-01&cost=effective",
	} {
		got := apitest.Data[Trends](a.get("/reports/trends?" + query))
		var total money.Amount
		for _, s := range got.Series {
			total = total.Add(usd(s.CostUSD))
		}
		a.Equal(query+": all series", total.Fixed(2), got.TotalUSD)
		for _, p := range got.Items {
			var sum money.Amount
			for _, c := range p.SeriesUSD {
				sum = sum.Add(usd(c))
			}
			a.Equal(query+": "+p.Date, sum.Fixed(2), p.CostUSD)
			a.Equal(query+": series of "+p.Date, len(p.SeriesUSD), len(got.Series))
		}
	}
	limited := apitest.Data[Trends](a.get("/reports/trends?dims=service_name&limit=1&period=2026-03"))
	if n := len(limited.Series); n != 2 || !limited.Series[1].Other || limited.Series[1].Labels[0] != "Other" {
		t.Errorf("limit=1: %+v", limited.Series)
	}
	plain := apitest.Data[Trends](a.get("/reports/trends"))
	if len(plain.Series)+len(plain.Dims)+len(plain.Items[0].SeriesUSD) != 0 {
		t.Errorf("without dims: %v of %v", plain.Series, plain.Dims)
	}
	a.get("/reports/trends?dims=colour").Want(http.StatusBadRequest, "dims")
	a.get("/reports/trends?dims=provider,region,service_name").Want(http.StatusBadRequest, "dims")
}
