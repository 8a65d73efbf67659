package budgets

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/functions/resourcegroups"
	"lamplighter.dev/functions/teams"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/inventory"
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

// fixture is an organization on 10 March 2026 with two instances. i-0 belongs to a team and to a group. Since 1
// January they cost 10 and 5 a day, and there is a fee of 30 on the first of each month.
type fixture struct {
	*apitest.Fixture
	ids         []string
	team, group string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t, Operations)}
	f.ids = inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2", inventorytest.Instances(2)...)
	f.team = inventorytest.Team(f.Fixture, apitest.Org, "Shop", f.ids[0])
	f.group = id.New("grp", f.Clock.Now())
	_, err := inventory.New(f.Platform).CreateGroup(f.In(apitest.Org), apitest.Org,
		inventory.Group{ID: f.group, Name: "First"},
		[]inventory.GroupPlacement{{ResourceID: f.ids[0], Tier: 1, Order: 1}})
	f.Must(err)
	f.importCosts(f.Clock.Now())
	return f
}

// importCosts imports the costs from 1 January to 9 March.
func (f *fixture) importCosts(delivered time.Time) {
	f.Helper()
	jan := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := costtest.Bill{
		Org: apitest.Org, Account: inventorytest.Account, From: jan, To: jan.AddDate(0, 0, 68),
		Delivered: delivered,
	}
	costtest.Import(f.Fixture, b,
		costtest.Line{
			Resource: "i-0", Service: "EC2", USD: costtest.Every("10"),
			Tags: []bill.Tag{{Key: "env", Value: "prod"}},
		},
		costtest.Line{
			Resource: "i-1", Service: "EC2", USD: costtest.Every("5"),
			Tags: []bill.Tag{{Key: "env", Value: "dev"}},
		},
		costtest.Line{Service: "Support", Category: bill.Purchase, USD: func(day time.Time) string {
			if day.Day() == 1 {
				return "30"
			}
			return ""
		}},
	)
}

// make creates a budget of an amount.
func (f *fixture) make(name string, of budgeting.ScopeType, scopeID, amount string) Budget {
	f.Helper()
	return apitest.Data[Budget](f.Call(ada, "POST /budgets",
		map[string]any{"name": name, "scopeType": of, "scopeID": scopeID, "amountUSD": amount}))
}

func (f *fixture) stand(budgetID string) BudgetStatus {
	f.Helper()
	return apitest.Data[BudgetStatus](f.Call(ada, "GET /budgets/"+budgetID+"/status"))
}

func TestBudgets_FromCreationToEnd(t *testing.T) {
	f := newFixture(t)
	made := f.make("All of it", budgeting.Org, "", "1500")
	if !id.IsValid("bud", made.ID) || made.AmountUSD != "1500.00" || made.Period != "month" ||
		fmt.Sprint(made.Thresholds) != "[50 80 100]" || made.CreatedBy != "ada@example.com" {
		t.Errorf("%+v", made)
	}
	path := "/budgets/" + made.ID
	f.Equal("read", apitest.JSON(apitest.Data[Budget](f.Call(ada, "GET "+path).AtMost(1))), apitest.JSON(made))
	f.Call(ada, "POST /budgets", `{"name":"all OF it","scopeType":"org","amountUSD":1}`).Want(http.StatusConflict,
		"all OF it")
	f.Clock.Advance(time.Second)
	got := apitest.Data[Budget](f.Call(ada, "PUT "+path,
		`{"name":"Everything","amountUSD":"20.5","thresholds":[120,90,90],"forecastAlerts":true,"period":"year"}`))
	if got.Name != "Everything" || got.AmountUSD != "20.50" || fmt.Sprint(got.Thresholds) != "[90 120]" ||
		!got.ForecastAlerts || got.Period != "year" || !got.UpdatedAt.After(made.UpdatedAt) {
		t.Errorf("%+v", got)
	}
	f.Equal("audited", f.LastAudited(apitest.Org).Target, made.ID)
	f.make("All of it", budgeting.Org, "", "1") // the name is available again
	f.Call(ada, "PUT "+path, `{"name":"All of it"}`).Want(http.StatusConflict, "All of it")
	f.Call(eve, "GET "+path).Want(http.StatusNotFound)
	f.Call(eve, "PUT "+path, `{"name":"x"}`).Want(http.StatusNotFound)
	f.Call(eve, "DELETE "+path).Want(http.StatusNotFound)
	f.Equal("of another organization", apitest.Data[rest.List[Budget]](f.Call(eve, "GET /budgets")).Total, 0)
	f.Equal("deleted", apitest.Data[rest.Deleted](f.Call(ada, "DELETE "+path)).ID, made.ID)
	f.Call(ada, "GET "+path).Want(http.StatusNotFound, made.ID)
	f.Equal("left", apitest.Data[rest.List[Budget]](f.Call(ada, "GET /budgets")).Total, 1)
}

