package costqueries_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/costqueries"
	"lamplighter.dev/functions/queryrunner"
	"lamplighter.dev/functions/reports"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/chargeblocks"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/seed"
)

// fixture mounts the operations, the worker with its own engine, and the reports.
type fixture struct {
	*apitest.Fixture
	charges []bill.Charge // of the organization
}

var ada = apitest.Caller(apitest.Org, "ada", "reports:read")

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t)}
	f.Lines = archive.NewFolder(t.TempDir())
	f.Workers = lambdacall.Local{
		costquery.Worker: lambdacall.Handler(queryrunner.Handler(f.Platform,
			billfile.NewLineItemEngine(f.Lines, f.Clock))),
	}
	f.Mount(costqueries.Operations, reports.Operations)
	return f
}

// bring imports a billing period with its line items.
func (f *fixture) bring(org, account, month, delivery string, charges []bill.Charge) {
	f.Helper()
	b, err := cost.New(f.Platform).Begin(f.In(org), cost.Import{
		Org: org, AccountID: account, Provider: "aws", Month: apitest.Value(cost.ParseMonth(month))(f),
		Fingerprint: delivery, DeliveredAt: f.Clock.Now(),
		Source: "data_export", Export: "daily",
	})
	f.Must(err)
	w := billfile.NewLineItemWriter(f.Lines, b)
	for i := range charges {
		f.Must(b.Add(&charges[i]))
		f.Must(w.Add(f.In(org), &charges[i]))
	}
	f.Must(w.Close(f.In(org)))
	_, err = b.Commit(f.In(org))
	f.Must(err)
}

var (
	services = []string{"EC2", "S3", "O'Reilly \"x\"", "データ", ""}
	regions  = []string{"us-east-1", "eu-west-1", ""}
	teams    = []string{"red", "blue", ""}
)

// randomCharges returns the charges of a month. Some of them are for a day outside it.
func randomCharges(r *rand.Rand, month string, n int) []bill.Charge {
	m, err := cost.ParseMonth(month)
	if err != nil {
		panic(err) // a mistake in a test
	}
	out := make([]bill.Charge, n)
	for i := range out {
		c := &out[i]
		*c = bill.Charge{
			BillingPeriodStart: m.Start(),
			ChargePeriodStart:  m.Start().Add(time.Duration(r.IntN(m.Days()*24)) * time.Hour),
			ChargeCategory:     bill.Usage,
			BillingCurrency:    "USD", ServiceName: services[r.IntN(len(services))],
			RegionID:   regions[r.IntN(len(regions))],
			ResourceID: "i-" + strconv.Itoa(r.IntN(50)), SubAccountID: "1234", PricingCategory: bill.Standard,
		}
		if r.IntN(10) == 0 {
			c.ChargeCategory, c.ChargePeriodStart = bill.Purchase, c.ChargePeriodStart.AddDate(0, r.IntN(5)-2, 0)
		}
		if team := teams[r.IntN(len(teams))]; team != "" {
			c.Tags = []bill.Tag{{Key: "it's a team", Value: team}}
		}
		for _, a := range []*money.Amount{&c.BilledCost, &c.EffectiveCost, &c.ListCost, &c.Quantity} {
			*a = money.MustParse(strconv.Itoa(r.IntN(300)-100) + "." + strconv.Itoa(r.IntN(1000)) + strings.Repeat("7",
				r.IntN(27)))
		}
	}
	return out
}

func (f *fixture) ask(q costqueries.NewQuestion) costqueries.Question {
	f.Helper()
	return apitest.Data[costqueries.Question](f.Call(ada, "POST /reports/query", q), http.StatusAccepted)
}

// rows returns the rows of all pages of an answer.
func (f *fixture) rows(q costqueries.Question) [][]string {
	f.Helper()
	var out [][]string
	for at := ""; ; {
		got := apitest.Data[costqueries.Question](f.Call(ada, "GET "+q.StatusURL+at))
		if got.Status != "succeeded" {
			f.Fatalf("%+v", got)
		}
		out = append(out, got.Rows...)
		if got.NextCursor == nil {
			return out
		}
		at = "?cursor=" + *got.NextCursor
	}
}

