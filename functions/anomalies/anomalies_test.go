package anomalies

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

var (
	ada = apitest.Caller(apitest.Org, "ada", "owner")
	eve = apitest.Caller(apitest.OtherOrg, "eve", "owner")
)

// fixture has two instances, a team that owns the first, and anomalies of several scopes.
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
	return f
}

// find stores an anomaly of a scope on a day and returns its ID.
func (f *fixture) find(of anomaly.ScopeType, scopeID, day string, severity anomaly.Severity) string {
	f.Helper()
	at, err := time.Parse(time.DateOnly, day)
	f.Must(err)
	found := anomaly.Finding{
		Scope: anomaly.Scope{Type: of, ID: scopeID},
		Spike: anomaly.Spike{Cost: money.MustParse("299.996"), Baseline: money.FromInt(100), Severity: severity},
	}
	r := anomaly.Merge(anomaly.Record{}, &found, anomaly.Judged{Org: apitest.Org, Day: at, Now: f.Clock.Now()})
	r.Contributors = []anomaly.Contributor{{
		Dim: "service_name", Key: "EC2", Cost: money.FromInt(300),
		Baseline: money.FromInt(100), Excess: money.FromInt(200),
	}}
	r = apitest.Value(anomaly.NewStore(f.Table).Replace(f.In(apitest.Org), apitest.Org, anomaly.Record{}, r))(f)
	return r.ID
}

func (f *fixture) all() {
	f.Helper()
	f.find(anomaly.Org, "", "2026-03-01", anomaly.Warning)
	f.find(anomaly.CloudAccount, inventorytest.Account, "2026-03-02", anomaly.Critical)
	f.find(anomaly.Team, f.team, "2026-03-03", anomaly.Critical)
	f.find(anomaly.Resource, "i-0", "2026-03-04", anomaly.Emergency)
	f.find(anomaly.Resource, "i-1", "2026-03-05", anomaly.Warning)
}

// list formats the items in a response as "date type".
func list(a apitest.Answer) string {
	l := apitest.Data[rest.List[Anomaly]](a)
	var out []string
	for _, i := range l.Items {
		out = append(out, i.Date[5:]+" "+string(i.AnomalyType))
	}
	return fmt.Sprint(l.Total, " ", strings.Join(out, ", "))
}

func TestAnomalies_ListShowsThemNewestFirst(t *testing.T) {
	f := newFixture(t)
	f.all()
	for query, want := range map[string]string{
		"": "5 03-05 resource, 03-04 resource, 03-03 team, 03-02 cloud_account, " +
			"03-01 org",
		"?type=resource,team":            "3 03-05 resource, 03-04 resource, 03-03 team",
		"?severity=critical":             "2 03-03 team, 03-02 cloud_account",
		"?status=expected":               "0 ",
		"?from=2026-03-03&to=2026-03-05": "2 03-04 resource, 03-03 team",
		"?limit=2&page=2":                "5 03-03 team, 03-02 cloud_account",
		"?scope_id=i-0":                  "1 03-04 resource",
	} {
		// two round trips, and one for each kind of names
		f.Equal(query, list(f.Call(ada, "GET /reports/anomalies"+query).AtMost(5)), want)
	}
	f.Equal("of another organization", list(f.Call(eve, "GET /reports/anomalies")), "0 ")
	f.Call(ada, "GET /reports/anomalies?severity=bad").Want(http.StatusBadRequest, "severity")
	f.Call(ada, "GET /reports/anomalies?from=2026-03-05&to=2026-03-01").Want(http.StatusBadRequest, "from")
}

func TestAnomalies_ARecordSaysWhatItCost(t *testing.T) {
	f := newFixture(t)
	f.find(anomaly.Resource, "i-0", "2026-03-04", anomaly.Critical)
	a := apitest.Data[rest.List[Anomaly]](f.Call(ada, "GET /reports/anomalies")).Items[0]
	if a.CostUSD != "300.00" || a.BaselineUSD != "100.00" || a.ExcessUSD != "200.00" || *a.Percent != 199.9 ||
		a.Kind != "spike" || a.Status != "open" ||
		len(a.ToldOf) != 1 || a.Contributors[0].ExcessUSD != "200.00" || a.ScopeID != "i-0" {
		t.Errorf("%+v", a)
	}
}

func TestAnomalies_NameTheirScopesAndContributors(t *testing.T) {
	f := newFixture(t)
	f.all()
	names := map[anomaly.ScopeType]string{}
	for _, a := range apitest.Data[rest.List[Anomaly]](f.Call(ada, "GET /reports/anomalies")).Items {
		if names[a.AnomalyType] = "-"; a.ScopeName != nil {
			names[a.AnomalyType] = *a.ScopeName
		}
		if a.Contributors[0].Name != nil {
			t.Errorf("a service has the name %s", *a.Contributors[0].Name)
		}
	}
	f.Equal("names", fmt.Sprint(names), fmt.Sprint(map[anomaly.ScopeType]string{
		anomaly.Org: "-", anomaly.CloudAccount: "account " + inventorytest.Account, anomaly.Team: "Shop",
		anomaly.Resource: "web-0",
	}))
}

