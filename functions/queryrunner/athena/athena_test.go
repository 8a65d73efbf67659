package athena_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	service "github.com/aws/aws-sdk-go-v2/service/athena"

	"lamplighter.dev/functions/queryrunner/athena"
	"lamplighter.dev/shared/foundation/fault"
)

type fields = map[string]any

// twin speaks Athena's protocol: it checks requests, and returns prepared responses.
type twin struct {
	*testing.T
	asked   []string
	state   string
	reason  string
	pages   [][][]string // rows of pages
	refuses string       // an exception in response to every request
}

func (w *twin) ServeHTTP(res http.ResponseWriter, req *http.Request) {
	var in fields
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil ||
		!strings.HasPrefix(req.Header.Get("Authorization"), "AWS4-HMAC-SHA256") {
		w.Errorf("a request that is none: %v", err)
	}
	call := strings.TrimPrefix(req.Header.Get("X-Amz-Target"), "AmazonAthena.")
	w.asked = append(w.asked, call)
	if w.refuses != "" {
		res.WriteHeader(http.StatusBadRequest)
		w.writeJSON(res, fields{"__type": w.refuses, "Message": "no"})
		return
	}
	switch call {
	case "StartQueryExecution":
		w.startQuery(res, in)
	case "GetQueryExecution":
		w.writeJSON(res, fields{"QueryExecution": fields{
			"Status":     fields{"State": w.state, "StateChangeReason": w.reason},
			"Statistics": fields{"DataScannedInBytes": 12345678},
		}})
	case "GetQueryResults":
		w.writeResults(res, in)
	default:
		w.Errorf("Athena knows no %q", call)
	}
}

func (w *twin) startQuery(res http.ResponseWriter, in fields) {
	where, _ := in["QueryExecutionContext"].(fields)
	token, _ := in["ClientRequestToken"].(string)
	if in["QueryString"] != "SELECT 1" || in["WorkGroup"] != "lamplighter-dev" ||
		where["Database"] != "lamplighter_dev" || len(token) < 32 || len(token) > 128 ||
		in["ResultConfiguration"] != nil {
		w.Errorf("it starts %v", in)
	}
	w.writeJSON(res, fields{"QueryExecutionId": "exec-of-" + token})
}

func (w *twin) writeResults(res http.ResponseWriter, in fields) {
	n := 0
	if token, ok := in["NextToken"].(string); ok {
		_, _ = fmt.Sscan(token, &n) // 0 for the first page
	}
	var rows []fields
	for _, r := range w.pages[n] {
		var data []fields
		for _, text := range r {
			if text == "NULL" {
				data = append(data, fields{})
			} else {
				data = append(data, fields{"VarCharValue": text})
			}
		}
		rows = append(rows, fields{"Data": data})
	}
	out := fields{"ResultSet": fields{"Rows": rows}}
	if n+1 < len(w.pages) {
		out["NextToken"] = strconv.Itoa(n + 1)
	}
	w.writeJSON(res, out)
}

func (w *twin) writeJSON(res http.ResponseWriter, v any) {
	res.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if err := json.NewEncoder(res).Encode(v); err != nil {
		w.Error(err)
	}
}

func newClient(t *testing.T) (*athena.Client, *twin) {
	t.Helper()
	w := &twin{T: t, state: "QUEUED"}
	s := httptest.NewServer(w)
	t.Cleanup(s.Close)
	cfg := aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	return athena.New(cfg, "lamplighter-dev", "lamplighter_dev", func(o *service.Options) {
		o.BaseEndpoint, o.RetryMaxAttempts = &s.URL, 1
	}), w
}

func TestAQuery_IsStartedOnceByItsToken(t *testing.T) {
	c, _ := newClient(t)
	first, err := c.Start(t.Context(), "qry_1", "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Start(t.Context(), "qry_1", "SELECT 1")
	if err != nil || first != second || first == "" {
		t.Errorf("%q and %q: %v", first, second, err)
	}
}

func TestAQuery_TellsHowItIs(t *testing.T) {
	c, w := newClient(t)
	for state, want := range map[string]athena.State{
		"QUEUED": {Scanned: 12345678}, "RUNNING": {Scanned: 12345678}, "SUCCEEDED": {Done: true, Scanned: 12345678},
		"FAILED":    {Done: true, Failure: "FAILED: Decimal overflow", Scanned: 12345678},
		"CANCELLED": {Done: true, Failure: "CANCELLED: Decimal overflow", Scanned: 12345678},
	} {
		w.state, w.reason = state, "Decimal overflow"
		if got, err := c.Look(t.Context(), "exec"); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", state, got, err, want)
		}
	}
}

func TestRows_AreThoseOfAllPagesWithoutTheirNames(t *testing.T) {
	c, w := newClient(t)
	w.pages = [][][]string{{{"_col0", "_col1"}, {"EC2", "1.5"}}, {{"", "2"}, {"NULL", "3"}}}
	var got []string
	err := c.Rows(t.Context(), "exec", func(r []string) error {
		got = append(got, strings.Join(r, "|"))
		return nil
	})
	if want := []string{"EC2|1.5", "|2", "|3"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestErrors_SayWhetherToTryAgain(t *testing.T) {
	c, w := newClient(t)
	for exception, kind := range map[string]fault.Kind{
		"TooManyRequestsException": fault.Unavailable,
		"InternalServerException":  fault.Unavailable, "InvalidRequestException": fault.Internal,
	} {
		w.refuses = exception
		if _, err := c.Start(t.Context(), "qry_1", "SELECT 1"); !fault.Is(err, kind) {
			t.Errorf("%s: %v", exception, err)
		}
	}
	if _, err := c.Look(t.Context(), "exec"); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
	if err := c.Rows(t.Context(), "exec", func([]string) error { return nil }); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}
