package billingsync_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/billing"
	domain "lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

const header = "BilledCost,EffectiveCost,ListCost,BillingCurrency,BillingAccountId,BillingPeriodStart," +
	"BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ServiceName,ProviderName,Tags\n"

// charge returns a row for one day of a month.
func charge(amount, month, day string) string {
	start := month + "-" + day + "T00:00:00Z"
	return amount + "," + amount + "," + amount + ",USD,acme," + month + "-01T00:00:00Z,," + start + "," + start +
		",Usage,Warehouse,Snowflake,{}\n"
}

func TestUpload_OfAVendorIsKeptUnderOther(t *testing.T) {
	s := newFixture(t)
	got := s.upload(fields{"vendor": "snowflake"},
		header+charge("1.25", "2026-09", "03")+charge("2.50", "2026-10", "04")+charge("0.005", "2026-10", "05"))
	if got.Status != "succeeded" || got.Rows != 3 || strings.Join(got.Periods, " ") != "2026-09 2026-10" ||
		len(got.Errors) != 0 || got.CompletedAt == nil {
		t.Fatalf("%+v", got)
	}
	if all := s.ask(cost.ProviderDim, cost.AccountDim); all.Total != money.MustParse("3.755") ||
		all.Rows[0].Keys[0] != "other" || all.Rows[0].Keys[1] != "other:snowflake" {
		t.Errorf("%+v", all)
	}
	// another file replaces only the month that it holds
	s.clk.Advance(time.Minute)
	s.upload(fields{"vendor": "snowflake"}, header+charge("7", "2026-10", "04"))
	s.clk.Advance(time.Minute)
	s.upload(fields{"vendor": "datadog"}, header+charge("100", "2026-10", "04"))
	if all := s.ask(); all.Total != money.MustParse("108.25") {
		t.Errorf("the total is %s", all.Total)
	}
	s.Call(alice, "GET /billing/imports", nil).Want(200, `"total":3`)
	s.Call(bob, "GET /billing/imports/"+got.JobID, nil).Want(404)
}

// googleRow is a row of a table of Google's billing export, as BigQuery extracts it as JSON.
func googleRow(cost, credit, day string) string {
	return `{"billing_account_id":"01-AB","service":{"description":"Compute Engine"},` +
		`"sku":{"id":"E2","description":"E2 Core"},` +
		`"usage_start_time":"` + day + ` 05:00:00 UTC","usage_end_time":"` + day +
		` 06:00:00 UTC","project":{"id":"acme-prod"},` +
		`"labels":[{"key":"team","value":"a"}],"location":{"location":"europe"},"cost":` + cost + `,"currency":"USD",` +
		`"credits":[{"name":"Committed use","amount":` + credit +
		`}],"invoice":{"month":"202610"},"cost_type":"regular"}` + "\n"
}

func TestUpload_OfGooglesExportCountsItsCredits(t *testing.T) {
	s := newFixture(t)
	got := s.upload(fields{"vendor": "google-2026"},
		googleRow("3e-10", "-0", "2026-10-01")+googleRow("2.5", "-0.5", "2026-10-02"))
	if got.Status != "succeeded" || got.Rows != 2 || strings.Join(got.Periods, " ") != "2026-10" {
		t.Fatalf("%+v", got)
	}
	if all := s.ask(cost.ServiceDim); all.Total != money.MustParse("2.0000000003") ||
		all.Rows[0].Keys[0] != "Compute Engine" {
		t.Errorf("%+v", all)
	}
}

func TestUpload_OfAFileThatIsWrongImportsNothingAndNamesTheRow(t *testing.T) {
	for name, tt := range map[string]struct {
		content string
		row     int64
		says    string
	}{
		"a cost that is none":   {header + charge("1", "2026-10", "01") + charge("1,5", "2026-10", "02"), 2, "row 2"},
		"no currency":           {header + strings.Replace(charge("1", "2026-10", "01"), "USD", "XXXX", 1), 1, "XXXX"},
		"no columns of FOCUS":   {"a,b\n1,2\n", 0, "BilledCost"},
		"nothing but a header":  {header, 0, "no rows"},
		"a second month broken": {header + charge("1", "2026-09", "01") + charge("1", "2026-10", "99"), 2, "row 2"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			got := s.upload(fields{"vendor": "acme"}, tt.content)
			if got.Status != "failed" || len(got.Errors) != 1 || got.Errors[0].Row != tt.row ||
				!strings.Contains(got.Errors[0].Message, tt.says) {
				t.Errorf("%+v", got)
			}
			if total := s.ask().Total; !total.IsZero() {
				t.Errorf("%s was imported", total)
			}
		})
	}
}

