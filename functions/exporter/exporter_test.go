package exporter_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/exporter"
	"lamplighter.dev/functions/exports"
	"lamplighter.dev/functions/links"
	"lamplighter.dev/functions/reports"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const ours, theirs = apitest.Org, apitest.OtherOrg

var (
	ada = apitest.Caller(ours, "ada", "viewer")
	bob = apitest.Caller(ours, "bob", "viewer")
)

// fixture is the operations in front of a worker; the test runs the steps of its machine itself.
type fixture struct {
	*apitest.Fixture
	files  *archive.FolderInbox
	worker workflow.Handler
	store  *table.FaultyStore
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	a := &fixture{Fixture: apitest.New(t)}
	a.store = table.NewFaultyStore(a.Table, a.Clock)
	a.Table = a.store
	root := t.TempDir()
	a.files = archive.NewFolderInbox(root, "http://files.test", []byte("a key"), a.Clock)
	a.Archive, a.Outbox, a.Lines = archive.NewFolder(root), a.files, archive.NewFolder(t.TempDir())
	a.Workflow = apitest.Idle{}
	a.worker = exporter.Handler(a.Platform)
	a.Workers = lambdacall.Local{archive.LinkWorker: lambdacall.Handler(links.Handler(a.Platform))}
	a.Mount(exports.Operations, reports.Operations)
	return a
}

// bill imports a month with this number of resources that cost something each day: amounts of many digits, credits,
// and names that are formulas.
func (a *fixture) bill(org, month string, resources int) {
	a.Helper()
	m := apitest.Value(cost.ParseMonth(month))(a)
	b := apitest.Value(cost.New(a.Platform).Begin(a.In(org), cost.Import{
		Org: org, AccountID: "ca_1", Provider: "aws", Month: m, Fingerprint: month + strconv.Itoa(resources),
		DeliveredAt: a.Clock.Now(), Source: "data_export",
	}))(a)
	for d := range 9 {
		at := m.Start().AddDate(0, 0, d)
		for i := range resources {
			amount := money.MustParse(fmt.Sprintf("%d.0050000001", i%7+1))
			c := bill.Charge{
				BillingPeriodStart: m.Start(), ChargePeriodStart: at, ChargeCategory: bill.Usage,
				SubAccountID: "123456789012", ServiceName: "=HYPERLINK(\"http://evil\")",
				RegionID: "eu-west-1", ResourceID: fmt.Sprintf("i-%d", i), BillingCurrency: cost.USD,
				BilledCost: amount, EffectiveCost: amount.MulInt(2), ListCost: amount.MulInt(3),
			}
			if i%5 == 4 {
				c.ChargeCategory, c.BilledCost = bill.Credit, amount.Neg()
			}
			a.Must(b.Add(&c))
		}
	}
	apitest.Value(b.Commit(a.In(org)))(a)
}

// begin requests an export that becomes a job.
func (a *fixture) begin(who identity.Caller, query string) rest.Job {
	a.Helper()
	return apitest.Data[rest.Job](a.Call(who, "GET /reports/export?"+query), http.StatusAccepted)
}

// turn runs one task of a job's machine.
func (a *fixture) turn(task, jobID string) error {
	in, err := json.Marshal(map[string]any{"task": task, "input": report.ExportInput{Org: ours, JobID: jobID}})
	a.Must(err)
	_, err = a.worker(a.Context(), in)
	return err
}

func (a *fixture) job(j rest.Job) exports.Export {
	a.Helper()
	return apitest.Data[exports.Export](a.Call(ada, "GET "+j.StatusURL))
}

// fetch downloads the file behind a link.
func (a *fixture) fetch(url string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	a.files.ServeDownload(w,
		httptest.NewRequestWithContext(a.Context(), http.MethodGet, strings.TrimPrefix(url, "http://files.test"), nil))
	return w
}