// TestAnswers_AreThoseOfTheChargesInMemory asks random questions about random bills.
func TestAnswers_AreThoseOfTheChargesInMemory(t *testing.T) {
	f := newFixture(t)
	r := seed.Fixed(t, 5, 6)
	for _, month := range []string{"2026-01", "2026-02", "2026-03"} {
		for _, account := range []string{"ca_1", "other:vendor"} {
			some := randomCharges(r, month, 400)
			f.bring(apitest.Org, account, month, "1", some)
			f.charges = append(f.charges, some...)
		}
	}
	f.bring(apitest.OtherOrg, "ca_1", "2026-02", "1", randomCharges(r, "2026-02", 50))
	for range 60 {
		q := randomQuestion(r)
		want := f.inMemory(q)
		asked := f.ask(q)
		got := f.rows(asked)
		if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
			t.Fatalf("%s: %s", apitest.JSON(q), firstDifference(got, want))
		}
	}
}

func firstDifference(got, want [][]string) string {
	for i := range min(len(got), len(want)) {
		if !slices.Equal(got[i], want[i]) {
			return fmt.Sprintf("row %d of %d is %q, want %q", i, len(got), got[i], want[i])
		}
	}
	return fmt.Sprintf("%d rows, want %d", len(got), len(want))
}

func randomQuestion(r *rand.Rand) costqueries.NewQuestion {
	from := time.Date(2026, 1, 1+r.IntN(60), 0, 0, 0, 0, time.UTC)
	q := costqueries.NewQuestion{
		From: from.Format(time.DateOnly),
		To:   from.AddDate(0, 0, 1+r.IntN(40)).Format(time.DateOnly), Limit: r.IntN(2) * (1 + r.IntN(20)),
	}
	if r.IntN(3) == 0 {
		q.From, q.To = "2026-01", "2026-03"
	}
	q.Measures = pick(r, "BilledCost", "EffectiveCost", "ListCost", "PricingQuantity", "Count")
	q.GroupBy = pick(r, "ServiceName", "RegionId", "Tags.it's a team", "ChargePeriodStart", "BillingPeriodStart",
		"ResourceId", "ChargeCategory")[1:]
	for range r.IntN(3) {
		q.Filters = append(q.Filters, []costqueries.Filter{
			{Column: "ServiceName", Operator: "is_not", Values: []string{"EC2", "O'Reilly \"x\""}},
			{Column: "RegionId", Operator: "starts_with", Values: []string{"us-", "ap-"}},
			{Column: "RegionId", Operator: "is_empty"},
			{Column: "Tags.it's a team", Operator: "is", Values: []string{"red", ""}},
			{Column: "Tags.it's a team", Operator: "is_present"},
			{Column: "ResourceId", Operator: "contains", Values: []string{"1"}},
			{Column: "ChargePeriodStart", Operator: "starts_with", Values: []string{"2026-02"}},
		}[r.IntN(7)])
	}
	return q
}

// pick returns at least one of the values, in random order.
func pick(r *rand.Rand, of ...string) []string {
	r.Shuffle(len(of), func(i, k int) { of[i], of[k] = of[k], of[i] })
	return of[:1+r.IntN(len(of)-1)]
}

func (f *fixture) inMemory(n costqueries.NewQuestion) [][]string {
	f.Helper()
	q := costquery.Query{
		From: day(n.From), To: day(n.To), GroupBy: n.GroupBy, Measures: n.Measures, OrderBy: n.OrderBy,
		Limit: n.Limit,
	}
	for _, c := range n.Filters {
		q.Filters = append(q.Filters,
			costquery.Filter{Column: c.Column, Operator: costquery.Operator(c.Operator), Values: c.Values})
	}
	a, err := costquery.Run(f.Context(), q, chargeblocks.FromCharges(f.charges...))
	f.Must(err)
	var out [][]string
	for _, r := range a.Rows {
		row := slices.Clone(r.Keys)
		for _, amount := range r.Amounts {
			row = append(row, amount.String())
		}
		out = append(out, row)
	}
	return out
}