// The first write of an upload's end fails: the next try needs the file.
func TestUpload_WhoseEndCannotBeStoredKeepsItsFileUntilItIs(t *testing.T) {
	for write := 1; write <= 2; write++ { // the write of the start, and that of the end
		for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
			s := newFixture(t)
			jobID := s.offer("acme", header+charge("1.25", "2026-10", "01"))
			s.Workflow = s.engine
			s.store.Inject(table.Injection{
				Harm: harm, Method: table.WriteMethod,
				PK: domain.UploadKey("org_a", jobID).PK, Call: write,
			})
			s.Must(s.engine.Start(t.Context(), domain.UploadMachine, jobID,
				domain.Input{Org: "org_a", JobID: jobID, UploadID: jobID}))
			s.idle()
			s.store.RemoveFaults()
			got := apitest.Data[billing.ImportedFile](s.Call(alice, "GET /billing/imports/"+jobID, nil))
			if got.Status != "succeeded" || got.Rows != 1 || len(got.Errors) != 0 ||
				s.ask().Total != money.MustParse("1.25") {
				t.Errorf("write %d, harm %d: %+v", write, harm, got)
			}
			if _, err := s.inbox.Size(t.Context(), domain.UploadName("org_a", jobID)); !fault.Is(err, fault.NotFound) {
				t.Errorf("write %d, harm %d: the file is still there: %v", write, harm, err)
			}
		}
	}
}

func TestUpload_ThatNeverComesFails(t *testing.T) {
	s := newFixture(t)
	got := apitest.Data[billing.StartedImport](s.Call(alice, "POST /billing/imports",
		fields{"vendor": "acme", "fileName": "x.csv", "bytes": 10}), 202)
	s.Call(alice, "GET "+got.StatusURL, nil).Want(200, `"waiting"`)
	s.clk.Advance(2 * time.Hour)
	s.idle()
	s.Call(alice, "GET "+got.StatusURL, nil).Want(200, `"failed"`, "no file was uploaded in time")
}

func TestUpload_AddressesAreSigned(t *testing.T) {
	s := newFixture(t)
	got := apitest.Data[billing.StartedImport](s.Call(alice, "POST /billing/imports",
		fields{"vendor": "acme", "fileName": "x.csv", "bytes": 3}), 202)
	path := strings.TrimPrefix(got.UploadURL, "http://upload.test")
	put := func(method, path, content string) int {
		w := httptest.NewRecorder()
		s.inbox.ServeHTTP(w, httptest.NewRequestWithContext(s.Context(), method, path, strings.NewReader(content)))
		return w.Code
	}
	for name, tt := range map[string]struct {
		method, path, content string
		want                  int
	}{
		"another method":       {"GET", path, "", 405},
		"another file":         {"PUT", strings.Replace(path, got.JobID, "job_other", 1), "abc", 403},
		"another organization": {"PUT", strings.Replace(path, "org_a", "org_b", 1), "abc", 403},
		"a later end":          {"PUT", strings.Replace(path, "expires=1", "expires=2", 1), "abc", 403},
		"a longer file":        {"PUT", path, "abcd", 400},
	} {
		if got := put(tt.method, tt.path, tt.content); got != tt.want {
			t.Errorf("%s: %d; want %d", name, got, tt.want)
		}
	}
	s.clk.Advance(61 * time.Minute)
	if got := put("PUT", path, "abc"); got != 403 {
		t.Errorf("an hour later: %d", got)
	}
	s.idle()
}

