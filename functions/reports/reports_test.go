package reports

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/domain/smarttag"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

const march = "221.27" // the cost of nine days of March: six instances, storage and support

func TestReports_AreAsTheyWere(t *testing.T) {
	a := newFixture(t)
	for name, path := range map[string]string{
		"summary":            "/reports/summary",
		"summary-filtered":   "/reports/summary?filter[service_name]=Amazon+S3&cost=list",
		"trends":             "/reports/trends?from=2026-02-27&to=2026-03-04",
		"trends-weekly":      "/reports/trends?from=2026-02-05&to=2026-03-10&granularity=week&cost=effective",
		"resources":          "/reports/costs/resources?limit=3",
		"resources-by-uid":   "/reports/costs/resources?sort_by=resourceUID&sort_order=desc&limit=2&page=2",
		"breakdown":          "/reports/costs/breakdown?dims=service_name,team_id,resource_uid&limit=2",
		"breakdown-by-class": "/reports/costs/breakdown?dims=charge_class",
		"breakdown-by-tag":   "/reports/costs/breakdown?dims=provider,tag:env&filter[charge_category]=Usage",
		"providers":          "/reports/providers/summary",
		"kinds":              "/reports/resources/summary",
		"snapshots":          "/reports/snapshots",
		"teams":              "/reports/teams",
		"team":               "/reports/teams/TEAM?from=2026-03-01&to=2026-03-04",
		"team-unassigned":    "/reports/teams/unassigned?from=2026-03-01&to=2026-03-04",
		"team-resources":     "/reports/teams/TEAM/resources",
		"tags":               "/reports/tags",
		"tag":                "/reports/tags/env",
		"tag-resources":      "/reports/tags/env/values/prod/resources",
		"tag-unknown":        "/reports/tags/env/values/Unknown/resources?limit=2",
		"tag-trends":         "/reports/tags/trends?tag_key=env&from=2026-03-08",
		"team-trends":        "/reports/teams/trends?from=2026-03-01&to=2026-03-03&limit=1",
	} {
		t.Run(name, func(t *testing.T) {
			a.TB = t
			a.golden(name+".json", a.get(strings.ReplaceAll(path, "TEAM", a.web)))
		})
	}
}

func TestReports_AddUpAtEveryLevel(t *testing.T) {
	a := newFixture(t)
	for _, dims := range []string{
		"provider", "service_name,resource_uid", "team_id,service_name,resource_uid",
		"tag:env,team_id,purchase_type,resource_uid",
	} {
		for limit := 1; limit < 5; limit++ {
			b := apitest.Data[Breakdown](a.get(fmt.Sprintf("/reports/costs/breakdown?dims=%s&limit=%d", dims, limit)))
			below, shown := map[string]money.Amount{}, map[string]money.Amount{}
			for _, n := range b.Nodes {
				shown[n.ID] = usd(n.CostUSD)
			}
			for _, l := range b.Links {
				below[l.Source] = below[l.Source].Add(usd(l.ValueUSD))
			}
			for id, sum := range below {
				a.Equal(dims+" below "+id, sum, shown[id])
			}
			a.Equal(dims+" in total", shown["total"].Fixed(2), b.TotalUSD)
		}
	}
	trends := apitest.Data[Trends](a.get("/reports/trends?from=2025-12-01&to=2026-03-11"))
	var sum money.Amount
	for _, p := range trends.Items {
		sum = sum.Add(usd(p.CostUSD))
	}
	a.Equal("days", sum.Fixed(2), trends.TotalUSD)
	teams := apitest.Data[TeamCosts](a.get("/reports/teams?period=2026-02"))
	sum = money.Amount{}
	for _, c := range teams.Items {
		sum = sum.Add(usd(c.CostUSD))
		a.Equal("both parts of "+c.Name, usd(c.DirectUSD).Add(usd(c.SharedUSD)).Fixed(2), c.CostUSD)
	}
	a.Equal("teams", sum.Fixed(2), teams.TotalUSD)
}