func day(s string) time.Time {
	if len(s) == len("2026-03") {
		s += "-01"
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err) // a mistake in a test
	}
	return t
}

// TestTotals_AreThoseOfReports asks a question and a report for the same days and the same kind of cost.
func TestTotals_AreThoseOfReports(t *testing.T) {
	f := newFixture(t)
	r := seed.Fixed(t, 7, 8)
	for _, month := range []string{"2026-01", "2026-02"} {
		f.bring(apitest.Org, "ca_1", month, "1", randomCharges(r, month, 500))
	}
	for measure, metric := range map[string]string{
		"BilledCost": "billed", "EffectiveCost": "effective",
		"ListCost": "list",
	} {
		for _, days := range [][2]string{
			{"2026-01-01", "2026-03-01"},
			{"2026-01-31", "2026-02-03"},
			{"2026-02-01", "2026-02-02"},
			{"2026-01-31", "2026-02-01"},
		} {
			asked := f.ask(costqueries.NewQuestion{From: days[0], To: days[1], Measures: []string{measure}})
			rows := f.rows(asked)
			if len(rows) != 1 {
				t.Fatalf("%v: %+v", days, asked)
			}
			got := f.Call(ada,
				"GET /reports/costs/breakdown?cost="+metric+"&from="+days[0]+"T00:00:00Z&to="+days[1]+"T00:00:00Z")
			report := apitest.Data[struct {
				TotalUSD string `json:"totalUSD"`
			}](got)
			if total := money.MustParse(rows[0][1]).Fixed(2); total != report.TotalUSD {
				t.Errorf("%s of %v: %s, the report says %s", measure, days, total, report.TotalUSD)
			}
		}
	}
}

func TestADryRun_SaysWhatAnAnswerCostsAndAsksNothing(t *testing.T) {
	f := newFixture(t)
	f.bring(apitest.Org, "ca_1", "2026-02", "1", randomCharges(seed.Fixed(t, 9, 1), "2026-02", 300))
	narrow := costqueries.NewQuestion{From: "2026-02", To: "2026-03", DryRun: true}
	wide := narrow
	wide.GroupBy = []string{"ServiceName", "Tags.x", "ResourceId"}
	a, b := f.ask(narrow), f.ask(wide)
	if a.Status != "planned" || a.QueryID != "" || a.ScannedBytes == 0 || b.ScannedBytes <= a.ScannedBytes ||
		a.PriceUSD != "0.000050" {
		t.Errorf("%+v\n%+v", a, b)
	}
	if kept := apitest.Rows[costquery.Record](f.Fixture, costquery.RecordKey(apitest.Org, "").PK); len(kept) != 0 {
		t.Errorf("a dry run is kept: %+v", kept)
	}
	narrow.DryRun = false
	if got := f.ask(narrow); got.ScannedBytes != a.ScannedBytes || got.PriceUSD != a.PriceUSD ||
		got.Status != "succeeded" || got.CompletedAt == nil {
		t.Errorf("it is answered as %+v", got)
	}
	none := f.ask(costqueries.NewQuestion{From: "2020-02", To: "2020-03"})
	if none.ScannedBytes != 0 || none.PriceUSD != "0.000000" || len(f.rows(none)) != 0 {
		t.Errorf("of months without bills: %+v", none)
	}
}

