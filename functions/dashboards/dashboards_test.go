package dashboards

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/costtest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

var (
	ada = apitest.Caller(apitest.Org, "ada", "owner")
	eve = apitest.Caller(apitest.OtherOrg, "eve", "owner")
)

// fixture is an organization on 10 March 2026 with two instances; i-0 belongs to a team. Since 1 January they cost 10
// and 10/3 a day, and charges without a resource cost 1.
type fixture struct {
	*apitest.Fixture
	ids  []string
	team string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t, Operations)}
	f.ids = inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2", inventorytest.Instances(2)...)
	f.team = inventorytest.Team(f.Fixture, apitest.Org, "Shop", f.ids[0])
	jan := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	// to 9 March
	b := costtest.Bill{
		Org: apitest.Org, Account: inventorytest.Account, From: jan, To: jan.AddDate(0, 0, 68),
		Delivered: f.Clock.Now(),
	}
	costtest.Import(f.Fixture, b,
		costtest.Line{Resource: "i-0", Service: "EC2", USD: costtest.Every("10")},
		costtest.Line{Resource: "i-1", Service: "EC2", USD: costtest.Every("3.3333333333")},
		costtest.Line{Service: "Support", USD: costtest.Every("1")},
	)
	return f
}

// dashboard creates a dashboard of widgets.
func (f *fixture) dashboard(name string, widgets ...Widget) Dashboard {
	f.Helper()
	for i := range widgets {
		widgets[i] = widgets[i].complete()
	}
	return apitest.Data[Dashboard](f.Call(ada, "POST /dashboards", NewDashboard{Name: name, Widgets: widgets}))
}

func (f *fixture) data(c identity.Caller, dashboardID string) []WidgetData {
	f.Helper()
	return apitest.Data[DashboardData](f.Call(c, "GET /dashboards/"+dashboardID+"/data")).Widgets
}

func TestDashboards_FromCreationToEnd(t *testing.T) {
	f := newFixture(t)
	made := f.dashboard("Shop", Widget{Type: totalsWidget, Title: "Now"})
	if !id.IsValid("dash", made.ID) || made.Preset || made.Widgets[0].Size != "medium" ||
		made.CreatedBy != "ada@example.com" {
		t.Errorf("%+v", made)
	}
	path := "/dashboards/" + made.ID
	f.Equal("read", apitest.JSON(apitest.Data[Dashboard](f.Call(ada, "GET "+path).AtMost(1))), apitest.JSON(made))
	l := apitest.Data[rest.List[Dashboard]](f.Call(ada, "GET /dashboards").AtMost(1))
	if l.Total != 5 || l.Items[0].ID != "executive" || !l.Items[0].Preset || l.Items[4].ID != made.ID {
		t.Errorf("%+v", l)
	}
	f.Call(ada, "POST /dashboards", `{"name":"SHOP"}`).Want(http.StatusConflict, "SHOP")
	got := apitest.Data[Dashboard](f.Call(ada, "PUT "+path,
		`{"name":"Shops","widgets":[{"type":"trend"},{"type":"budgets"}]}`))
	if got.Name != "Shops" || len(got.Widgets) != 2 {
		t.Errorf("%+v", got)
	}
	f.Equal("audited", f.LastAudited(apitest.Org).Target, made.ID)
	f.Call(eve, "GET "+path).Want(http.StatusNotFound)
	f.Call(eve, "DELETE "+path).Want(http.StatusNotFound)
	f.Equal("of another organization", apitest.Data[rest.List[Dashboard]](f.Call(eve, "GET /dashboards")).Total, 4)
	f.Organization(apitest.Org, "Ours")
	f.Change(identity.OrganisationKey(apitest.Org), table.Set("defaultDashboard", made.ID))
	f.Call(ada, "DELETE "+path).Want(http.StatusConflict, "defaultDashboard")
	f.Change(identity.OrganisationKey(apitest.Org), table.Remove("defaultDashboard"))
	f.Equal("deleted", apitest.Data[rest.Deleted](f.Call(ada, "DELETE "+path)).ID, made.ID)
	f.Call(ada, "GET "+path).Want(http.StatusNotFound, made.ID)
	f.dashboard("shops")
}

func TestDashboards_PresetsAreThoseThatMayBeADefault(t *testing.T) {
	var ids []string
	for _, p := range presets {
		ids = append(ids, p.ID)
	}
	if known := identity.DashboardPresets(); !slices.Equal(ids, known) {
		t.Errorf("the presets are %v; an organization may name %v as its default", ids, known)
	}
}

