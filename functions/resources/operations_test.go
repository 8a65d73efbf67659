package resources

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/table/tabletest"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/teams"
)

const (
	ours   = "org_01k00000000000000000000000"
	theirs = "org_01k00000000000000000000001"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// api is the group behind its door, with three instances and a database in one account.
type api struct {
	t       *testing.T
	p       *platform.Platform
	h       http.Handler
	account string
	grants  []grant.Grant
}

func newAPI(t *testing.T) *api {
	t.Helper()
	c := clock.NewManual(noon)
	a := &api{
		t: t, account: id.New("ca", noon), grants: []grant.Grant{{Policies: []string{"*:*"}, Scope: grant.OrgScope}},
		p: &platform.Platform{Table: table.Fenced(tabletest.NewAt(t, c)), Clock: c, Workflow: idle{}, Log: slog.New(slog.DiscardHandler)},
	}
	a.h, _ = rest.Mount(a.p, Operations(a.p))
	a.connect(a.account)
	for i := range 3 {
		a.discover("aws-ec2", cloud.Resource{
			UID: fmt.Sprintf("i-%d", i), Name: fmt.Sprintf("web-%d", i), Status: cloud.Running, Zone: "eu-west-1a", InstanceType: "t3.micro",
			Capacity: map[string]int64{"vCPU": 2}, Tags: map[string]string{"env": []string{"prod", "dev", "dev"}[i]}, CreatedAt: noon.Add(-time.Hour),
		})
	}
	a.discover("aws-rds", cloud.Resource{UID: "db-1", Name: `=HYPERLINK("http://x")`, Status: cloud.Stopped, Unschedulable: "read replica"})
	return a
}

// idle is an engine whose machines never get anywhere.
type idle struct{ workflow.Engine }

func (idle) Start(context.Context, string, string, any) error { return nil }

func (a *api) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *api) tenant() context.Context { return table.WithTenant(a.t.Context(), ours) }

func (a *api) connect(accountID string) {
	a.t.Helper()
	it, err := table.Row(inventory.AccountKey(ours, accountID), inventory.Account{ID: accountID, Provider: "aws", Name: "production"})
	a.must(err)
	_, err = a.p.Table.Write(a.tenant(), table.Put(it))
	a.must(err)
}

func (a *api) discover(kind string, found cloud.Resource) {
	a.t.Helper()
	s := inventory.Scan{
		Partition: inventory.Partition{AccountID: a.account, Provider: "aws", Region: "eu-west-1", Kind: kind}, ID: "job_1", Started: noon,
	}
	_, err := inventory.New(a.p).Upsert(a.tenant(), ours, inventory.Batch{Scan: s, At: noon, Resources: []cloud.Resource{found}})
	a.must(err)
}

// call makes a request as a member of org, and tells how many round trips to the store it took.
func (a *api) call(org, method, path, body string) (*httptest.ResponseRecorder, int) {
	a.t.Helper()
	ctx, meter := table.WithMeter(a.t.Context())
	ctx = identity.With(table.WithTenant(ctx, org), identity.Caller{Org: org, User: "usr_1", Email: "ada@example.com", Grants: a.grants})
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body)))
	return w, meter.Usage().RoundTrips
}

func (a *api) get(path string) *httptest.ResponseRecorder {
	a.t.Helper()
	w, _ := a.call(ours, http.MethodGet, path, "")
	return w
}

