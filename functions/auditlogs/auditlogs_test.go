package auditlogs

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

const ours, theirs = apitest.Org, apitest.OtherOrg

type fixture struct{ *apitest.Fixture }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{apitest.New(t, Operations)}
}

// get asks as a caller of org who holds policies, or those that the group asks for.
func (a *fixture) get(org, target string, policies ...string) apitest.Answer {
	a.Helper()
	if policies == nil {
		policies = []string{policy}
	}
	r := httptest.NewRequestWithContext(a.Context(), http.MethodGet, "/", http.NoBody)
	u := apitest.Value(r.URL.Parse(target))(a)
	r.URL = u
	return a.Serve(apitest.Caller(org, "ada", strings.Join(policies, ",")), r)
}

// write puts rows on record, one a minute.
func (a *fixture) write(org string, rows ...audit.Row) {
	a.Helper()
	for _, r := range rows {
		if r.IP == "" {
			r.IP = "192.0.2.1"
		}
		apitest.Value(audit.New(a.Platform).Append(a.Context(), org, r))(a)
		a.Clock.Advance(time.Minute)
	}
}

// numberedRows are n rows that differ in their action.
func numberedRows(n int) []audit.Row {
	out := make([]audit.Row, n)
	for i := range out {
		out[i] = audit.Row{
			Actor: "ada@example.com", Action: fmt.Sprint("action", i+1), ResourceType: "teams",
			Category: audit.Platform, Status: 200,
		}
	}
	return out
}

func atMinute(minutes int) string {
	return url.QueryEscape(apitest.Start.Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339))
}

func TestTheListIsNewestFirstAndCounted(t *testing.T) {
	a := newFixture(t)
	a.write(theirs, numberedRows(3)...)
	a.write(ours, numberedRows(45)...)
	a.Clock.Advance(time.Hour)
	apitest.Value(audit.New(a.Platform).LinkDue(a.Context(), func() bool { return false }))(a) // as the worker does
	for name, c := range map[string]struct {
		query        string
		total, items int
		first        string
		trips        int
	}{
		"the first page":       {"", 45, 20, "action45", 4},
		"the last page":        {"?page=3", 45, 5, "action5", 4},
		"behind the last page": {"?page=4", 45, 0, "", 3},
		"a page of two":        {"?limit=2&page=2", 45, 2, "action43", 4},
		"from a time on":       {"?from=" + atMinute(3+40), 5, 5, "action45", 6},
		"until a time":         {"?to=" + atMinute(3+10), 10, 10, "action10", 6},
		"a window": {
			"?from=" + atMinute(3+10) + "&to=" + atMinute(3+20) + "&limit=4", 10, 4, "action20",
			6,
		},
		"a window of nothing":     {"?from=" + atMinute(1000), 0, 0, "", 4},
		"between two millisecond": {"?from=" + strings.Replace(atMinute(3+44), "Z", ".0001Z", 1), 0, 0, "", 4},
	} {
		w := a.get(ours, "/audit-logs"+c.query).AtMost(c.trips)
		got := apitest.Data[rest.List[audit.Row]](w)
		first := ""
		if len(got.Items) > 0 {
			first = got.Items[0].Action
		}
		if got.Total != c.total || len(got.Items) != c.items || first != c.first {
			t.Errorf("%s: %d of %d from %q", name, len(got.Items), got.Total, first)
		}
	}
}

func TestFilters(t *testing.T) {
	a := newFixture(t)
	a.write(ours,
		audit.Row{Actor: "ada@example.com", Action: "createTeam", ResourceType: "teams", Category: audit.Platform},
		audit.Row{Actor: "bob@example.com", Action: "createTeam", ResourceType: "teams", Category: audit.Platform},
		audit.Row{
			Actor: "ada@example.com", Action: "createBudget", ResourceType: "budgets", Category: audit.Cost,
			Target: "budget_1",
		},
		audit.Row{
			Actor: "ada@example.com", Action: "createSchedule", ResourceType: "schedules",
			Category: audit.Scheduling,
		},
	)
	for query, want := range map[string]string{
		"?action=createTeam":                       "2 1",
		"?email=ada@example.com":                   "4 3 1",
		"?email=ADA@example.com":                   "4 3 1",
		"?resource_type=budgets":                   "3",
		"?target=budget_1,budget_2":                "3",
		"?target=budget":                           "",
		"?include=cost":                            "3",
		"?include=cost,scheduling":                 "4 3",
		"?include=provisioning":                    "",
		"?action=createTeam&email=ada@example.com": "1",
		"?email=ada@example.com&to=" + atMinute(3): "3 1",
		"?action=createteam":                       "",
		"?unknown=1":                               "4 3 2 1",
	} {
		got := apitest.Data[rest.List[audit.Row]](a.get(ours, "/audit-logs"+query))
		var seqs []string
		for _, r := range got.Items {
			seqs = append(seqs, strconv.FormatInt(r.Seq, 10))
		}
		if strings.Join(seqs, " ") != want || got.Total != len(seqs) {
			t.Errorf("%s: %s of %d, want %s", query, seqs, got.Total, want)
		}
	}
	for _, query := range []string{
		"?include=everything", "?from=yesterday", "?page=0", "?limit=x", "/verify?cursor=x",
		"/export?cursor=1.2.3", "/export?format=xml",
	} {
		if w := a.get(ours, "/audit-logs"+query); w.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, w.Status, w.Body)
		}
	}
}