func TestBudgets_NameTheirScopes(t *testing.T) {
	f := newFixture(t)
	for scope, c := range map[budgeting.ScopeType]struct{ id, want string }{
		budgeting.Org:           {"", "null"},
		budgeting.ResourceGroup: {f.group, `"First"`},
		budgeting.Team:          {f.team, `"Shop"`},
		budgeting.Resource:      {"i-0", `"web-0"`},
	} {
		made := f.make(string(scope), scope, c.id, "10")
		f.Equal("name when made", apitest.JSON(made.ScopeName), c.want)
		read := apitest.Data[Budget](f.Call(ada, "GET /budgets/"+made.ID))
		f.Equal("name when read", apitest.JSON(read.ScopeName), c.want)
	}
}

func TestBudgets_BadInputIsRefusedByFieldAndValue(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ body, field, value string }{
		{`{"name":"","scopeType":"org","amountUSD":1}`, "name", ""},
		{`{"name":"x","scopeType":"world","amountUSD":1}`, "scopeType", "org, cloud_account"},
		{`{"name":"x","scopeType":"org","amountUSD":"lots"}`, "amountUSD", "lots"},
		{`{"name":"x","scopeType":"org","amountUSD":-5}`, "amountUSD", "-5"},
		{`{"name":"x","scopeType":"org","amountUSD":0}`, "amountUSD", "0"},
		{`{"name":"x","scopeType":"org","amountUSD":1.234}`, "amountUSD", "1.234"},
		{`{"name":"x","scopeType":"org"}`, "amountUSD", ""},
		{`{"name":"x","scopeType":"org","amountUSD":1,"period":"week"}`, "period", "month, quarter"},
		{`{"name":"x","scopeType":"org","amountUSD":1,"thresholds":[0]}`, "thresholds", "0"},
		{`{"name":"x","scopeType":"org","amountUSD":1,"scopeID":"y"}`, "scopeID", "y"},
		{`{"name":"x","scopeType":"team","amountUSD":1}`, "scopeID", "team"},
		{
			`{"name":"x","scopeType":"team","amountUSD":1,"scopeID":"team_01k6v0e4y0c2b7m9q8r5t3w1xz"}`, "scopeID",
			"team_01k6v0e4y0c2b7m9q8r5t3w1xz",
		},
		{
			`{"name":"x","scopeType":"resource_group","amountUSD":1,"scopeID":"grp_01k6v0e4y0c2b7m9q8r5t3w1xz"}`,
			"scopeID", "grp_01k6v0e4y0c2b7m9q8r5t3w1xz",
		},
		{
			`{"name":"x","scopeType":"cloud_account","amountUSD":1,"scopeID":"ca_01k6v0e4y0c2b7m9q8r5t3w1xz"}`,
			"scopeID",
			"ca_01k6v0e4y0c2b7m9q8r5t3w1xz",
		},
		{`{"name":"x","scopeType":"resource","amountUSD":1,"scopeID":"i-77"}`, "scopeID", "i-77"},
		{
			`{"name":"x","scopeType":"resource","amountUSD":1,"scopeID":"res_01k6v0e4y0c2b7m9q8r5t3w1xz"}`, "uid",
			"res_01k6v0e4y0c2b7m9q8r5t3w1xz",
		},
		{`{"name":"x","scopeType":"tag","amountUSD":1,"scopeID":"env"}`, "scopeID", "env"},
	} {
		f.Call(ada, "POST /budgets", c.body).Want(http.StatusBadRequest, c.field, c.value)
	}
	b := f.make("x", budgeting.Org, "", "1")
	for _, body := range []string{
		`{"amountUSD":null}`, `{"period":null}`, `{"scopeType":"team"}`,
		`{"amountUSD":"x"}`,
	} {
		f.Call(ada, "PUT /budgets/"+b.ID, body).Want(http.StatusBadRequest)
	}
	f.Call(ada, "GET /budgets/nonsense").Want(http.StatusNotFound)
	f.Call(apitest.Caller(apitest.Org, "vic", "viewer"), "POST /budgets",
		`{"name":"y","scopeType":"org","amountUSD":1}`).Want(http.StatusForbidden)
}