func TestUpload_RefusesWhatItCannotBe(t *testing.T) {
	s := newFixture(t)
	for name, tt := range map[string]struct {
		body   fields
		status int
		says   string
	}{
		"nobody's":               {fields{}, 400, "vendor, cloudAccountID"},
		"two's":                  {fields{"vendor": "a", "cloudAccountID": "ca_1"}, 400, "exactly one"},
		"a vendor with a slash":  {fields{"vendor": "a/b"}, 400, "letters, digits"},
		"an account of nobody":   {fields{"cloudAccountID": "ca_01jzk5x0h2v3m4n5p6q7r8s9ta"}, 404, "no cloud account"},
		"a file of no bytes":     {fields{"vendor": "a", "bytes": 0}, 400, "bytes"},
		"a file of six gigabyte": {fields{"vendor": "a", "bytes": int64(6) << 30}, 400, "bytes"},
	} {
		body := fields{"fileName": "x", "bytes": 1}
		maps.Copy(body, tt.body)
		if got := s.Call(alice, "POST /billing/imports", body); got.Status != tt.status ||
			!strings.Contains(got.Body, tt.says) {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
}

// TestUpload_WhoseReadingEndsItsProcessIsParked makes each call of the import fail as Lambda reports a dead process.
func TestUpload_WhoseReadingEndsItsProcessIsParked(t *testing.T) {
	s := newFixture(t)
	calls, worker := 0, s.worker
	s.worker = func(ctx context.Context, input json.RawMessage) (any, error) {
		if c, err := workflow.ReadCall("billingsync", input); err == nil && c.Task == "import" && s.hasUpload(c) {
			calls++
			return nil, &workflow.TaskError{Name: "Runtime.ExitError", Cause: "signal: killed"}
		}
		return worker(ctx, input)
	}
	got := s.upload(fields{"vendor": "acme"}, header+charge("1", "2026-10", "01"))
	if got.Status != "failed" || len(got.Errors) != 1 ||
		!strings.Contains(got.Errors[0].Message, "Runtime.ExitError: signal: killed") {
		t.Errorf("%+v", got)
	}
	if calls != 3 {
		t.Errorf("the import was tried %d times; want 3", calls)
	}
	parked := apitest.Value(parkedWork(s))(s)
	if len(parked) != 1 || parked[0].ID != got.JobID || !parked[0].Ended ||
		!strings.Contains(parked[0].Why, "signal: killed") {
		t.Errorf("parked %+v", parked)
	}
	if _, err := s.inbox.Size(t.Context(), domain.UploadName("org_a", got.JobID)); !fault.Is(err, fault.NotFound) {
		t.Errorf("the file is still there: %v", err)
	}
	s.worker = worker
	if again := s.upload(fields{"vendor": "acme"}, header+charge("1", "2026-10", "01")); again.Status != "succeeded" {
		t.Errorf("the same file, asked for again: %+v", again)
	}
}

// hasUpload reports whether the file of an import is there: the machine looks for it before it is uploaded, too.
func (s *fixture) hasUpload(c workflow.Call) bool {
	var in domain.Input
	s.Must(json.Unmarshal(c.Input, &in))
	_, err := s.inbox.Size(s.Context(), domain.UploadName(in.Org, in.UploadID))
	return err == nil
}

func parkedWork(s *fixture) ([]workqueue.Parked, error) {
	parked, _, err := workqueue.ListParked(s.Context(), s.Table, "")
	return parked, err
}

// TestGiveUp_EndsTheRecordOfWorkThatIsParked calls the task as the sweeper does.
func TestGiveUp_EndsTheRecordOfWorkThatIsParked(t *testing.T) {
	s := newFixture(t)
	got := apitest.Data[billing.StartedImport](s.Call(alice, "POST /billing/imports",
		fields{"vendor": "acme", "fileName": "x.csv", "bytes": 10}), 202)
	input := apitest.Value(json.Marshal(domain.Input{Org: "org_a", JobID: got.JobID, UploadID: got.JobID}))(s)
	call := apitest.Value(json.Marshal(workflow.Call{
		Task: "giveUp", Input: input,
		Error: &workflow.Caught{Error: "Parked", Cause: "given up"},
	}))(s)
	apitest.Value(s.worker(s.Context(), call))(s)
	s.Call(alice, "GET "+got.StatusURL, nil).Want(200, `"failed"`, "given up")
	s.clk.Advance(2 * time.Hour)
	s.idle()
}

func TestUpload_SeveralAtOnceAreNoMoreThanMayWait(t *testing.T) {
	s := newFixture(t)
	s.CheckLimit(apitest.Addition{
		PK: domain.UploadKey(alice.Org, "").PK, Prefix: "job_", Limit: 20,
		Send: func(name string) apitest.Answer {
			return s.Call(alice, "POST /billing/imports", fields{"vendor": "acme", "fileName": name, "bytes": 10})
		},
	}, billing.Operations)
}