func TestExport_OfAllFormatsAddsUpToTheReport(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, "2026-02", 3)
	a.bill(ours, "2026-03", 1200) // 10,800 rows a month: too many for an answer
	a.bill(theirs, "2026-03", 2000)
	want := apitest.Data[reports.Breakdown](a.Call(ada, "GET /reports/costs/breakdown?period=2026-03"))
	for format, read := range map[string]func([]byte) (int64, money.Amount){
		"csv": a.readCSV, "ndjson": a.readLines,
		"parquet": a.readParquet,
	} {
		j := a.begin(ada, "period=2026-03&format="+format)
		if again := a.begin(ada, "format="+format+"&period=2026-03"); again.JobID != j.JobID ||
			a.job(j).Status != "running" || a.job(j).DownloadURL != nil {
			t.Errorf("%s: the same question while it runs is %s, not %s: %+v", format, again.JobID, j.JobID, a.job(j))
		}
		if other := a.begin(bob, "period=2026-03&format="+format); other.JobID == j.JobID {
			t.Errorf("%s: somebody else got the same job", format)
		}
		a.Must(a.turn("export", j.JobID))
		got := a.job(j)
		rows, sum := read(a.fetch(*got.DownloadURL).Body.Bytes())
		if got.Status != "succeeded" || got.Rows != 10_800 || rows != got.Rows || sum.String() != *got.BilledUSD ||
			sum.Fixed(2) != want.TotalUSD {
			t.Errorf("%s: %d rows of %s; want %s of %+v", format, rows, sum, want.TotalUSD, got)
		}
		a.Call(bob, "GET "+j.StatusURL).Want(http.StatusNotFound)
		a.Call(apitest.Caller(ours, "ada", "admin"), "GET "+j.StatusURL).Want(http.StatusNotFound, "the same rights")
		a.Call(apitest.Caller(theirs, "ada", "viewer"), "GET "+j.StatusURL).Want(http.StatusNotFound)
		if next := a.begin(ada, "period=2026-03&format="+format); next.JobID == j.JobID {
			t.Errorf("%s: a job that has ended is begun again", format)
		}
	}
}

func (a *fixture) unzip(b []byte) []byte {
	z := apitest.Value(gzip.NewReader(bytes.NewReader(b)))(a)
	return apitest.Value(io.ReadAll(z))(a)
}

func (a *fixture) readCSV(b []byte) (rows int64, sum money.Amount) {
	all := apitest.Value(csv.NewReader(bytes.NewReader(a.unzip(b))).ReadAll())(a)
	for _, cells := range all[1:] {
		if cells[7] != `'=HYPERLINK("http://evil")` {
			a.Fatalf("a formula: %q", cells)
		}
		rows, sum = rows+1, sum.Add(money.MustParse(cells[11]))
	}
	return rows, sum
}

func (a *fixture) readLines(b []byte) (rows int64, sum money.Amount) {
	for line := range strings.Lines(string(a.unzip(b))) {
		var row struct{ BilledCost string }
		a.Must(json.Unmarshal([]byte(line), &row))
		rows, sum = rows+1, sum.Add(money.MustParse(row.BilledCost))
	}
	return rows, sum
}

type opened struct{ *bytes.Reader }

func (opened) Close() error { return nil }

func (a *fixture) readParquet(b []byte) (rows int64, sum money.Amount) {
	_, err := billfile.Read(a.Context(), cloud.FOCUSForm, "costs.parquet", opened{bytes.NewReader(b)},
		func(c *bill.Charge) error {
			rows, sum = rows+1, sum.Add(c.BilledCost)
			return nil
		})
	a.Must(err)
	return rows, sum
}

