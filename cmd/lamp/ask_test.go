package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newQuestion returns a desk whose service prices questions at $0.02, and answers at the third look, in two pieces.
func newQuestion(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	d.answers["POST /reports/query"] = func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		status := "pending"
		if strings.Contains(string(body), "dryRun") {
			status = "planned"
		}
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"data":{"status":%q,"statusURL":"/reports/queries/q1","priceUSD":"0.02","scannedBytes":7}}`,
			status)
	}
	looks := 0
	d.answers["GET /reports/queries/q1"] = func(w http.ResponseWriter, r *http.Request) {
		looks++
		switch {
		case looks < 3:
			io.WriteString(w, `{"data":{"status":"running","statusURL":"/reports/queries/q1"}}`)
		case r.URL.Query().Get("cursor") == "c2":
			io.WriteString(w, `{"data":{"status":"succeeded","columns":["ServiceName","BilledCost"],`+
				`"rows":[["EBS","1"]]}}`)
		default:
			io.WriteString(w, `{"data":{"status":"succeeded","statusURL":"/reports/queries/q1","nextCursor":"c2",`+
				`"columns":["ServiceName","BilledCost"],"rows":[["EC2","20.5"]]}}`)
		}
	}
	return d
}

func TestAsk_PricesFirstAndPrintsAllPieces(t *testing.T) {
	d := newQuestion(t)
	r := d.run("ask", "--from", "2026-10", "--to", "2026-11", "--by", "ServiceName", "--where", "RegionId=a", "--where",
		"RegionId=b", "--where", "Tags.env!=test", "-o", "csv")
	d.want(r, 0, "scans 7 bytes and costs $0.02")
	if want := "ServiceName,BilledCost\nEC2,20.5\nEBS,1\n"; r.out != want {
		t.Errorf("got %q, want %q", r.out, want)
	}
	question := `{"from":"2026-10","to":"2026-11","groupBy":["ServiceName"],"filters":[` +
		`{"column":"RegionId","operator":"is","values":["a","b"]},` +
		`{"column":"Tags.env","operator":"is_not","values":["test"]}]`
	want := []string{"POST /reports/query " + question + `,"dryRun":true}`, "POST /reports/query " + question + "}"}
	if got := d.sent("POST"); !slices.Equal(got, want) {
		t.Errorf("sent %q\nwant %q", got, want)
	}
}

func TestAsk_IsNotAskedAboveThePrice(t *testing.T) {
	for args, code := range map[string]int{
		"--max-usd 0.01": exitFailed, "--dry-run": 0, "--max-usd much": exitMisused, "--where x": exitMisused,
	} {
		d := newQuestion(t)
		d.want(d.run(append([]string{"ask", "--from", "2026-10", "--to", "2026-11"}, strings.Fields(args)...)...), code)
		for _, r := range d.sent("POST") {
			if !strings.Contains(r, "dryRun") {
				t.Errorf("%s: sent %s", args, r)
			}
		}
	}
}

func TestAsk_AFailedQuestion(t *testing.T) {
	d := newQuestion(t)
	d.answer("GET /reports/queries/q1", `{"status":"failed","error":"out of budget"}`)
	d.want(d.run("ask", "--from", "2026-10", "--to", "2026-11"), exitFailed, "out of budget")
}

func TestAPI_SendsAnyRequest(t *testing.T) {
	d := newDesk(t)
	d.answer("GET /teams", `{"items":[]}`)
	d.answer("POST /teams", `{"id":"team_1"}`)
	d.answer("PUT /teams/team_1", `{"id":"team_1"}`)
	input := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(input, []byte(`{"name":"b"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d.want(d.run("api", "get", "/teams?limit=3&search=a%20b"), 0, "{\n  \"data\": {\n    \"items\": []\n  }\n}\n")
	d.want(d.run("api", "POST", "/teams", "-F", "name=a", "-F", "members=[1]", "-F", "x=1"), 0, "team_1")
	d.want(d.run("api", "PUT", "/teams/team_1", "--input", input), 0)
	d.typed = `{"name":"c"}`
	d.want(d.run("api", "PUT", "/teams/team_1", "--input", "-"), 0)
	want := []string{
		"GET /teams?limit=3&search=a+b", `POST /teams {"members":[1],"name":"a","x":1}`,
		`PUT /teams/team_1 {"name":"b"}`, `PUT /teams/team_1 {"name":"c"}`,
	}
	if got := d.sent(""); !slices.Equal(got, want) {
		t.Errorf("sent %q\nwant %q", got, want)
	}
	d.typed = "no JSON"
	for _, args := range [][]string{
		{"api", "GET", "teams"},
		{"api", "GET"},
		{"api", "GET", "/x?%zz"},
		{"api", "POST", "/teams", "-F", "x"},
		{"api", "PUT", "/teams", "--input", "-"},
		{"api", "PUT", "/teams", "--input", input + ".missing"},
	} {
		d.want(d.run(args...), exitMisused)
	}
}