func TestDashboards_PresetsAreClonedAndNotChanged(t *testing.T) {
	f := newFixture(t)
	for _, p := range presets {
		f.Call(ada, "PUT /dashboards/"+p.ID, `{"name":"mine"}`).Want(http.StatusConflict, "clone")
		f.Call(ada, "DELETE /dashboards/"+p.ID).Want(http.StatusConflict, "preset")
		c := apitest.Data[Dashboard](f.Call(ada, "POST /dashboards/"+p.ID+"/clone"))
		if c.Preset || c.Name != p.Name+" (copy)" || apitest.JSON(c.Widgets) != apitest.JSON(p.Widgets) {
			t.Errorf("%+v", c)
		}
	}
	f.Call(ada, "POST /dashboards/finops/clone").Want(http.StatusConflict, "Finops (copy)")
	f.Call(ada, "POST /dashboards/finops/clone", `{"name":"Another"}`).Want(http.StatusOK, "Another")
	f.Call(ada, "POST /dashboards", `{"name":"finops"}`).Want(http.StatusConflict, "preset")
	f.Call(ada, "POST /dashboards/dash_01k6v0e4y0c2b7m9q8r5t3w1xz/clone").Want(http.StatusNotFound)
}

func TestDashboards_BadInputIsRefusedByFieldAndValue(t *testing.T) {
	f := newFixture(t)
	for body, words := range map[string][]string{
		`{"name":"x","widgets":[{"type":"pie"}]}`:       {"widgets[0].type"},
		`{"name":"x","widgets":[{"type":"breakdown"}]}`: {"widgets[0].query.dims"},
		`{"name":"x","widgets":[{"type":"totals"},{"type":"breakdown","query":{"dims":["mood"]}}]}`: {
			"widgets[1].query.dims", "mood",
		},
		`{"name":"x","widgets":[{"type":"totals","query":{"filter":{"mood":["good"]}}}]}`: {
			"widgets[0].query.filter", "mood",
		},
		`{"name":"x","widgets":[{"type":"totals","query":{"period":"soon"}}]}`:   {"period"},
		`{"name":"x","widgets":[{"type":"top_resources","query":{"limit":51}}]}`: {"limit"},
		`{"name":"x","widgets":[` + strings.Repeat(`{"type":"totals"},`, maxWidgets) +
			`{"type":"totals"}]}`: {"widgets"},
	} {
		f.Call(ada, "POST /dashboards", body).Want(http.StatusBadRequest, words...)
	}
	f.Call(ada, "GET /dashboards/nonsense/data").Want(http.StatusNotFound, "nonsense")
	f.Call(apitest.Caller(apitest.Org, "vic", "viewer"), "POST /dashboards", `{"name":"x"}`).Want(http.StatusForbidden)
}

func TestDashboards_WidgetsAreListedAsPresetsUseThem(t *testing.T) {
	f := newFixture(t)
	types := apitest.Data[[]WidgetType](f.Call(ada, "GET /dashboards/widgets"))
	used := map[string]bool{}
	for _, p := range presets {
		for _, w := range p.Widgets {
			used[w.Type] = true
			if err := w.check("widget"); err != nil {
				t.Errorf("%s: %v", p.ID, err)
			}
		}
	}
	for _, w := range types {
		if !used[w.Type] || w.Policy == "" || w.Description == "" {
			t.Errorf("%+v", w)
		}
	}
}