func TestReports_ShowWhoIsScopedJustTheirs(t *testing.T) {
	a := newFixture(t)
	scope := "viewer team:" + a.web
	// i-0 and i-1 for nine days; i-1 also belongs to another team
	s := apitest.Data[MonthSummary](a.as(scope, "/reports/summary"))
	a.Equal("total", s.TotalCostUSD, usd("1.005").Add(usd("2.005")).MulInt(9).Fixed(2))
	a.Equal("count", s.ResourceCount, 2)
	teams := apitest.Data[TeamCosts](a.as(scope, "/reports/teams"))
	a.Equal("teams", teams.TotalUSD, s.TotalCostUSD)
	for _, c := range teams.Items {
		if c.Name == "Data" {
			t.Errorf("a member of Web sees %+v", c)
		}
	}
	a.as(scope, "/reports/teams/"+a.data).Want(http.StatusNotFound)
	a.as("viewer resource:"+a.ids[3], "/reports/costs/resources").Want(http.StatusOK, `"i-3"`, `"total":1`)
	a.as("resources:read", "/reports/summary").Want(http.StatusForbidden)
	other := a.Call(apitest.Caller(theirs, "eve", "viewer"), "GET /reports/summary").Want(http.StatusOK, `"777.00"`)
	if strings.Contains(other.Body, march) ||
		strings.Contains(a.get("/reports/costs/resources?limit=100").Body, "secret") {
		t.Error("an organization sees another one's costs")
	}
}

// TestSnapshots_OfAScopeAreItsCostsMonthByMonth: the team owns i-0 and i-1, with nine billed days a month. Three of
// the four months are final.
func TestSnapshots_OfAScopeAreItsCostsMonthByMonth(t *testing.T) {
	a := newFixture(t)
	rupees := charge("2026-01-05", "i-1", "Amazon EC2", "700")
	rupees.BillingCurrency = "XXX"
	a.bring(ours, "ca_2", "2026-01", true, rupees, charge("2026-01-06", "i-5", "Amazon EC2", "9"))
	got := apitest.Data[[]Snapshot](a.as("viewer team:"+a.web, "/reports/snapshots"))
	nine := usd("1.005").Add(usd("2.005")).MulInt(9).Fixed(2)
	if len(got) != 3 {
		t.Fatalf("%+v; want three closed months", got)
	}
	for i, month := range []string{"2026-02", "2026-01", "2025-12"} {
		s := got[i]
		a.Equal("period", s.Period, month)
		a.Equal(month+" billed", s.BilledUSD, nine)
		a.Equal(month+" effective", s.EffectiveUSD, nine)
		a.Equal(month+" accounts", s.Accounts, 1)
		a.Equal(month+" rows", s.Rows, int64(0))
	}
	a.Equal("unconverted of January", fmt.Sprint(got[1].Unconverted), "[{XXX 700.00}]")
	a.Equal("unconverted of February", len(got[0].Unconverted), 0)
	all := apitest.Data[[]Snapshot](a.get("/reports/snapshots"))
	if len(all) != 3 || all[0].BilledUSD == nine || all[0].Rows == 0 {
		t.Errorf("the organization sees %+v", all)
	}
	a.as("resources:read", "/reports/snapshots").Want(http.StatusForbidden, "reports:read is needed")
}