func TestOnlyWhoMayReadThemSeesThemAndOnlyTheirOwn(t *testing.T) {
	a := newFixture(t)
	a.write(ours, numberedRows(3)...)
	for _, path := range []string{"", "/verify", "/export"} {
		if w := a.get(ours, "/audit-logs"+path, "users:read", "teams:write"); w.Status != http.StatusForbidden ||
			w.Usage.RoundTrips != 0 {
			t.Errorf("%s without the policy: %d", path, w.Status)
		}
		if w := a.get(theirs, "/audit-logs"+path); w.Status != http.StatusOK || strings.Contains(w.Body, "action1") {
			t.Errorf("%s of another organization: %d %s", path, w.Status, w.Body)
		}
	}
	team := apitest.Caller(ours, "bob", "*:* team:team_1")
	for _, path := range []string{"", "/verify", "/export"} {
		a.Call(team, "GET /audit-logs"+path).Want(http.StatusForbidden)
	}
}

func TestTheChainIsVerified(t *testing.T) {
	a := newFixture(t)
	verdict := func() audit.Verdict {
		return apitest.Data[audit.Verdict](a.get(ours, "/audit-logs/verify"))
	}
	if v := verdict(); !v.Holds || !v.Complete || v.Rows != 0 {
		t.Errorf("an empty one: %+v", v)
	}
	a.write(ours, numberedRows(5)...)
	if v := verdict(); !v.Holds || !v.Complete || v.Rows != 5 || v.FirstSeq != 1 || v.LastSeq != 5 ||
		len(v.Hash) != 64 {
		t.Errorf("%+v", v)
	}
	all := apitest.Value(a.Table.Query(a.In(ours), table.Query{PK: audit.PlaceOf(ours).PK, Limit: 10}))(a)
	a.Change(all.Items[2].Key, table.Set("actor", "eve@example.com"))
	if v := verdict(); v.Holds || v.BrokenAt == nil || v.BrokenAt.Seq != 3 ||
		!strings.Contains(v.BrokenAt.Why, "altered") {
		t.Errorf("%+v %+v", v, v.BrokenAt)
	}
	cursor := audit.Cursor{At: apitest.Start.Add(3 * time.Minute), Seq: 4, Hash: strings.Repeat("0", 64)}
	w := a.get(ours, "/audit-logs/verify?cursor="+cursor.String())
	if !strings.Contains(w.Body, `"seq":5`) || !strings.Contains(w.Body, `"holds":false`) {
		t.Errorf("behind a hash that no row has: %s", w.Body)
	}
}

// follow asks for the whole export, however many answers it takes.
func (a *fixture) follow(target string) []string {
	a.Helper()
	var parts []string
	for target != "" {
		w := a.get(ours, target)
		if w.Status != http.StatusOK || len(w.Body) > 5<<20 {
			a.Fatalf("%s: %d, %d bytes", target, w.Status, len(w.Body))
		}
		parts = append(parts, w.Body)
		link := w.Header.Get("Link")
		target = strings.TrimSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	}
	return parts
}

// proveFiles walks over exports, one after another.
func proveFiles(t *testing.T, parts []string) audit.Walk {
	t.Helper()
	var w audit.Walk
	for _, part := range parts {
		r := apitest.Value(audit.NewReader(strings.NewReader(part)))(t)
		for row, err := r.Next(); row != nil; row, err = r.Next() {
			if b := w.Step(row); b != nil || err != nil {
				t.Fatalf("line %d: %+v %v", r.Line(), b, err)
			}
		}
	}
	return w
}