// TestAnswers_AreOfTheGenerationThatIsIn replaces a bill, fails to replace it, and deletes old generations.
func TestAnswers_AreOfTheGenerationThatIsIn(t *testing.T) {
	f := newFixture(t)
	r := seed.Fixed(t, 3, 1)
	first, second := randomCharges(r, "2026-02", 30), randomCharges(r, "2026-02", 20)
	q := costqueries.NewQuestion{From: "2026-02", To: "2026-03", Measures: []string{"Count"}}
	f.bring(apitest.Org, "ca_1", "2026-02", "1", first)
	f.Equal("first", f.rows(f.ask(q)), [][]string{{"USD", "30"}})
	b, err := cost.New(f.Platform).Begin(f.In(apitest.Org),
		cost.Import{
			Org: apitest.Org, AccountID: "ca_1", Provider: "aws", Month: cost.MonthOf(day("2026-02")),
			Fingerprint: "2", DeliveredAt: f.Clock.Now(),
		})
	f.Must(err)
	w := billfile.NewLineItemWriter(f.Lines, b)
	f.Must(w.Add(f.In(apitest.Org), &second[0]))
	w.Discard()
	f.Equal("while another is given up", f.rows(f.ask(q)), [][]string{{"USD", "30"}})
	old, err := cost.New(f.Platform).LineItems(f.In(apitest.Org), apitest.Org, cost.MonthOf(day("2026-02")),
		cost.MonthOf(day("2026-02")))
	f.Must(err)
	f.bring(apitest.Org, "ca_1", "2026-02", "3", second)
	f.Equal("replaced", f.rows(f.ask(q)), [][]string{{"USD", "20"}})
	if _, err = f.Lines.Size(f.Context(), old[0].Part(apitest.Org, 0)); err != nil {
		t.Errorf("who reads the old generation does not come to its end: %v", err)
	}
	f.Clock.Advance(8 * 24 * time.Hour)
	f.bring(apitest.Org, "ca_2", "2026-02", "1", second)
	if _, err = f.Lines.Size(f.Context(), old[0].Part(apitest.Org, 0)); err == nil {
		t.Error("an old generation is kept for ever")
	}
	f.Equal("at last", f.rows(f.ask(q)), [][]string{{"USD", "40"}})
}

func TestRows_ComeInPages(t *testing.T) {
	f := newFixture(t)
	charges := randomCharges(seed.Fixed(t, 2, 1), "2026-02", 2500)
	for i := range charges {
		charges[i].ResourceID = fmt.Sprintf("i-%04d", i)
	}
	f.bring(apitest.Org, "ca_1", "2026-02", "1", charges)
	asked := f.ask(costqueries.NewQuestion{
		From: "2026-02", To: "2026-03", GroupBy: []string{"ResourceId"},
		OrderBy: "ResourceId", Limit: 2300,
	})
	rows := f.rows(asked)
	if len(rows) != 2300 || rows[0][0] != "i-0000" || rows[2299][0] != "i-2299" || !asked.Truncated ||
		asked.RowCount != 2300 {
		t.Errorf("%d rows, %+v", len(rows), asked)
	}
	f.Call(ada, "GET "+asked.StatusURL+"?cursor=99").Want(400, "cursor", "99")
}

func TestBadQuestions_AreRefusedByFieldAndValue(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct{ body, field, value string }{
		"a column that is none": {`{"from":"2026-01","to":"2026-02","groupBy":["Region"]}`, "groupBy", "Region"},
		"an operator that is none": {`{"from":"2026-01","to":"2026-02","filters":[{"column":"RegionId",` +
			`"operator":"like","values":["x"]}]}`, "filters", "like"},
		"too many groups": {`{"from":"2026-01","to":"2026-02",` +
			`"groupBy":["a","b","c","d","e","f","g","h","i"]}`, "groupBy", "9"},
		"from after to":          {`{"from":"2026-03-02","to":"2026-03-01"}`, "to", "2026-03-02"},
		"a day that is none":     {`{"from":"2026-02-30","to":"2026-03-01"}`, "from", "2026-02-30"},
		"a measure that is none": {`{"from":"2026-01","to":"2026-02","measures":["Cost"]}`, "measures", "Cost"},
		"an order by something else": {
			`{"from":"2026-01","to":"2026-02","orderBy":"RegionId"}`, "orderBy",
			"RegionId",
		},
		"more rows than there may be": {`{"from":"2026-01","to":"2026-02","limit":10001}`, "limit", "10000"},
		"longer than three years":     {`{"from":"2020-01","to":"2026-02"}`, "to", "36"},
	} {
		t.Run(name, func(t *testing.T) {
			f.Call(ada, "POST /reports/query", json.RawMessage(c.body)).Want(400, c.field, c.value)
		})
	}
}