// TestBreakdown_ByGroupNamesOnlyTheGroupsThatTheCallerMaySee: the group is named after a secret.
func TestBreakdown_ByGroupNamesOnlyTheGroupsThatTheCallerMaySee(t *testing.T) {
	a := newFixture(t)
	places := []inventory.GroupPlacement{
		{ResourceID: a.ids[0], Tier: 1, Order: 1},
		{ResourceID: a.ids[5], Tier: 1, Order: 2},
	}
	g := inventory.Group{ID: id.New("grp", a.Clock.Now()), Name: "Project Manhattan"}
	group := apitest.Value(inventory.New(a.Platform).CreateGroup(a.In(ours), ours, g, places))(a).ID
	// group membership counts as of the import
	a.bring(ours, "ca_3", "2026-03", false, charge("2026-03-02", "i-0", "Amazon EC2", "7"))
	const path = "/reports/costs/breakdown?dims=group_id&period=2026-03"
	in := func(policy string, n int) string { return policy + " resource:" + a.ids[n] }
	for grants, named := range map[[2]string]bool{
		{"reports:read", "resource-groups:read"}: true, {"reports:read", "resources:read"}: false,
		{in("reports:read", 0), in("resource-groups:read", 0)}: true,
		{in("reports:read", 0), in("resources:read", 0)}:       false,
		{in("reports:read", 0), in("resource-groups:read", 1)}: false,
	} {
		got := a.Call(apitest.Caller(ours, "bob", grants[:]...), "GET "+path).Want(http.StatusOK, group).Body
		if strings.Contains(got, "Manhattan") != named {
			t.Errorf("with %s the name is shown: %v, want %v", grants, !named, named)
		}
	}
}

func TestUnitMetrics_OfAScopeDivideItsCosts(t *testing.T) {
	a := newFixture(t)
	admin := apitest.Caller(ours, "ada", "admin")
	a.Call(admin, "POST /reports/unit-metrics", `{"name":"orders","unit":"order"}`).Want(http.StatusOK)
	a.Call(admin, "POST /reports/unit-metrics/orders/values",
		`{"values":[{"date":"2026-03-01","value":"100"}]}`).Want(http.StatusOK)
	got := apitest.Data[UnitReport](a.as("viewer team:"+a.web, "/reports/unit-metrics?period=2026-03"))
	a.Equal("points", fmt.Sprint(len(got.Items), len(got.Items[0].Items)), "1 1")
	a.Equal("cost", got.Items[0].Items[0].CostUSD, "3.01") // 1.005 + 2.005
	a.Equal("each", *got.Items[0].Items[0].CostPerUnitUSD, "0.030100")
	a.Call(apitest.Caller(ours, "bob", "finops team:"+a.web), "POST /reports/unit-metrics",
		`{"name":"users","unit":"user"}`).
		Want(http.StatusForbidden, "on the whole organization")
}

func TestReports_ThatDoNotAddUpAreRefused(t *testing.T) {
	a := newFixture(t)
	var log bytes.Buffer
	a.Platform.Log = slog.New(slog.NewJSONHandler(&log, nil))
	a.onCrooked()
	for _, path := range []string{
		"/reports/trends.svg", "/reports/costs/breakdown.svg", "/reports/tags/trends?tag_key=env",
		"/reports/tags/env/values/prod/resources", "/reports/unit-metrics?period=2026-03",
		"/reports/teams/" + a.web + "/resources",
		"/reports/teams/unassigned",
		"/reports/summary", "/reports/trends", "/reports/costs/resources", "/reports/costs/breakdown",
		"/reports/providers/summary", "/reports/snapshots",
		"/reports/teams", "/reports/teams/trends", "/reports/teams/" + a.web, "/reports/tags", "/reports/tags/env",
		"/reports/summary?filter[region]=eu-west-1",
	} {
		log.Reset()
		a.get(path).Want(http.StatusInternalServerError, "internal error")
		if !strings.Contains(log.String(), `"unbalancedReports":1`) {
			t.Errorf("%s: the log has nothing for the alarm: %s", path, log.String())
		}
	}
}

func TestReports_RefuseWhatTheyCannotAnswer(t *testing.T) {
	a := newFixture(t)
	for path, word := range map[string]string{
		"/reports/summary?period=March":                  "no month",
		"/reports/trends?period=2026-03&from=2026-03-01": "period",
		"/reports/trends?from=2020-01-01":                "800",
		"/reports/trends?cost=gross":                     "billed",
		"/reports/costs/breakdown?dims=colour":           "send one of provider, cloud_account_id",
		"/reports/costs/breakdown?filter[colour]=red":    "resource_uid or tag:<key>",
		"/reports/costs/breakdown?filter[]=red":          "filter[dimension]=value",
		"/reports/costs/resources?sort_by=colour":        "sort_by",
		"/reports/costs/breakdown?dims=region,region":    "twice",
	} {
		a.get(path).Want(http.StatusBadRequest, word)
	}
	a.get("/reports/teams/team_nobody").Want(http.StatusNotFound, "unassigned")
}