func data[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var out struct{ Data T }
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code >= 300 {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return out.Data
}

func names(list []Record) string {
	out := []string{}
	for _, r := range list {
		out = append(out, r.UID)
	}
	return strings.Join(out, " ")
}

func TestListing(t *testing.T) {
	a := newAPI(t)
	for _, c := range []struct{ name, query, want string }{
		{"everything by name", "", "db-1 i-0 i-1 i-2"},
		{"the second page", "?limit=3&page=2", "i-2"},
		{"a page behind the last", "?limit=3&page=9", ""},
		{"the other way round", "?sort_by=name&sort_order=desc&limit=2", "i-2 i-1"},
		{"by cost, which is not known", "?sort_by=cost", "db-1 i-0 i-1 i-2"},
		{"a search", "?search=WEB-1", "i-1"},
		{"a tag", "?tag=env%3Ddev", "i-1 i-2"},
		{"two tags that contradict", "?tag=env%3Ddev&tag=env%3Dprod", ""},
		{"what cannot be scheduled", "?schedulable=false", "db-1"},
		{"a type and a status", "?type=aws-ec2&status=stopped", ""},
		{"a team, of which there is none", "?team_id=team_1", ""},
		{"a parameter that nobody knows", "?colour=red&type=aws-rds", "db-1"},
	} {
		if got := names(data[[]Record](t, a.get("/resources"+c.query))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, query := range []string{"?limit=0", "?page=-1", "?limit=x", "?sort_by=colour", "?status=asleep", "?schedulable=perhaps", "?sort_order=up"} {
		if w := a.get("/resources" + query); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

func TestReadingCostsTwoRoundTrips(t *testing.T) {
	a := newAPI(t)
	list := data[[]Record](t, a.get("/resources"))
	for _, path := range []string{"/resources", "/resources?search=web&page=1", "/resources?page=700", "/resources/" + list[0].ID} {
		if w, trips := a.call(ours, http.MethodGet, path, ""); w.Code != http.StatusOK || trips > 2 {
			t.Errorf("%s: %d, %d round trips", path, w.Code, trips)
		}
	}
}

func TestReadingInScopesCostsAThirdRoundTripAtMost(t *testing.T) {
	a := newAPI(t)
	list := data[[]Record](t, a.get("/resources"))
	team := teams.Team{ID: id.New("team", noon), Name: "Web"}
	owned, err := inventory.Own(ours, team.ID, 1, []string{list[1].ID})
	a.must(err)
	_, err = teams.New(a.p.Table).Create(a.tenant(), ours, team, owned...)
	a.must(err)
	a.grants = []grant.Grant{{Role: grant.Viewer, Scope: grant.TeamScope + team.ID}}
	most := 3 // the first time; then what the team owns is known
	for _, path := range []string{"/resources", "/resources?search=i-0", "/resources/" + list[1].ID} {
		if w, trips := a.call(ours, http.MethodGet, path, ""); w.Code != http.StatusOK || trips > most {
			t.Errorf("%s: %d, %d round trips", path, w.Code, trips)
		}
		most = 2
	}
	if got := data[[]Record](t, a.get("/resources?team_id="+team.ID)); names(got) != list[1].UID || got[0].TeamIDs[0] != team.ID {
		t.Errorf("of the team: %+v", got)
	}
}

func TestARecordIsAsTheContractSpellsIt(t *testing.T) {
	a := newAPI(t)
	list := data[[]map[string]any](t, a.get("/resources?search=i-0"))
	want := map[string]any{
		"uid": "i-0", "name": "web-0", "type": "aws-ec2", "provider": "aws", "cloudAccountID": a.account, "cloudAccountName": "production",
		"region": "eu-west-1", "zone": "eu-west-1a", "status": "running", "instanceType": "t3.micro", "capacity": map[string]any{"vCPU": 2.0},
		"tags": map[string]any{"env": "prod"}, "smartTags": map[string]any{}, "parentUID": "", "schedulable": true, "groupIDs": []any{},
		"teamIDs": []any{}, "scheduleIDs": []any{}, "rackRateUSD": nil, "actualUSD": nil, "costSource": nil,
		"discoveredAt": "2026-03-02T12:00:00Z", "lastSeenAt": "2026-03-02T12:00:00Z", "createdAt": "2026-03-02T11:00:00Z", "id": list[0]["id"],
	}
	if got, want := fmt.Sprint(list[0]), fmt.Sprint(want); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	one := data[map[string]any](t, a.get("/resources/"+list[0]["id"].(string)))
	if fmt.Sprint(one) != fmt.Sprint(want) {
		t.Errorf("alone: %v", one)
	}
}

func TestWhatIsNotOursDoesNotExist(t *testing.T) {
	a := newAPI(t)
	r := data[[]Record](t, a.get("/resources"))[0]
	for _, c := range []struct{ org, id string }{{theirs, r.ID}, {ours, id.New("res", noon)}, {ours, "res_x"}, {ours, "i-0"}} {
		if w, _ := a.call(c.org, http.MethodGet, "/resources/"+c.id, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s in %s: %d %s", c.id, c.org, w.Code, w.Body)
		}
	}
	if w, _ := a.call(theirs, http.MethodPost, "/resources/by-uids", `{"uids":["i-0"]}`); len(data[[]Record](t, w)) != 0 {
		t.Errorf("by uid from elsewhere: %s", w.Body)
	}
}

func TestAScopedGrantShowsOnlyItsResources(t *testing.T) {
	a := newAPI(t)
	list := data[[]Record](t, a.get("/resources"))
	a.grants = []grant.Grant{
		{Policies: []string{"resources:read"}, Scope: "resource:" + list[1].ID}, {Policies: []string{"actions:read"}, Scope: "resource:" + list[2].ID},
	}
	if got := names(data[[]Record](t, a.get("/resources"))); got != list[1].UID {
		t.Errorf("listed: %s", got)
	}
	if got := data[Summary](t, a.get("/resources/summary")).Total; got != 1 {
		t.Errorf("counted: %d", got)
	}
	if w := a.get("/resources/" + list[2].ID); w.Code != http.StatusNotFound {
		t.Errorf("another one: %d", w.Code)
	}
	if w, _ := a.call(ours, http.MethodPost, "/resources/by-uids", `{"uids":["db-1","i-0","i-1"]}`); names(data[[]Record](t, w)) != list[1].UID {
		t.Errorf("by uid: %s", w.Body)
	}
	if lines := strings.Count(a.get("/resources/export").Body.String(), "\n"); lines != 2 {
		t.Errorf("exported %d lines", lines)
	}
}

func TestByUIDs(t *testing.T) {
	a := newAPI(t)
	w, _ := a.call(ours, http.MethodPost, "/resources/by-uids", `{"uids":["i-2","nobody","i-0"]}`)
	if got := names(data[[]Record](t, w)); got != "i-2 i-0" {
		t.Errorf("got %s", got)
	}
	many := `{"uids":["` + strings.Repeat(`x","`, 500) + `x"]}`
	for _, body := range []string{`{"uids":[]}`, `{}`, many} {
		if w, _ := a.call(ours, http.MethodPost, "/resources/by-uids", body); w.Code != http.StatusBadRequest {
			t.Errorf("%.40s: %d", body, w.Code)
		}
	}
}

func TestSummaryAndTypes(t *testing.T) {
	a := newAPI(t)
	sum := data[Summary](t, a.get("/resources/summary"))
	want := Summary{4, map[string]int{"aws": 4}, map[string]int{"aws-ec2": 3, "aws-rds": 1}, map[string]int{"running": 3, "stopped": 1}, map[string]int{"eu-west-1": 4}}
	if fmt.Sprint(sum) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", sum, want)
	}
	if got := data[Summary](t, a.get("/resources/summary?type=aws-rds")).Total; got != 1 {
		t.Errorf("databases: %d", got)
	}
	kinds := map[string]Type{}
	for _, k := range data[[]Type](t, a.get("/resources/types")) {
		kinds[k.Type] = k
	}
	if k := kinds["aws-asg"]; !k.Actionable || !k.Scalable || k.Provider != "aws" || kinds["aws-ec2"].Scalable {
		t.Errorf("types: %+v", kinds)
	}
}

func TestExport(t *testing.T) {
	a := newAPI(t)
	w := a.get("/resources/export?type=aws-rds")
	rows, err := csv.NewReader(w.Body).ReadAll()
	if err != nil || len(rows) != 2 || len(rows[0]) != len(rows[1]) {
		t.Fatalf("%v: %v", rows, err)
	}
	if rows[1][2] != `'=HYPERLINK("http://x")` {
		t.Errorf("a formula gets through: %s", rows[1][2])
	}
	if got := w.Header().Get("Content-Type"); got != rest.CSVType {
		t.Errorf("content type %s", got)
	}
	w = a.get("/resources/export?format=ndjson")
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	if len(lines) != 4 || w.Header().Get("Content-Type") != rest.NDJSONType {
		t.Fatalf("%s %s", w.Header().Get("Content-Type"), lines)
	}
	for _, line := range lines {
		var r Record
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.ID == "" {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestRefreshDiscoversEveryAccount(t *testing.T) {
	a := newAPI(t)
	second := id.New("ca", noon.Add(time.Second))
	a.connect(second)
	w, _ := a.call(ours, http.MethodPost, refresh, "")
	job := data[rest.Job](t, w)
	if w.Code != http.StatusAccepted || job.Status != "running" {
		t.Fatalf("%d %+v", w.Code, job)
	}
	got := data[Refresh](t, a.get(job.StatusURL))
	if got.Status != discovery.Running || len(got.Discoveries) != 2 || got.Discoveries[0].CloudAccountID != a.account {
		t.Fatalf("%+v", got)
	}
	w, _ = a.call(ours, http.MethodPost, refresh, "")
	again := data[Refresh](t, a.get(data[rest.Job](t, w).StatusURL))
	if fmt.Sprint(again.Discoveries) != fmt.Sprint(got.Discoveries) {
		t.Errorf("a second refresh did not join: %+v, %+v", again, got)
	}
	for i, status := range []discovery.Status{discovery.Succeeded, discovery.Failed} {
		_, err := a.p.Table.Write(a.tenant(), table.Update(discovery.JobKey(ours, got.Discoveries[i].JobID), []table.Change{table.Set("status", string(status))}))
		a.must(err)
	}
	if got = data[Refresh](t, a.get(job.StatusURL)); got.Status != discovery.Partial {
		t.Errorf("one succeeded, one failed: %s", got.Status)
	}
	if w, _ := a.call(theirs, http.MethodGet, job.StatusURL, ""); w.Code != http.StatusNotFound {
		t.Errorf("from elsewhere: %d", w.Code)
	}
}