func TestExport_OfFewRowsIsTheAnswer(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, "2026-03", 10)
	got := a.Call(ada, "GET /reports/export?period=2026-03").Want(http.StatusOK)
	a.Equal("file", got.Header.Get("Content-Disposition"), `attachment; filename="costs.csv"`)
	rows := apitest.Value(csv.NewReader(strings.NewReader(got.Body)).ReadAll())(a)
	a.Equal("rows", len(rows), 1+90)
	a.Equal("a credit", strings.Join(rows[5], ","),
		`2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,AWS,123456789012,`+
			`eu-west-1,'=HYPERLINK("http://evil"),i-4,Credit,USD,-5.0050000001,10.0100000002,15.0150000003`)
	nd := a.Call(ada,
		"GET /reports/export?from=2026-03-01&to=2026-03-02&format=ndjson&filter[resource_uid]=i-0").Want(http.StatusOK)
	a.Equal("a line", nd.Body,
		`{"ChargePeriodStart":"2026-03-01T00:00:00Z","ChargePeriodEnd":"2026-03-02T00:00:00Z",`+
			`"BillingPeriodStart":"2026-03-01T00:00:00Z","BillingPeriodEnd":"2026-04-01T00:00:00Z",`+
			`"ProviderName":"AWS","SubAccountId":"123456789012","RegionId":"eu-west-1",`+
			`"ServiceName":"=HYPERLINK(\"http://evil\")","ResourceId":"i-0","ChargeCategory":"Usage",`+
			`"BillingCurrency":"USD","BilledCost":"1.0050000001","EffectiveCost":"2.0100000002",`+
			`"ListCost":"3.0150000003"}`+"\n")
	for query, says := range map[string]string{
		"format=xml": "format", "period=2026-13": "2026-13", "filter[nonsense]=1": "nonsense",
		"from=2020-01-01&to=2026-01-01": "800", "from=2026-03-02&to=2026-03-01": "from",
		"format=parquet&filter[nonsense]=1": "nonsense",
	} {
		a.Call(ada, "GET /reports/export?"+query).Want(http.StatusBadRequest, says)
	}
	a.Call(ada, "GET /reports/export?period=2020-01").Want(http.StatusOK, "ChargePeriodStart")
	a.Call(ada, "GET /reports/exports/job_nonsense").Want(http.StatusNotFound, "job_nonsense")
	a.Call(apitest.Caller(ours, "eve", "resources:read"), "GET /reports/export").Want(http.StatusForbidden)
}

// TestExport_CanBeImported reads each exported file as an upload of a bill is read.
func TestExport_CanBeImported(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, "2026-03", 10)
	for _, format := range []string{"csv", "ndjson"} {
		got := a.Call(ada, "GET /reports/export?period=2026-03&format="+format).Want(http.StatusOK)
		var sum money.Amount
		totals, err := billfile.Read(a.Context(), cloud.FOCUSForm, "costs."+format,
			opened{bytes.NewReader([]byte(got.Body))}, func(c *bill.Charge) error {
				sum = sum.Add(c.BilledCost)
				return nil
			})
		if err != nil || totals.Rows != 90 || sum.String() != "162.2700000054" {
			t.Errorf("%s: %v, %d rows of %s", format, err, totals.Rows, sum)
		}
	}
}

// TestExport_NamesTheAmountsThatItLeavesOut: charges without an exchange rate are in no row.
func TestExport_NamesTheAmountsThatItLeavesOut(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, "2026-02", 3)
	m := apitest.Value(cost.ParseMonth("2026-03"))(a)
	b := apitest.Value(cost.New(a.Platform).Begin(a.In(ours), cost.Import{
		Org: ours, AccountID: "ca_2", Provider: "aws", Month: m, Fingerprint: "rupees", DeliveredAt: a.Clock.Now(),
	}))(a)
	for _, currency := range []string{"INR", "JPY", cost.USD} {
		a.Must(b.Add(&bill.Charge{
			BillingPeriodStart: m.Start(), ChargePeriodStart: m.Start(), ChargeCategory: bill.Usage,
			BillingCurrency: currency, BilledCost: money.MustParse("12.345"),
		}))
	}
	apitest.Value(b.Commit(a.In(ours)))(a)
	got := a.Call(ada, "GET /reports/export?period=2026-03").Want(http.StatusOK)
	a.Equal("of the answer", got.Header.Get("X-Unconverted-Costs"), "INR 12.345, JPY 12.345")
	got = a.Call(ada, "GET /reports/export?period=2026-02").Want(http.StatusOK)
	a.Equal("of a month without them", got.Header.Get("X-Unconverted-Costs"), "")
	j := a.begin(ada, "period=2026-03&format=parquet")
	a.Must(a.turn("export", j.JobID))
	a.Equal("of a job", a.job(j).Unconverted, []report.Unconverted{
		{Currency: "INR", Amount: "12.345"},
		{Currency: "JPY", Amount: "12.345"},
	})
	a.Equal("the rest", *a.job(j).BilledUSD, "12.345")
}