func TestReports_TakeFewRoundTrips(t *testing.T) {
	a := newFixture(t)
	for path, most := range map[string]int{
		"/reports/summary": 2, "/reports/trends": 1, "/reports/trends?from=2025-12-01": 1, "/reports/teams": 3,
		"/reports/teams/" + a.web: 2, "/reports/teams/unassigned": 3, "/reports/providers/summary": 2,
	} {
		a.get(path).Want(http.StatusOK) // it caches the savings for ten minutes
		a.get(path).Want(http.StatusOK).AtMost(most)
	}
}

// TestTeams_ShareWhatNobodyOwns shares unowned costs by a rule for storage and a later rule for all the rest.
func TestTeams_ShareWhatNobodyOwns(t *testing.T) {
	a := newFixture(t)
	s3 := report.SavedShowbackRule{
		ID: "rule_1", Name: "S3", Order: 1, Method: report.Fixed,
		Selector: map[string][]string{"service_name": {"Amazon S3"}},
		Shares: []report.ShowbackShare{
			{TeamID: a.web, Percent: usd("30")},
			{TeamID: "team_gone", Percent: usd("20")},
		},
	}
	all := report.SavedShowbackRule{
		ID: "rule_2", Name: "Support", Order: 2, Method: report.Proportional,
		Selector: map[string][]string{"charge_category": {"Purchase"}},
		Shares:   []report.ShowbackShare{{TeamID: a.web}, {TeamID: a.data}},
	}
	a.Must(report.NewShowbackStore(a.Table).Change(a.In(ours), ours,
		func([]report.SavedShowbackRule) ([]report.SavedShowbackRule, error) {
			return []report.SavedShowbackRule{all, s3}, nil
		}))
	a.golden("teams-shared.json", a.get("/reports/teams"))
	got := apitest.Data[TeamCosts](a.get("/reports/teams"))
	// web: 30 % of 9 × 0.333, and (1.005+1.0025) / (1.005+1.0025 + 1.0025+3.005) of 10
	want := usd("2.997").MulDiv(usd("30"), usd("100")).Add(usd("10").MulDiv(usd("2.0075"), usd("6.015")))
	a.Equal("shared", got.Items[1].SharedUSD, want.Fixed(2))
	var sum money.Amount
	for _, c := range got.Items {
		sum = sum.Add(usd(c.SharedUSD))
	}
	a.Equal("all that is shared", sum.Fixed(2), "0.00")
	trends := apitest.Data[TeamTrends](a.get("/reports/teams/trends?period=2026-03"))
	for _, p := range trends.Items {
		sum = money.Amount{}
		for _, c := range p.Teams {
			sum = sum.Add(usd(c.CostUSD))
		}
		a.Equal("teams of "+p.Date, sum.Fixed(2), p.CostUSD)
	}
	a.get("/reports/teams/"+a.web).Want(http.StatusOK, got.Items[1].CostUSD)
	scoped := apitest.Data[TeamCosts](a.as("viewer team:"+a.web, "/reports/teams"))
	a.Equal("shared as a scoped caller sees it", scoped.Items[0].SharedUSD, "0.00")
}

func TestTrends_ReachBackTwelveWeeksOrMonthsWhenNobodySays(t *testing.T) {
	a := newFixture(t)
	for granularity, want := range map[string]struct {
		first string
		items int
	}{"day": {"2026-02-09", 30}, "week": {"2025-12-22", 12}, "month": {"2025-04-01", 12}} {
		got := apitest.Data[Trends](a.get("/reports/trends?granularity=" + granularity))
		if got.From != want.first || len(got.Items) != want.items {
			t.Errorf("by %s: from %s, %d items; want from %s, %d", granularity, got.From, len(got.Items), want.first,
				want.items)
		}
	}
}