func TestBudgets_StandingOfEachScope(t *testing.T) {
	f := newFixture(t)
	// 1 to 9 March; 8 March has settled, and 23 days are expected: the fee of this month is charged
	for _, c := range []struct {
		of          budgeting.ScopeType
		scopeID     string
		spent, mean string
	}{
		{budgeting.Org, "", "165.00", "495.00"},
		{budgeting.Resource, "i-0", "90.00", "310.00"},
		{budgeting.ResourceGroup, f.group, "90.00", "310.00"},
		{budgeting.Team, f.team, "90.00", "310.00"},
		{budgeting.Tag, "env=dev", "45.00", "155.00"},
	} {
		b := f.make(string(c.of), c.of, c.scopeID, "400")
		st := f.stand(b.ID)
		if st.SpentUSD != c.spent || st.ForecastUSD.Mean != c.mean || st.From != "2026-03-01" ||
			st.To != "2026-04-01" || len(st.BurnDown) != 31 {
			t.Errorf("%s: %+v", c.of, st.BudgetStanding)
		}
		if last := st.BurnDown[30]; last.SpentUSD != c.mean || !last.Forecast || last.PlannedUSD != "0.00" {
			t.Errorf("%s ends at %+v", c.of, last)
		}
	}
}

func TestBudgets_StatusSaysWhatIsLeft(t *testing.T) {
	f := newFixture(t)
	b := f.make("All", budgeting.Org, "", "200")
	w := f.Call(ada, "GET /budgets/"+b.ID+"/status").AtMost(8)
	st := apitest.Data[BudgetStatus](w)
	if st.AmountUSD != "200.00" || st.RemainingUSD != "35.00" || st.PercentUsed != 82.5 ||
		st.Signal != budgeting.Yellow || st.SettledUntil != "2026-03-08" {
		t.Errorf("%+v", st.BudgetStanding)
	}
	if got := fmt.Sprint(st.Thresholds); got != "[{50 100.00 true} {80 160.00 true} {100 200.00 false}]" {
		t.Error(got)
	}
	if got := st.BurnDown[0]; got.SpentUSD != "45.00" || got.RemainingUSD != "155.00" || got.Forecast {
		t.Errorf("%+v", got)
	}
}

func TestBudgets_SummaryBeginsWithTheWorst(t *testing.T) {
	f := newFixture(t)
	f.make("calm", budgeting.Org, "", "1000")
	f.make("spent", budgeting.Resource, "i-1", "40")
	f.make("close", budgeting.Team, f.team, "100")
	s := apitest.Data[BudgetSummary](f.Call(ada, "GET /budgets/summary"))
	var names []string
	for _, i := range s.Items {
		names = append(names, i.Name)
	}
	if strings.Join(names, " ") != "spent close calm" || s.Count != 3 || s.Red != 1 || s.Yellow != 1 || s.Green != 1 ||
		s.AmountUSD != "1000.00" || s.SpentUSD != "165.00" {
		t.Errorf("%v %+v", names, s)
	}
	none := apitest.Data[BudgetSummary](f.Call(eve, "GET /budgets/summary"))
	if none.Count != 0 || none.SpentUSD != "0.00" || none.Items == nil || none.ByPeriod == nil ||
		none.Period != budgeting.Month {
		t.Errorf("%+v", none)
	}
}