// TestQuestions_OfAScopeAreAboutItsResourcesAlone asks as a member of a team that owns one resource, and as other
// callers.
func TestQuestions_OfAScopeAreAboutItsResourcesAlone(t *testing.T) {
	f := newFixture(t)
	f.bring(apitest.Org, "ca_1", "2026-02", "1", randomCharges(seed.Fixed(t, 4, 1), "2026-02", 200))
	ids := inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2", inventorytest.Instances(3)...)
	team := inventorytest.Team(f.Fixture, apitest.Org, "Web", ids[1])
	q := costqueries.NewQuestion{
		From: "2026-02", To: "2026-03", Measures: []string{"Count", "BilledCost"},
		GroupBy: []string{"ResourceId"},
	}
	whole := f.ask(q)
	want := slices.DeleteFunc(f.rows(whole), func(row []string) bool { return row[0] != "i-1" })

	bob := apitest.Caller(apitest.Org, "bob", "reports:read team:"+team)
	asked := apitest.Data[costqueries.Question](f.Call(bob, "POST /reports/query", q), http.StatusAccepted)
	got := apitest.Data[costqueries.Question](f.Call(bob, "GET "+asked.StatusURL))
	f.Equal("rows", fmt.Sprint(got.Rows), fmt.Sprint(want))
	f.Equal("job", got.JobID, got.QueryID)
	f.Call(bob, "GET "+whole.StatusURL).Want(404)
	f.Call(ada, "GET "+asked.StatusURL).Want(200)
	f.Call(apitest.Caller(apitest.Org, "carl", "reports:read team:"+team), "GET "+asked.StatusURL).Want(404)
	f.Call(apitest.Caller(apitest.Org, "bob", "reports:read resource:"+ids[2]), "GET "+asked.StatusURL).Want(404)
	f.Call(apitest.Caller(apitest.Org, "bob", "reports:read team:team_none"), "POST /reports/query", q).Want(403,
		"reach no resource")
}

func TestQuestions_OfAnotherOrganizationAreNotThere(t *testing.T) {
	f := newFixture(t)
	f.bring(apitest.Org, "ca_1", "2026-02", "1", randomCharges(seed.Fixed(t, 4, 1), "2026-02", 3))
	q := costqueries.NewQuestion{From: "2026-02", To: "2026-03"}
	asked := f.ask(q)
	stranger := apitest.Caller(apitest.OtherOrg, "eve", "reports:read")
	f.Call(stranger, "GET "+asked.StatusURL).Want(404)
	got := apitest.Data[costqueries.Question](f.Call(stranger, "POST /reports/query", q), 202)
	if got.RowCount != 0 || got.ScannedBytes != 0 {
		t.Errorf("another organization sees %+v", got)
	}
}

func TestAsk_SeveralAtOnceAreNoMoreThanMayBeOpen(t *testing.T) {
	f := newFixture(t)
	f.Workers = lambdacall.Local{} // nothing answers a question
	f.CheckLimit(apitest.Addition{
		PK: costquery.RecordKey(apitest.Org, "").PK, Prefix: "qry_", Limit: 10,
		Send: func(string) apitest.Answer {
			return f.Call(ada, "POST /reports/query", map[string]any{"from": "2026-01", "to": "2026-02"})
		},
	}, costqueries.Operations)
}