func TestExport_OfAScopedCallerHoldsWhatTheySee(t *testing.T) {
	a := newFixture(t)
	ids := inventorytest.Discover(a.Fixture, ours, "aws-ec2", inventorytest.Instances(6)...)
	web := inventorytest.Team(a.Fixture, ours, "Web", ids[0])
	a.bill(ours, "2026-03", 6)
	scoped := apitest.Caller(ours, "ada", "viewer team:"+web)
	j := a.begin(scoped, "period=2026-03&format=parquet")
	a.Must(a.turn("export", j.JobID))
	got := apitest.Data[exports.Export](a.Call(scoped, "GET "+j.StatusURL))
	if rows, sum := a.readParquet(a.fetch(*got.DownloadURL).Body.Bytes()); rows != 9 || sum.String() != "9.0450000009" {
		t.Errorf("%d rows of %s", rows, sum)
	}
	a.Call(ada, "GET "+j.StatusURL).Want(http.StatusNotFound)
}

func TestExport_LinksEndAndFilesExpire(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, "2026-03", 3)
	j := a.begin(ada, "period=2026-03&format=parquet")
	a.Must(a.turn("export", j.JobID))
	got := a.job(j)
	link := *got.DownloadURL
	a.Equal("name", a.fetch(link).Header().Get("Content-Disposition"), "attachment; filename=costs-2026-03-01.parquet")
	for name, other := range map[string]string{
		"a later end":          strings.Replace(link, "expires=1", "expires=2", 1),
		"another file":         strings.Replace(link, j.JobID, "job_other", 1),
		"another organization": strings.Replace(link, ours, theirs, 1),
		"another name":         strings.Replace(link, "costs-", "other-", 1),
		"no signature":         strings.Split(link, "?")[0],
	} {
		if w := a.fetch(other); w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	a.Clock.Advance(16 * time.Minute)
	a.Equal("a quarter of an hour later", a.fetch(link).Code, http.StatusForbidden)
	a.Equal("another link", a.fetch(*a.job(j).DownloadURL).Code, http.StatusOK)
	a.Clock.Advance(24*time.Hour - 17*time.Minute)
	last := *a.job(j).DownloadURL
	a.Clock.Advance(2 * time.Minute)
	if got = a.job(j); got.Status != "expired" || got.DownloadURL != nil || a.fetch(last).Code != http.StatusForbidden {
		t.Errorf("after a day: %+v", got)
	}
	out := apitest.Value(a.worker(a.Context(), json.RawMessage(`{}`)))(a)
	a.Equal("removed", fmt.Sprint(out), "{1}")
	if err := a.files.ReadAt(a.Context(), report.ExportObjectName(ours, j.JobID), make([]byte, 1), 0); err == nil {
		t.Error("the file is still there")
	}
	a.Equal("removed again", fmt.Sprint(apitest.Value(a.worker(a.Context(), json.RawMessage(`{}`)))(a)), "{0}")
}

func TestExport_IsBegunAgainAfterAKillAndFailsAloud(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, "2026-03", 3)
	j := a.begin(ada, "period=2026-03&format=parquet")
	for n := range 40 { // killed at each of its calls to the store
		a.store.RemoveFaults()
		a.store.Inject(table.Injection{Harm: table.FailAfter, Call: n + 1})
		if a.turn("export", j.JobID) == nil {
			break
		}
	}
	a.store.RemoveFaults()
	a.Must(a.turn("export", j.JobID))
	a.Must(a.turn("export", j.JobID)) // twice is once
	a.Must(a.turn("finish", j.JobID))
	a.Equal("status", a.job(j).Status, "succeeded")
	page := apitest.Value(a.Table.Query(table.Within(a.Context(), workqueue.Prefix),
		table.Query{PK: workqueue.WorkKey(j.JobID).PK, Limit: 10}))(a)
	a.Equal("work", len(page.Items), 0)

	lost := a.begin(ada, "period=2026-03&format=parquet")
	in := apitest.Value(json.Marshal(map[string]any{
		"task": "abandon", "input": report.ExportInput{Org: ours, JobID: lost.JobID},
		"error": map[string]string{"Error": "Runtime.ExitError", "Cause": "out of disk"},
	}))(a)
	apitest.Value(a.worker(a.Context(), in))(a)
	if got := a.job(lost); got.Status != "failed" || got.Message == nil ||
		!strings.Contains(*got.Message, "out of disk") {
		t.Errorf("%+v", got)
	}
	a.Must(a.turn("export", lost.JobID))
	a.Equal("one that has failed", a.job(lost).Status, "failed")
}