func TestSavings_AreStopsWithTheirProof(t *testing.T) {
	a := newFixture(t)
	rate := pricing.HourlyRate{Running: usd("0.1"), Off: usd("0.004"), Version: "aws 2026-03-09"}
	a.Must(pricing.WriteCosts(a.In(ours), a.Platform, ours,
		[]pricing.KnownCost{{UID: "i-0", Rate: rate}, {UID: "i-3", Rate: rate}}))
	at := func(s string) time.Time { return apitest.Value(time.Parse(time.RFC3339, s))(t) }
	for _, c := range []execution.StateChange{
		{
			ResourceUID: "i-0", State: "stopped", ChangedAt: at("2026-02-28T18:00:00Z"), ChangedBy: "schedule:sch_1:c",
			ScheduleID: "sch_1",
		},
		{ResourceUID: "i-0", State: "failed", ChangedAt: at("2026-03-01T05:00:00Z"), ChangedBy: "schedule:sch_1:c"},
		{ResourceUID: "i-0", State: "running", ChangedAt: at("2026-03-01T06:00:00Z"), ChangedBy: "schedule:sch_1:c"},
		{ResourceUID: "i-3", State: "stopped", ChangedAt: at("2026-03-09T21:30:30Z"), ChangedBy: "manual:usr_ada"},
		{ResourceUID: "i-1", State: "stopped", ChangedAt: at("2026-03-09T21:30:30Z"), ChangedBy: "manual:usr_ada"},
		{ResourceUID: "i-gone", State: "stopped", ChangedAt: at("2026-03-02T00:00:00Z"), ChangedBy: "manual:usr_ada"},
	} {
		c.ID = id.New("sh", c.ChangedAt)
		a.Put(table.Key{PK: execution.HistoryPKs(ours)[len(c.ResourceUID)%4], SK: c.ID}, c)
	}
	got := apitest.Data[Savings](a.get("/reports/savings"))
	// six hours of March for the first; twelve hours and a second, until now, for the other
	a.Equal("total", got.TotalUSD, "1.73")
	if len(got.Items) != 2 || got.WithoutRate != 1 || got.Items[0].ResourceUID != "i-3" ||
		got.Items[0].SavingsUSD != "1.15" || got.Items[1].SavingsUSD != "0.58" {
		t.Errorf("got %+v", got)
	}
	if p := got.Items[1]; !p.From.Equal(at("2026-03-01T00:00:00Z")) || p.Seconds != 6*3600 || p.RateUSD != "0.096000" ||
		*p.ScheduleID != "sch_1" || p.Source != "public prices aws 2026-03-09" {
		t.Errorf("the proof is %+v", p)
	}
	a.get("/reports/summary").Want(http.StatusOK, `"totalSavingsUSD":"1.73"`)
	a.get("/reports/trends?from=2026-02-27").Want(http.StatusOK,
		`"date":"2026-02-28","costUSD":"0.00","estimated":false,"savingsUSD":"0.57"`, `"totalSavingsUSD":"2.30"`)
	scoped := apitest.Data[Savings](a.as("viewer team:"+a.web, "/reports/savings"))
	a.Equal("total of a scoped caller", scoped.TotalUSD, "0.58")
	a.Call(apitest.Caller(theirs, "eve", "viewer"), "GET /reports/savings").Want(http.StatusOK, `"total":0`)
}