func TestBudgets_AScopedCallerSeesTheirs(t *testing.T) {
	f := newFixture(t)
	all := f.make("all", budgeting.Org, "", "1000")
	team := f.make("team", budgeting.Team, f.team, "1000")
	other := f.make("other", budgeting.Resource, "i-1", "1000")
	f.make("tag", budgeting.Tag, "env=prod", "1000")
	tom := apitest.Caller(apitest.Org, "tom", "viewer team:"+f.team)
	f.Equal("listed", apitest.Data[rest.List[Budget]](f.Call(tom, "GET /budgets")).Items[0].ID, team.ID)
	f.Equal("counted", apitest.Data[BudgetSummary](f.Call(tom, "GET /budgets/summary")).Count, 1)
	f.Call(tom, "GET /budgets/"+team.ID+"/status").Want(http.StatusOK)
	for _, b := range []Budget{all, other} {
		f.Call(tom, "GET /budgets/"+b.ID).Want(http.StatusNotFound)
		f.Call(tom, "GET /budgets/"+b.ID+"/status").Want(http.StatusNotFound)
	}
}

func TestBudgets_ListIsBounded(t *testing.T) {
	f := newFixture(t)
	store := budgeting.NewStore(f.Table)
	for n := range budgeting.MaxBudgets {
		f.Clock.Advance(time.Millisecond)
		b := budgeting.Budget{
			ID: id.New("bud", f.Clock.Now()), Name: fmt.Sprint("b", n), ScopeType: budgeting.Org,
			Amount: money.FromInt(int64(n + 1)), Period: budgeting.Month,
		}
		apitest.Value(store.Create(f.In(apitest.Org), apitest.Org, b))(f)
	}
	f.Call(ada, "POST /budgets", `{"name":"one more","scopeType":"org","amountUSD":1}`).Want(http.StatusBadRequest,
		"200")
	l := apitest.Data[rest.List[Budget]](f.Call(ada, "GET /budgets?sort_by=amountUSD&sort_order=desc&limit=2&page=2"))
	if l.Total != 200 || l.Items[0].AmountUSD != "198.00" {
		t.Errorf("%d %+v", l.Total, l.Items)
	}
	f.Call(ada, "GET /budgets?sort_by=mood").Want(http.StatusBadRequest, "mood")
}

func TestBudgets_KeepWhatTheyAreForFromBeingDeleted(t *testing.T) {
	f := newFixture(t)
	f.Mount(Operations, cloudaccounts.Operations, teams.Operations, resourcegroups.Operations)
	account := id.New("ca", f.Clock.Now())
	inventorytest.Connect(f.Fixture, apitest.Org, account)
	for path, of := range map[string]Budget{
		"/teams/" + f.team:            f.make("team", budgeting.Team, f.team, "1"),
		"/resource-groups/" + f.group: f.make("group", budgeting.ResourceGroup, f.group, "1"),
		"/cloud-accounts/" + account:  f.make("account", budgeting.CloudAccount, account, "1"),
	} {
		f.Call(ada, "DELETE "+path).Want(http.StatusConflict, of.ID, of.Name)
	}
	f.Workflow = apitest.Idle{}
	f.Call(ada, "DELETE /cloud-accounts/"+account+"?detach=true").Want(http.StatusOK)
	l := apitest.Data[rest.List[Budget]](f.Call(ada, "GET /budgets"))
	f.Equal("left", l.Total, 2)
	for _, b := range l.Items {
		f.Call(ada, "DELETE /budgets/"+b.ID).Want(http.StatusOK)
	}
	f.Call(ada, "DELETE /resource-groups/"+f.group).Want(http.StatusOK)
	f.Call(ada, "DELETE /teams/"+f.team).Want(http.StatusOK)
}