func TestDashboards_DataAnswersEveryWidget(t *testing.T) {
	f := newFixture(t)
	b := budgeting.Budget{
		ID: id.New("bud", f.Clock.Now()), Name: "All", ScopeType: budgeting.Org,
		Amount: money.FromInt(100), Period: budgeting.Month,
	}
	apitest.Value(budgeting.NewStore(f.Table).Create(f.In(apitest.Org), apitest.Org, b))(f)
	found := anomaly.Finding{
		Scope: anomaly.Scope{Type: anomaly.Org},
		Spike: anomaly.Spike{Cost: money.FromInt(200), Baseline: money.FromInt(100), Severity: anomaly.Critical},
	}
	apitest.Value(anomaly.NewStore(f.Table).Replace(f.In(apitest.Org), apitest.Org, anomaly.Record{},
		anomaly.Merge(anomaly.Record{}, &found,
			anomaly.Judged{Org: apitest.Org, Day: f.Clock.Now(), Now: f.Clock.Now()})))(f)
	f.stop("i-0", "2026-03-09T00:00:00Z", "2026-03-09T10:00:00Z")
	d := f.dashboard("All of it",
		Widget{Type: totalsWidget}, Widget{Type: trendWidget},
		Widget{Type: trendWidget, Query: WidgetQuery{Period: "last_12_months"}},
		Widget{Type: breakdownWidget, Query: WidgetQuery{Dims: []string{cost.ServiceDim, cost.ResourceDim}, Limit: 2}},
		Widget{Type: topWidget},
		Widget{Type: budgetsWidget}, Widget{Type: anomaliesWidget}, Widget{Type: statesWidget},
		Widget{Type: actionsWidget}, Widget{Type: savingsWidget})
	w := f.data(ada, d.ID)
	for _, one := range w {
		if one.Forbidden || one.Error != nil {
			t.Fatalf("%s: %v", one.Type, *one.Error)
		}
	}
	// nine days of 14.3333333333; for February the ten days up to the same day of the month
	if got := *w[0].Totals; got.CostUSD != "129.00" || got.PreviousUSD != "143.33" || got.From != "2026-03-01" {
		t.Errorf("%+v", got)
	}
	if got := w[1].Trend; got.Granularity != "day" || len(got.Items) != 10 || sum(t, got.Items) != got.TotalUSD ||
		got.TotalUSD != "129.00" {
		t.Errorf("%+v", got)
	}
	if got := w[2].Trend; got.Granularity != "month" || len(got.Items) != 12 || got.Items[11].Date != "2026-03-01" ||
		sum(t, got.Items) != got.TotalUSD {
		t.Errorf("%+v", got)
	}
	got := w[3].Breakdown
	const rows = "[{[EC2 i-0] [EC2 i-0] false 90.00} {[EC2 i-1] [EC2 i-1] false 30.00} {[] [] true 9.00}]"
	if fmt.Sprint(got.Rows) != rows || got.TotalUSD != "129.00" {
		t.Errorf("%+v", got)
	}
	if top := w[4].TopResources; len(top) != 2 || top[0].Name != "web-0" || top[0].ResourceID != f.ids[0] ||
		top[0].CostUSD != "90.00" {
		t.Errorf("%+v", top)
	}
	if got := w[5].Budgets; len(got) != 1 || got[0].Signal != budgeting.Red || got[0].PercentUsed != 128.9 {
		t.Errorf("%+v", got)
	}
	if got := w[6].Anomalies; len(got) != 1 || got[0].CostUSD != "200.00" {
		t.Errorf("%+v", got)
	}
	if got := w[7].States; got["running"] != 2 {
		t.Errorf("%+v", got)
	}
	if got := w[9].Savings; got == nil || got.SavingsUSD != "0.96" || got.Stops != 1 || got.From != "2026-03-01" {
		t.Errorf("%+v", got)
	}
	if w[8].Actions == nil || w[8].Actions.Truncated {
		t.Errorf("%+v", w[8].Actions)
	}
}

// stop records that a resource was stopped between two times. It saves 0.096 for each hour.
func (f *fixture) stop(uid, from, to string) {
	f.Helper()
	rate := pricing.HourlyRate{
		Running: money.MustParse("0.1"), Off: money.MustParse("0.004"), Version: "aws 2026-03-09",
	}
	f.Must(pricing.WriteCosts(f.In(apitest.Org), f.Platform, apitest.Org,
		[]pricing.KnownCost{{UID: uid, Rate: rate}}))
	for state, at := range map[string]string{"stopped": from, "running": to} {
		c := execution.StateChange{
			ResourceUID: uid, State: state,
			ChangedAt: apitest.Value(time.Parse(time.RFC3339, at))(f), ChangedBy: "manual:usr_ada",
		}
		c.ID = id.New("sh", c.ChangedAt)
		f.Put(table.Key{PK: execution.HistoryPKs(apitest.Org)[0], SK: c.ID}, c)
	}
}

func sum(t *testing.T, points []WidgetTrendPoint) string {
	t.Helper()
	var total money.Amount
	for _, p := range points {
		total = total.Add(money.MustParse(p.CostUSD))
	}
	return total.Fixed(2)
}

func TestDashboards_PresetsAnswerWithoutAnyData(t *testing.T) {
	f := newFixture(t)
	for _, p := range presets {
		for _, w := range f.data(eve, p.ID) {
			if w.Forbidden || w.Error != nil {
				t.Errorf("%s: %+v", p.ID, w)
			}
		}
	}
}