func TestUnitMetrics_TellWhatAUnitCosts(t *testing.T) {
	a := newFixture(t)
	post := func(path, body string) apitest.Answer {
		return a.Call(apitest.Caller(ours, "ada", "finops"), "POST "+path, body)
	}
	post("/reports/unit-metrics", `{"name":"orders","unit":"order"}`).Want(http.StatusOK)
	post("/reports/unit-metrics", `{"name":"orders","unit":"order"}`).Want(http.StatusConflict, "another name")
	post("/reports/unit-metrics", `{"name":"Or ders","unit":"order"}`).Want(http.StatusBadRequest, "name")
	values := "/reports/unit-metrics/orders/values"
	post(values, `{"values":[{"date":"2026-03-02","value":1},{"date":"2026-02-28","value":"4"}]}`).Want(http.StatusOK,
		`"values":2`)
	post(values,
		`{"values":[{"date":"2026-03-02","value":"1000"},{"date":"2026-03-03","value":0}]}`).Want(http.StatusOK)
	for body, word := range map[string]string{
		`{"values":[{"date":"2026-03-02","value":-1}]}`:                                          "below 0",
		`{"values":[{"date":"2026-03-02","value":"many"}]}`:                                      "is not a decimal",
		`{"values":[{"date":"2026-03-02","value":1},{"date":"2026-03-02T05:00:00Z","value":1}]}`: "twice",
		`{"values":[]}`: "values",
	} {
		post(values, body).Want(http.StatusBadRequest, word)
	}
	post("/reports/unit-metrics/users/values", `{"values":[{"date":"2026-03-02","value":1}]}`).Want(http.StatusNotFound)
	// a day of March costs 21.363, and its first day 10 more
	got := apitest.Data[UnitReport](a.get("/reports/unit-metrics?period=2026-03"))
	a.Equal("by day",
		fmt.Sprintf("%s %s %s | %s", got.Items[0].Items[0].CostUSD, got.Items[0].Items[0].Units,
			*got.Items[0].Items[0].CostPerUnitUSD, got.Items[0].Items[1].Units),
		"21.36 1000 0.021363 | 0")
	if p := got.Items[0].Items[1]; p.CostPerUnitUSD != nil {
		t.Errorf("nothing costs %s", *p.CostPerUnitUSD)
	}
	monthly := apitest.Data[UnitReport](a.get("/reports/unit-metrics?from=2026-02-01&granularity=month"))
	a.Equal("months", len(monthly.Items[0].Items), 2)
	a.Call(apitest.Caller(theirs, "eve", "viewer"), "GET /reports/unit-metrics").Want(http.StatusOK, `"items":[]`)
	a.Call(apitest.Caller(ours, "bob", "viewer"), "POST "+values,
		`{"values":[{"date":"2026-03-02","value":1}]}`).Want(http.StatusForbidden)
}

// TestTags_CountAcceptedSmartTags: i-1 and i-3 have no cloud tag. The smart tag of i-5 was accepted with another value
// than its present one.
func TestTags_CountAcceptedSmartTags(t *testing.T) {
	a := newFixture(t)
	store := smarttag.NewStore(a.Table)
	p := smarttag.Policy{ID: "tagp_1", Name: "Env", Key: "stage", Fields: []string{"res.name"}, Version: 1}
	a.Must(store.Put(a.In(ours), ours, p))
	a.Must(store.Accept(a.In(ours), ours, []smarttag.Derived{
		{UID: "i-1", Key: "stage", Value: "web-1"},
		{UID: "i-3", Key: "stage", Value: "web-3"},
		{UID: "i-5", Key: "stage", Value: "before"},
	}))
	a.golden("smart-tags.json", a.get("/reports/tags"))
	got := apitest.Data[TagValueCosts](a.get("/reports/tags/stage"))
	a.Equal("values",
		fmt.Sprint(got.Items[0].Name, got.Items[0].CostUSD, got.Items[1].Name, got.Items[1].CostUSD, len(got.Items)),
		"web-336.05web-118.043")
	page := apitest.Data[ResourceCosts](a.get("/reports/tags/stage/values/web-3/resources"))
	if len(page.Items) != 1 || *page.Items[0].ResourceUID != "i-3" || page.TotalUSD != "36.04" {
		t.Errorf("resources of web-3: %+v", page)
	}
	a.get("/reports/trends?period=2026-03&filter[tag:stage]=web-1").Want(http.StatusOK, `"totalUSD":"18.04"`)
	b := apitest.Data[Breakdown](a.get("/reports/costs/breakdown?dims=tag:stage,tag:env"))
	a.Equal("nodes", len(b.Nodes), 1+3+2+2)
	a.Call(apitest.Caller(theirs, "eve", "viewer"), "GET /reports/tags/stage").Want(http.StatusOK, `"name":"Unknown"`)
}