func TestAnExportIsProvedByItself(t *testing.T) {
	a := newFixture(t)
	rows := numberedRows(30)
	rows[3].Target = "=HYPERLINK(1)"
	rows[4].Target = "'quoted"
	rows[5].Target, rows[5].Actor = "a,b\"c", "-1+1"
	rows[6].Changes = audit.Changes{
		Before: map[string]any{"n": json.Number("1.50"), "x": "ü\u2028\n"},
		After:  []any{true, nil},
	}
	a.write(ours, rows...)
	for query, want := range map[string]int64{
		"": 30, "?format=csv": 30, "?from=" + atMinute(10): 20, "?to=" + atMinute(10) + "&format=csv": 10,
		"?from=" + atMinute(5) + "&to=" + atMinute(6): 1,
	} {
		w := proveFiles(t, a.follow("/audit-logs/export"+query))
		if w.Rows != want {
			t.Errorf("%s: %+v", query, w)
		}
	}
	got := a.get(ours, "/audit-logs/export?format=csv")
	sheet, err := csv.NewReader(strings.NewReader(got.Body)).ReadAll()
	if err != nil || len(sheet) != 31 {
		t.Fatal(len(sheet), err)
	}
	for _, line := range sheet { // check 57
		for _, cell := range line {
			if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
				t.Errorf("a spreadsheet takes %q for a formula", cell)
			}
		}
	}
}

func TestAnExportTellsWhatItIs(t *testing.T) {
	a := newFixture(t)
	a.write(ours, numberedRows(1)...)
	for _, c := range []struct{ format, accept, kind string }{
		{"", "", rest.NDJSONType},
		{"", "*/*", rest.NDJSONType},
		{"", "text/csv", rest.CSVType},
		{"", "text/csv; q=0.9", rest.CSVType},
		{"ndjson", "text/csv", rest.NDJSONType},
		{"csv", "application/x-ndjson", rest.CSVType},
	} {
		r := httptest.NewRequest(http.MethodGet, "/audit-logs/export?"+url.Values{"format": {c.format}}.Encode(),
			http.NoBody)
		if c.format == "" {
			r = httptest.NewRequest(http.MethodGet, "/audit-logs/export", http.NoBody)
		}
		if c.accept != "" {
			r.Header.Set("Accept", c.accept)
		}
		w := a.Serve(apitest.Caller(ours, "ada", policy), r)
		if got := w.Header.Get("Content-Type"); got != c.kind ||
			!strings.HasPrefix(w.Header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%+v: %q, %q", c, got, w.Header.Get("Content-Disposition"))
		}
	}
}

func TestALongExportGoesOnWhereItStopped(t *testing.T) {
	a := newFixture(t)
	a.write(ours, numberedRows(60)...)
	for name, c := range map[string]struct {
		most  rest.Bounds
		parts int
	}{
		"by rows":                 {rest.Bounds{Rows: 20}, 3},
		"by rows, the last alone": {rest.Bounds{Rows: 58}, 2},
		"all that there is":       {rest.Bounds{Rows: 59}, 1},
		"by bytes":                {rest.Bounds{Bytes: 12_000}, 0},
	} {
		a.Mount(func(p *platform.Platform) *rest.Group { return operations(&service{p, audit.New(p), c.most}) })
		for _, format := range []string{"ndjson", "csv"} {
			parts := a.follow("/audit-logs/export?format=" + format + "&to=" + atMinute(59))
			w := proveFiles(t, parts)
			if c.parts > 0 && len(parts) != c.parts || c.parts == 0 && len(parts) < 2 || w.Rows != 59 || w.First != 1 {
				t.Errorf("%s, %s: %d parts, %+v", name, format, len(parts), w)
			}
		}
	}
}

// A Lambda answers with 6 MB at most, and its answer is a string of JSON: each quotation mark in it takes two bytes.
func TestAnExportFitsIntoTheAnswerOfALambda(t *testing.T) {
	race.SkipSequential(t)
	const most = 6 << 20
	a := newFixture(t)
	quotes := strings.Repeat(`"`, 450)
	row := numberedRows(1)[0]
	row.Changes = audit.Changes{
		Before: []string{quotes, quotes, quotes, quotes, quotes, quotes},
		After:  []string{quotes, quotes, quotes, quotes, quotes, quotes},
	}
	rows := make([]audit.Row, 400)
	for i := range rows {
		rows[i] = row
	}
	a.write(ours, rows...)
	for _, format := range []string{"ndjson", "csv"} {
		var ev events.APIGatewayProxyRequest
		ev.HTTPMethod, ev.Path = http.MethodGet, "/audit-logs/export"
		ev.QueryStringParameters = map[string]string{"format": format}
		ev.MultiValueQueryStringParameters = map[string][]string{"format": {format}}
		ev.RequestContext.Authorizer = identity.EncodeCaller(apitest.Caller(ours, "ada", policy))
		out, err := rest.AdaptHandler(a.Handler)(t.Context(), ev)
		if err != nil || out.StatusCode != http.StatusOK || len(out.MultiValueHeaders["Link"]) != 1 {
			t.Fatalf("%s: %d %v %v", format, out.StatusCode, out.MultiValueHeaders, err)
		}
		sent, err := json.Marshal(out)
		if err != nil || len(sent) > most {
			t.Errorf("%s: %d bytes, where %d go through: %v", format, len(sent), most, err)
		}
	}
}
