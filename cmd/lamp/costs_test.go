package main

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestPreviousPeriod(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"a month", "2026-10-01", "2026-11-01", "from=2026-09-01&to=2026-10-01"},
		{"a month with times", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", "from=2026-02-01&to=2026-03-01"},
		{"the first days of a month", "2026-11-01", "2026-11-29", "from=2026-10-01&to=2026-10-29"},
		{"30 days of a month after February", "2026-03-01", "2026-03-31", "from=2026-02-01&to=2026-03-01"},
		{"a week", "2026-11-09", "2026-11-16", "from=2026-11-02&to=2026-11-09"},
		{"two months", "2026-09-01", "2026-11-01", "from=2026-07-02&to=2026-09-01"},
	} {
		if got, err := previousPeriod(c.from, c.to); err != nil || got.Encode() != c.want {
			t.Errorf("%s: got %s, want %s: %v", c.name, got.Encode(), c.want, err)
		}
	}
}

const breakdownOfOctober = `{"from":"2026-10-01","to":"2026-11-01","totalUSD":"30.10","estimated":true,
	"incomplete":[{"period":"2026-10"}],"nodes":[
	{"id":"","dim":"","label":"","value":null,"costUSD":"30.10"},
	{"id":"a","dim":"team_id","label":"Atlas","value":"team_1","costUSD":"20.00"},
	{"id":"b","dim":"team_id","label":"Unassigned","value":null,"costUSD":"10.10"}]}`

func TestCosts_PrintsTheBreakdown(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /reports/costs/breakdown", breakdownOfOctober)
	r := d.run("costs", "--by", "team", "--month", "2026-10")
	want := "TEAM          USD\nAtlas       20.00\nUnassigned  10.10\nTotal       30.10\n"
	if d.want(r, 0, "public prices stand in", "The bills of 2026-10 are not complete"); r.out != want {
		t.Errorf("got\n%s\nwant\n%s", r.out, want)
	}
	got := d.sent("GET /reports")
	if want := "GET /reports/costs/breakdown?cost=billed&dims=team_id&limit=20&period=2026-10"; got[0] != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}

func TestCosts_ComparesWithThePeriodBefore(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /reports/costs/breakdown", breakdownOfOctober)
	r := d.run("costs", "--by", "team", "--month", "2026-10", "--compare", "-o", "csv")
	want := "label,costUSD,dim,value,id,previousUSD,changeUSD\nAtlas,20.00,team_id,team_1,a,20.00,0.00\n" +
		"Unassigned,10.10,team_id,,b,10.10,0.00\nTotal,30.10,,,,30.10,0.00\n"
	if d.want(r, 0); r.out != want {
		t.Errorf("got\n%s\nwant\n%s", r.out, want)
	}
	if got := d.sent("GET /reports"); len(got) != 2 ||
		!strings.Contains(got[1], "from=2026-09-01&limit=20&to=2026-10-01") {
		t.Errorf("sent %q", got)
	}
}

func TestCosts_SeveralDimensionsAreNested(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /reports/costs/breakdown", `{"totalUSD":"3.00","nodes":[
		{"id":"t/a","dim":"service_name","label":"EC2","costUSD":"3.00"},
		{"id":"t/a/b","dim":"region","label":"eu-west-1","costUSD":"2.00"}]}`)
	if r := d.run("costs", "--by", "service,region"); r.out != "SERVICE,REGION   USD\nEC2             3.00\n"+
		"  eu-west-1     2.00\nTotal           3.00\n" {
		t.Errorf("printed\n%s", r.out)
	}
	d.want(d.run("costs", "--by", "service,region", "-o", "csv"), 0, "\neu-west-1,2.00,region,,t/a/b\n")
}

func TestCosts_ComparesTheCompleteDaysOfThisMonth(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /healthz", `{}`)
	d.answer("GET /reports/costs/breakdown", breakdownOfOctober)
	d.want(d.run("costs", "--compare"), 0)
	if got := d.sent("GET /reports"); !strings.Contains(got[0], "from=2026-11-01&limit=20&to=2026-11-29") {
		t.Errorf("sent %q", got)
	}
}

func TestCosts_NamesBecomeIDs(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /teams", `{"items":[{"id":"team_1","name":"Atlas"}],"total":1}`)
	d.answer("GET /reports/costs/breakdown", breakdownOfOctober)
	d.want(d.run("costs", "--in", "team=atlas", "--in", "tag:env=test", "--in", "region="), 0)
	sent, err := url.QueryUnescape(d.sent("GET /reports")[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"filter[team_id]=team_1", "filter[tag:env]=test", "filter[region]="} {
		if !slices.Contains(strings.Split(strings.SplitN(sent, "?", 2)[1], "&"), want) {
			t.Errorf("%q is missing in %s", want, sent)
		}
	}
	d.want(d.run("costs", "--in", "team=nosuch"), exitNotFound)
	d.want(d.run("costs", "--in", "team"), exitMisused, "DIMENSION=VALUE")
}

func TestBudgets_Status(t *testing.T) {
	const atlas = `{"budgetID":"bud_1","name":"Atlas","signal":"red","amountUSD":"2300.00","spentUSD":"5025.51",
		"percentUsed":218.5,"remainingUSD":"-2725.51","forecastUSD":{"mean":"5328.70"},"period":"month",
		"to":"2026-12-01"}`
	d := newDesk(t)
	d.answer("GET /budgets/summary", `{"items":[`+atlas+`]}`)
	d.answer("GET /budgets", `{"items":[{"id":"bud_1","name":"Atlas"}],"total":1}`)
	d.answer("GET /budgets/bud_1/status", atlas)
	for _, args := range []string{"budgets status -o csv", "budgets status atlas -o csv"} {
		d.want(d.run(strings.Fields(args)...), 0,
			"Atlas,red,2300.00,5025.51,218.5,-2725.51,5328.70,month,2026-12-01,bud_1")
	}
}

func TestAnomalies_Judge(t *testing.T) {
	d := newDesk(t)
	d.answer("PATCH /reports/anomalies/a-1", `{"id":"a-1","status":"expected"}`)
	d.want(d.run("anomalies", "judge", "a-1", "--expected"), exitMisused, "add --reason")
	d.want(d.run("anomalies", "judge", "a-1"), exitMisused)
	d.want(d.run("anomalies", "judge", "a-1", "--expected", "--reason", "sale"), 0, "expected")
	d.want(d.run("anomalies", "judge", "a-1", "--acknowledge"), 0)
	want := []string{
		`PATCH /reports/anomalies/a-1 {"status":"expected","reason":"sale"}`,
		`PATCH /reports/anomalies/a-1 {"status":"acknowledged"}`,
	}
	if got := d.sent("PATCH"); !slices.Equal(got, want) {
		t.Errorf("sent %q", got)
	}
}