func TestExport_RefusesTooManyAtOnce(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, "2026-03", 1)
	for d := range report.MaxExportsUnderway {
		a.begin(ada, fmt.Sprintf("from=2026-03-%02d&to=2026-04-01&format=parquet", d+1))
	}
	a.Call(ada, "GET /reports/export?period=2026-02&format=parquet").Want(http.StatusConflict, "10 exports")
	a.begin(ada, "from=2026-03-01&to=2026-04-01&format=parquet")
	a.Clock.Advance(5 * time.Hour) // longer than any of them may take
	a.begin(ada, "period=2026-02&format=parquet")
}

func TestExport_SeveralAtOnceAreNoMoreThanMayRun(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, "2026-03", 1)
	days := map[string]string{"pattern": "2", "late-0": "3", "late-1": "4", "late-2": "5", "late-3": "6"}
	a.CheckLimit(apitest.Addition{
		PK: report.ExportKey(ours, "").PK, Prefix: report.ExportKey(ours, "").SK, Limit: report.MaxExportsUnderway,
		Send: func(name string) apitest.Answer {
			return a.Call(ada, "GET /reports/export?format=parquet&to=2026-04-01&from=2026-03-0"+days[name])
		},
	}, exports.Operations)
}

func TestMachine_EndsJobs(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, "2026-03", 3)
	engine := a.RunMachines(apitest.Machines(t, report.ExportMachine),
		map[string]workflow.Handler{report.ExportWorker: a.worker})
	j := a.begin(ada, "period=2026-03&format=parquet")
	a.Must(engine.Idle(a.Context()))
	a.Equal("status", a.job(j).Status, "succeeded")
}

func TestExport_OfCostsThatChangeMeanwhileIsNone(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, "2026-03", 2)
	q := cost.Question{
		From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		To:   time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC),
	}
	asked := 0
	ask := func(ctx context.Context, q cost.Question) (cost.Answer, error) {
		if asked++; asked == 4 {
			a.Clock.Advance(time.Hour)
			a.bill(ours, "2026-03", 3)
		}
		return cost.New(a.Platform).Ask(ctx, ours, q)
	}
	_, err := report.EachExportRow(a.In(ours), ask, q, func(*report.ExportRow) (bool, error) { return true, nil })
	if err == nil || !strings.Contains(err.Error(), "costs have changed") {
		t.Errorf("got %v", err)
	}
}

// stuck is an outbox that cannot delete the file name.
type stuck struct {
	archive.Outbox
	name string
}

func (s stuck) Remove(ctx context.Context, name string) error {
	if name == s.name {
		return errors.New("access denied")
	}
	return s.Outbox.Remove(ctx, name)
}

func TestExport_AFileThatCannotBeRemovedKeepsNoOtherFromBeing(t *testing.T) {
	a := newFixture(t)
	a.bill(ours, "2026-03", 3)
	var jobs []string
	for range 3 {
		j := a.begin(ada, "period=2026-03&format=parquet")
		a.Must(a.turn("export", j.JobID))
		jobs = append(jobs, j.JobID)
		a.Clock.Advance(time.Second)
	}
	files := a.Outbox
	a.Outbox = stuck{files, report.ExportObjectName(ours, jobs[0])}
	a.Clock.Advance(25 * time.Hour)
	out, err := a.worker(a.Context(), json.RawMessage(`{}`))
	if err == nil || !strings.Contains(err.Error(), jobs[0]) || fmt.Sprint(out) != "{2}" {
		t.Errorf("removed %v, %v; want the two others removed, and the first one named", out, err)
	}
	a.Outbox = files
	a.Equal("removed in the next hour", fmt.Sprint(apitest.Value(a.worker(a.Context(), json.RawMessage(`{}`)))(a)),
		"{1}")
}
