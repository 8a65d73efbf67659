package queryrunner_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	service "github.com/aws/aws-sdk-go-v2/service/athena"

	"lamplighter.dev/functions/queryrunner"
	"lamplighter.dev/functions/queryrunner/athena"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// fixture is a question of February, a month with one line item, and a twin of Athena.
type fixture struct {
	*apitest.Fixture
	sql    []string // the queries sent to Athena
	state  string
	rows   string // JSON, as GetQueryResults has them
	client *athena.Client
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t), state: "RUNNING"}
	f.Lines = archive.NewFolder(t.TempDir())
	at := time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)
	b, err := cost.New(f.Platform).Begin(f.In(apitest.Org), cost.Import{
		Org: apitest.Org, AccountID: "ca_1", Provider: "aws", Month: cost.MonthOf(at), Fingerprint: "1",
		DeliveredAt: f.Clock.Now(),
	})
	f.Must(err)
	w := billfile.NewLineItemWriter(f.Lines, b)
	f.Must(w.Add(f.In(apitest.Org), &bill.Charge{
		ChargePeriodStart: at, ServiceName: "EC2", BillingCurrency: "USD", ChargeCategory: bill.Usage,
		BilledCost: money.FromInt(3),
	}))
	f.Must(w.Close(f.In(apitest.Org)))
	_, err = b.Commit(f.In(apitest.Org))
	f.Must(err)
	r := costquery.Record{ID: "qry_1", Status: costquery.Pending, CreatedAt: f.Clock.Now(), Query: costquery.Query{
		From: at.AddDate(0, 0, -2), To: at.AddDate(0, 1, -2), GroupBy: []string{"ServiceName"},
		Measures: []string{"BilledCost"}, Limit: 2,
	}}
	put, err := costquery.PutRecord(apitest.Org, &r)
	f.Must(err)
	f.Write(put)
	f.listen()
	return f
}

// listen makes the client talk to a twin of Athena.
func (f *fixture) listen() {
	f.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
		var in struct{ QueryString string }
		_ = json.NewDecoder(req.Body).Decode(&in) // another request has no query
		body := f.rows
		switch {
		case strings.HasSuffix(req.Header.Get("X-Amz-Target"), ".StartQueryExecution"):
			f.sql = append(f.sql, in.QueryString)
			body = `{"QueryExecutionId":"exec"}`
		case strings.HasSuffix(req.Header.Get("X-Amz-Target"), ".GetQueryExecution"):
			body = `{"QueryExecution":{"Status":{"State":"` + f.state +
				`","StateChangeReason":"Bytes scanned limit was exceeded"},` +
				`"Statistics":{"DataScannedInBytes":20000000}}}`
		}
		if _, err := res.Write([]byte(body)); err != nil {
			f.Error(err)
		}
	}))
	f.Cleanup(s.Close)
	cfg := aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	f.client = athena.New(cfg, "w", "d", func(o *service.Options) { o.BaseEndpoint = &s.URL })
}

const request = `{"org":"` + apitest.Org + `","queryID":"qry_1"}`

// advance polls the question with an engine, and returns its record.
func (f *fixture) advance(e costquery.Engine) costquery.Record {
	f.Helper()
	_, err := queryrunner.Handler(f.Platform, e)(f.In(apitest.Org), json.RawMessage(request))
	f.Must(err)
	return apitest.Read[costquery.Record](f.Fixture, costquery.RecordKey(apitest.Org, "qry_1"))
}

func TestAthena_IsAskedOnceAndPolled(t *testing.T) {
	f := newFixture(t)
	e := queryrunner.NewAthena(f.client)
	for range 3 {
		if r := f.advance(e); r.Status != costquery.Running || r.Execution != "exec" {
			t.Errorf("%+v", r)
		}
	}
	if len(f.sql) != 1 || !strings.Contains(f.sql[0], "org = '"+apitest.Org+"' AND period IN ('aws/ca_1/2026-02/gen=") {
		t.Errorf("Athena was asked %q", f.sql)
	}
	f.state = "SUCCEEDED"
	f.rows = `{"ResultSet":{"Rows":[{"Data":[{"VarCharValue":"_col0"}]},
		{"Data":[{"VarCharValue":"EC2"},{"VarCharValue":"USD"},{"VarCharValue":"3.00000000000000000000000000"},` +
		`{"VarCharValue":"0.000000000000000000000000000001"}]},
		{"Data":[{"VarCharValue":"A"},{"VarCharValue":"USD"},{"VarCharValue":"3.00000000000000000000000000"},` +
		`{"VarCharValue":"0"}]},
		{"Data":[{"VarCharValue":"B"},{"VarCharValue":"USD"},{"VarCharValue":"-1"},{"VarCharValue":"0"}]}]}}`
	r := f.advance(e)
	if r.Status != costquery.Succeeded || r.Scanned != 20_000_000 || !r.Truncated || r.Rows != 2 || r.Pages != 1 {
		t.Errorf("%+v", r)
	}
	f.Equal("rows", apitest.Read[costquery.Page](f.Fixture, costquery.PageKey(apitest.Org, "qry_1", 0)).Rows,
		[][]string{{"EC2", "USD", "3.000000000000000000000000000001"}, {"A", "USD", "3"}})
	f.rows = "" // it is not asked again
	f.advance(e)
}

func TestAthena_SaysWhyItDidNotAnswer(t *testing.T) {
	f := newFixture(t)
	e := queryrunner.NewAthena(f.client)
	f.advance(e)
	f.state = "CANCELLED"
	if r := f.advance(e); r.Status != costquery.Failed || !strings.Contains(r.Error, "Bytes scanned limit") ||
		r.EndedAt.IsZero() {
		t.Errorf("%+v", r)
	}
}

func TestTheEngineOfTheProcess_AnswersAtOnce(t *testing.T) {
	f := newFixture(t)
	r := f.advance(billfile.NewLineItemEngine(f.Lines, f.Clock))
	if r.Status != costquery.Succeeded || r.Rows != 1 || r.Truncated || r.Scanned == 0 {
		t.Errorf("%+v", r)
	}
}

func TestFilesThatAreAway_AreAskedAgain(t *testing.T) {
	f := newFixture(t)
	e := billfile.NewLineItemEngine(archive.NewFolder(t.TempDir()), f.Clock)
	_, err := queryrunner.Handler(f.Platform, e)(f.In(apitest.Org), json.RawMessage(request))
	if err == nil || fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	if r := f.advance(billfile.NewLineItemEngine(f.Lines, f.Clock)); r.Status != costquery.Succeeded {
		t.Errorf("%+v", r)
	}
}