func TestAnomalies_AScopedCallerSeesTheirs(t *testing.T) {
	f := newFixture(t)
	f.all()
	team := apitest.Caller(apitest.Org, "tom", "viewer team:"+f.team)
	one := apitest.Caller(apitest.Org, "rob", "finops resource:"+f.ids[1])
	f.Equal("of a team", list(f.Call(team, "GET /reports/anomalies")), "2 03-04 resource, 03-03 team")
	f.Equal("of a resource", list(f.Call(one, "GET /reports/anomalies")), "1 03-05 resource")
	id := func(query string) string {
		return apitest.Data[rest.List[Anomaly]](f.Call(ada, "GET /reports/anomalies?"+query)).Items[0].ID
	}
	f.Call(one, "PATCH /reports/anomalies/"+id("scope_id=i-0"), `{"status":"acknowledged"}`).Want(http.StatusNotFound)
	f.Call(one, "PATCH /reports/anomalies/"+id("type=org"), `{"status":"acknowledged"}`).Want(http.StatusNotFound)
	f.Call(one, "PATCH /reports/anomalies/"+id("scope_id=i-1"), `{"status":"acknowledged"}`).Want(http.StatusOK,
		"acknowledged", "rob@example.com")
	f.Call(team, "PATCH /reports/anomalies/"+id("scope_id=i-0"), `{"status":"acknowledged"}`).Want(http.StatusForbidden)
}

func TestAnomalies_AreAcknowledgedOrExpected(t *testing.T) {
	f := newFixture(t)
	id := f.find(anomaly.Resource, "i-0", "2026-03-04", anomaly.Critical)
	path := "PATCH /reports/anomalies/" + id
	f.Call(ada, path, `{"status":"expected"}`).Want(http.StatusBadRequest, "reason")
	f.Call(ada, path, `{"status":"closed"}`).Want(http.StatusBadRequest, "status")
	f.Call(ada, path, `{"status":"expected","reason":"a load test"}`).Want(http.StatusOK, "a load test")
	got := f.LastAudited(apitest.Org)
	f.Equal("audited", got.Target, id)
	f.Equal("listed", list(f.Call(ada, "GET /reports/anomalies?status=expected")), "1 03-04 resource")
	f.Equal("events", len(apitest.Rows[event.Event](f.Fixture, event.PK(apitest.Org))), 1)
	f.Call(ada, path, `{"status":"open"}`).Want(http.StatusOK, `"reason":null`)
	f.Call(eve, path, `{"status":"open"}`).Want(http.StatusNotFound, id)
	f.Call(ada, "PATCH /reports/anomalies/ano_01k6v0e4y0c2b7m9q8r5t3w1xz",
		`{"status":"open"}`).Want(http.StatusNotFound)
	f.Call(ada, "PATCH /reports/anomalies/x", `{"status":"open"}`).Want(http.StatusNotFound)
	f.Change(anomaly.Key(apitest.Org, id), table.Set("status", anomaly.Closed))
	f.Call(ada, path, `{"status":"acknowledged"}`).Want(http.StatusConflict, "restated")
}

func TestAnomalies_Settings(t *testing.T) {
	f := newFixture(t)
	was := apitest.Data[AnomalySettings](f.Call(ada, "GET /reports/anomaly-settings").AtMost(1))
	if !was.UsageOnly || !was.Latch || was.NewSpend || was.FloorsUSD.Resource != "10.00" ||
		was.AnomalyMinUSD != "1.00" {
		t.Errorf("%+v", was)
	}
	got := apitest.Data[AnomalySettings](f.Call(ada, "PUT /reports/anomaly-settings",
		`{"latch":false,"newSpend":true,"floorsUSD":{"resource":"2.50","org":7}}`))
	if got.Latch || !got.NewSpend || !got.UsageOnly || got.FloorsUSD.Resource != "2.50" ||
		got.FloorsUSD.Org != "7.00" || got.FloorsUSD.Team != "25.00" {
		t.Errorf("%+v", got)
	}
	f.Equal("read", apitest.JSON(apitest.Data[AnomalySettings](f.Call(ada, "GET /reports/anomaly-settings"))),
		apitest.JSON(got))
	back := apitest.Data[AnomalySettings](f.Call(ada, "PUT /reports/anomaly-settings",
		`{"latch":null,"newSpend":null,"floorsUSD":{"resource":null,"org":null}}`))
	f.Equal("back", apitest.JSON(back), apitest.JSON(was))
	f.Call(ada, "PUT /reports/anomaly-settings", `{"floorsUSD":{"team":"-1"}}`).Want(http.StatusBadRequest,
		"floorsUSD.team", "-1")
	f.Call(ada, "PUT /reports/anomaly-settings", `{"floorsUSD":{"team":"much"}}`).Want(http.StatusBadRequest,
		"floorsUSD.team", "much")
	f.Call(ada, "PUT /reports/anomaly-settings", `{"latch":"no"}`).Want(http.StatusBadRequest, "latch")
	f.Call(apitest.Caller(apitest.Org, "vic", "viewer"), "PUT /reports/anomaly-settings",
		`{"latch":false}`).Want(http.StatusForbidden)
}