// A person reads names, not IDs.
func TestDashboards_BreakdownsNameAccountsGroupsAndTeams(t *testing.T) {
	f := newFixture(t)
	d := f.dashboard("Named", Widget{Type: breakdownWidget, Query: WidgetQuery{
		Dims: []string{cost.AccountDim, cost.TeamDim, cost.GroupDim}, Period: "last_month",
	}})
	rows := f.data(ada, d.ID)[0].Breakdown.Rows
	account := "account " + inventorytest.Account
	f.Equal("rows", fmt.Sprint(rows[0].Labels, rows[1].Labels),
		fmt.Sprint([]string{account, "Shop", "Ungrouped"}, []string{account, "Unassigned", "Ungrouped"}))
}

// TestDashboards_DataTakesFewRoundTrips checks the round trips of each preset, whose widgets share questions. The
// limits are the numbers measured when this was written.
func TestDashboards_DataTakesFewRoundTrips(t *testing.T) {
	f := newFixture(t)
	for preset, most := range map[string]int{"executive": 14, "engineering": 10, "finops": 15, "operations": 7} {
		f.Call(ada, "GET /dashboards/"+preset+"/data").Want(http.StatusOK)
		f.Call(ada, "GET /dashboards/"+preset+"/data").AtMost(most)
	}
}

func TestDashboards_AWidgetWhosePolicyTheCallerLacksIsForbidden(t *testing.T) {
	f := newFixture(t)
	bob := apitest.Caller(apitest.Org, "bob", "dashboards:read,resources:read")
	for _, w := range f.data(bob, "operations") {
		if w.Forbidden != (w.Type != statesWidget) || w.Forbidden &&
			(w.Actions != nil || w.Trend != nil || len(w.Anomalies) > 0) {
			t.Errorf("%+v", w)
		}
	}
}

func TestDashboards_AScopedCallerSeesTheirs(t *testing.T) {
	f := newFixture(t)
	tom := apitest.Caller(apitest.Org, "tom", "viewer team:"+f.team)
	for _, w := range f.data(tom, "engineering") {
		switch w.Type {
		case topWidget:
			if len(w.TopResources) != 1 || w.TopResources[0].ResourceUID != "i-0" {
				t.Errorf("%+v", w.TopResources)
			}
		case breakdownWidget:
			if w.Breakdown.TotalUSD != "290.00" { // 29 of the last 30 days
				t.Errorf("%+v", w.Breakdown)
			}
		case statesWidget:
			if w.States["running"] != 1 {
				t.Errorf("%+v", w.States)
			}
		}
	}
}

func TestDashboards_AWidgetThatFailsSaysSoAndTheOthersGoOn(t *testing.T) {
	f := newFixture(t)
	whole := f.Table
	f.Table = table.NewFaultyStore(whole, f.Clock,
		table.Injection{Harm: table.FailBefore, PK: table.OrgPK(apitest.Org) + "BUDGET"})
	f.Mount(Operations)
	w := f.data(ada, "finops")
	failed := slices.IndexFunc(w, func(w WidgetData) bool { return w.Type == budgetsWidget })
	for i := range w {
		if (w[i].Error != nil) != (i == failed) {
			t.Errorf("%+v", w[i])
		}
	}
	if w[failed].Budgets != nil || strings.Contains(*w[failed].Error, "BUDGET") {
		t.Errorf("%s", *w[failed].Error)
	}
}

func TestWindow_EndsWithTheSameDay(t *testing.T) {
	for _, c := range []struct{ period, now, want string }{
		{"month_to_date", "2026-03-31", "2026-03-01 2026-04-01 2026-02-01 2026-03-01"},
		{"", "2026-03-10", "2026-03-01 2026-03-11 2026-02-01 2026-02-11"},
		{"last_month", "2026-03-31", "2026-02-01 2026-03-01 2026-01-01 2026-02-01"},
		{"last_7_days", "2026-03-10", "2026-03-04 2026-03-11 2026-02-25 2026-03-04"},
		{"last_12_months", "2026-03-10", "2025-04-01 2026-03-11 2024-04-01 2025-04-01"},
	} {
		now, err := time.Parse(time.DateOnly, c.now)
		if err != nil {
			t.Fatal(err)
		}
		a, b, d, e := window(c.period, now.Add(13*time.Hour))
		if got := strings.Join([]string{
			a.Format(time.DateOnly), b.Format(time.DateOnly), d.Format(time.DateOnly),
			e.Format(time.DateOnly),
		}, " "); got != c.want {
			t.Errorf("%s of %s: %s; want %s", c.period, c.now, got, c.want)
		}
	}
}
