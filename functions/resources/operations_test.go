package resources

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const ours, theirs = apitest.Org, apitest.OtherOrg

// fixture is our organization with three instances and a database in one account.
type fixture struct {
	*apitest.Fixture
	grants []string // the caller's grants
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	a := &fixture{apitest.New(t, Operations), []string{"*:*"}}
	a.Workflow = apitest.Idle{}
	for i := range 3 {
		inventorytest.Discover(a.Fixture, ours, "aws-ec2", cloud.Resource{
			UID: fmt.Sprintf("i-%d", i), Name: fmt.Sprintf("web-%d", i), Status: cloud.Running, Zone: "eu-west-1a",
			InstanceType: "t3.micro",
			Capacity:     map[string]int64{"vCPU": 2},
			Tags:         map[string]string{"env": []string{"prod", "dev", "dev"}[i]},
			CreatedAt:    apitest.Start.Add(-time.Hour),
		})
	}
	inventorytest.Discover(a.Fixture, ours, "aws-rds",
		cloud.Resource{
			UID: "db-1", Name: `=HYPERLINK("http://x")`, Status: cloud.Stopped,
			Unschedulable: "read replica",
		})
	return a
}

// call makes a request as a member of org who holds the grants.
func (a *fixture) call(org, method, path, body string) apitest.Answer {
	a.Helper()
	return a.Call(apitest.Caller(org, "ada", a.grants...), method+" "+path, body)
}

func (a *fixture) getPath(path string) apitest.Answer {
	a.Helper()
	return a.call(ours, http.MethodGet, path, "")
}

func recordNames(list []Record) string {
	out := []string{}
	for _, r := range list {
		out = append(out, r.UID)
	}
	return strings.Join(out, " ")
}

func TestListing(t *testing.T) {
	a := newFixture(t)
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
		if got := recordNames(apitest.Data[[]Record](a.getPath("/resources" + c.query))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for query, want := range map[string]string{"": "4", "?limit=1": "4", "?type=aws-ec2&limit=2&page=9": "3"} {
		if got := a.getPath("/resources" + query).Header.Get("X-Total-Count"); got != want {
			t.Errorf("%q: X-Total-Count is %q; want %q", query, got, want)
		}
	}
	for _, query := range []string{
		"?limit=0", "?page=-1", "?limit=x", "?sort_by=colour", "?status=asleep",
		"?schedulable=perhaps", "?sort_order=up",
	} {
		if w := a.getPath("/resources" + query); w.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, w.Status, w.Body)
		}
	}
}

func TestReadingCostsTwoRoundTrips(t *testing.T) {
	a := newFixture(t)
	list := apitest.Data[[]Record](a.getPath("/resources"))
	for _, path := range []string{
		"/resources", "/resources?search=web&page=1", "/resources?page=700",
		"/resources/" + list[0].ID,
	} {
		if w := a.call(ours, http.MethodGet, path, ""); w.Status != http.StatusOK || w.Usage.RoundTrips > 2 {
			t.Errorf("%s: %d, %d round trips", path, w.Status, w.Usage.RoundTrips)
		}
	}
}

func TestReadingInScopesCostsAThirdRoundTripAtMost(t *testing.T) {
	a := newFixture(t)
	list := apitest.Data[[]Record](a.getPath("/resources"))
	team := inventorytest.Team(a.Fixture, ours, "Web", list[1].ID)
	a.grants = []string{"viewer team:" + team}
	most := 3 // for the first call; then the team's resources are known
	for _, path := range []string{"/resources", "/resources?search=i-0", "/resources/" + list[1].ID} {
		if w := a.call(ours, http.MethodGet, path, ""); w.Status != http.StatusOK || w.Usage.RoundTrips > most {
			t.Errorf("%s: %d, %d round trips", path, w.Status, w.Usage.RoundTrips)
		}
		most = 2
	}
	if got := apitest.Data[[]Record](a.getPath("/resources?team_id=" + team)); recordNames(got) != list[1].UID ||
		got[0].TeamIDs[0] != team {
		t.Errorf("of the team: %+v", got)
	}
}

func TestARecordIsAsTheContractSpellsIt(t *testing.T) {
	a := newFixture(t)
	list := apitest.Data[[]map[string]any](a.getPath("/resources?search=i-0"))
	want := map[string]any{
		"uid": "i-0", "name": "web-0", "type": "aws-ec2", "provider": "aws", "cloudAccountID": inventorytest.Account,
		"cloudAccountName": "account ca_1",
		"region":           "eu-west-1", "zone": "eu-west-1a", "status": "running", "instanceType": "t3.micro",
		"capacity": map[string]any{"vCPU": 2.0},
		"tags":     map[string]any{"env": "prod"}, "smartTags": map[string]any{}, "parentUID": "", "schedulable": true,
		"groupIDs": []any{},
		"teamIDs":  []any{}, "scheduleIDs": []any{}, "rackRateUSD": nil, "runningRateUSD": nil,
		"actualUSD": nil, "costSource": nil,
		"discoveredAt": "2026-03-10T09:30:30Z", "lastSeenAt": "2026-03-10T09:30:30Z",
		"createdAt": "2026-03-10T08:30:30Z", "id": list[0]["id"],
	}
	if got, want := fmt.Sprint(list[0]), fmt.Sprint(want); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	one := apitest.Data[map[string]any](a.getPath("/resources/" + list[0]["id"].(string)))
	want["facts"] = map[string]any{}
	want["unpriced"] = "its price has not been looked up yet: that happens at the end of a discovery and every night"
	if fmt.Sprint(one) != fmt.Sprint(want) {
		t.Errorf("alone: %v", one)
	}
}

func TestWhatIsNotOursDoesNotExist(t *testing.T) {
	a := newFixture(t)
	r := apitest.Data[[]Record](a.getPath("/resources"))[0]
	for _, c := range []struct{ org, id string }{
		{theirs, r.ID},
		{ours, id.New("res", apitest.Start)},
		{ours, "res_x"},
		{ours, "i-0"},
	} {
		if w := a.call(c.org, http.MethodGet, "/resources/"+c.id, ""); w.Status != http.StatusNotFound {
			t.Errorf("%s in %s: %d %s", c.id, c.org, w.Status, w.Body)
		}
	}
	if w := a.call(theirs, http.MethodPost, "/resources/by-uids",
		`{"uids":["i-0"]}`); len(apitest.Data[[]Record](w)) != 0 {
		t.Errorf("by uid from elsewhere: %s", w.Body)
	}
}

func TestAScopedGrantShowsOnlyItsResources(t *testing.T) {
	a := newFixture(t)
	list := apitest.Data[[]Record](a.getPath("/resources"))
	a.grants = []string{"resources:read resource:" + list[1].ID, "actions:read resource:" + list[2].ID}
	if got := recordNames(apitest.Data[[]Record](a.getPath("/resources"))); got != list[1].UID {
		t.Errorf("listed: %s", got)
	}
	if got := apitest.Data[Summary](a.getPath("/resources/summary")).Total; got != 1 {
		t.Errorf("counted: %d", got)
	}
	a.getPath("/resources/" + list[2].ID).Want(http.StatusNotFound) // another one
	if w := a.call(ours, http.MethodPost, "/resources/by-uids",
		`{"uids":["db-1","i-0","i-1"]}`); recordNames(apitest.Data[[]Record](w)) != list[1].UID {
		t.Errorf("by uid: %s", w.Body)
	}
	if lines := strings.Count(a.getPath("/resources/export").Body, "\n"); lines != 2 {
		t.Errorf("exported %d lines", lines)
	}
}

func TestByUIDs(t *testing.T) {
	a := newFixture(t)
	w := a.call(ours, http.MethodPost, "/resources/by-uids", `{"uids":["i-2","nobody","i-0"]}`)
	if got := recordNames(apitest.Data[[]Record](w)); got != "i-2 i-0" {
		t.Errorf("got %s", got)
	}
	many := `{"uids":["` + strings.Repeat(`x","`, 500) + `x"]}`
	for _, body := range []string{`{"uids":[]}`, `{}`, many} {
		if w := a.call(ours, http.MethodPost, "/resources/by-uids", body); w.Status != http.StatusBadRequest {
			t.Errorf("%.40s: %d", body, w.Status)
		}
	}
}

func TestSummaryAndTypes(t *testing.T) {
	a := newFixture(t)
	sum := apitest.Data[Summary](a.getPath("/resources/summary"))
	account := apitest.Data[[]Record](a.getPath("/resources"))[0].CloudAccountID
	a.Equal("summary", apitest.JSON(sum), apitest.JSON(Summary{
		Total: 4, ByProvider: map[string]int{"aws": 4}, ByType: map[string]int{"aws-ec2": 3, "aws-rds": 1},
		ByStatus: map[string]int{"running": 3, "stopped": 1}, ByRegion: map[string]int{"eu-west-1": 4},
		ByAccount: map[string]int{account: 4}, Facets: map[string]map[string]int{}, WithoutRate: 3,
	}))
	facets := apitest.Data[Summary](a.getPath("/resources/summary?facets=true&type=aws-rds&status=running")).Facets
	a.Equal("facets", apitest.JSON(facets), apitest.JSON(map[string]map[string]int{
		"provider": {}, "region": {}, "cloud_account_id": {}, "type": {"aws-ec2": 3}, "status": {"stopped": 1},
	}))
	if got := apitest.Data[Summary](a.getPath("/resources/summary?type=aws-rds")).Total; got != 1 {
		t.Errorf("databases: %d", got)
	}
	kinds := map[string]Type{}
	for _, k := range apitest.Data[[]Type](a.getPath("/resources/types")) {
		kinds[k.Type] = k
	}
	if k := kinds["aws-asg"]; !k.Actionable || !k.Scalable || k.Provider != "aws" || kinds["aws-ec2"].Scalable {
		t.Errorf("types: %+v", kinds)
	}
}

func TestExport(t *testing.T) {
	a := newFixture(t)
	w := a.getPath("/resources/export?type=aws-rds")
	rows, err := csv.NewReader(strings.NewReader(w.Body)).ReadAll()
	if err != nil || len(rows) != 2 || len(rows[0]) != len(rows[1]) {
		t.Fatalf("%v: %v", rows, err)
	}
	if rows[1][2] != `'=HYPERLINK("http://x")` {
		t.Errorf("a formula gets through: %s", rows[1][2])
	}
	if got := w.Header.Get("Content-Type"); got != rest.CSVType {
		t.Errorf("content type %s", got)
	}
	w = a.getPath("/resources/export?format=ndjson")
	lines := strings.Split(strings.TrimSpace(w.Body), "\n")
	if len(lines) != 4 || w.Header.Get("Content-Type") != rest.NDJSONType {
		t.Fatalf("%s %s", w.Header.Get("Content-Type"), lines)
	}
	for _, line := range lines {
		var r Record
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.ID == "" {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestExport_HasEveryFieldOfTheRecord: prices are the fields of the record that take several columns.
func TestExport_HasEveryFieldOfTheRecord(t *testing.T) {
	spread := map[string][]string{
		"rackRateUSD":    {"rackRateHourlyUSD", "rackRateMonthlyUSD", "priceVersion"},
		"actualUSD":      {"monthToDateUSD", "lastMonthUSD"},
		"runningRateUSD": {"runningRateHourlyUSD"},
	}
	for field := range reflect.TypeFor[Record]().Fields() {
		name := field.Tag.Get("json")
		wanted := spread[name]
		if wanted == nil {
			wanted = []string{name}
		}
		for _, column := range wanted {
			if !slices.Contains(report.RecordColumns, column) {
				t.Errorf("the CSV has no column %s for the field %s", column, name)
			}
		}
	}
	r := Record{SmartTags: map[string]string{"team": "shop"}, ScheduleIDs: []string{"sch_1", "sch_2"}}
	cells := r.Cells()
	if len(cells) != len(report.RecordColumns) {
		t.Fatalf("%d cells for %d columns", len(cells), len(report.RecordColumns))
	}
	for column, want := range map[string]string{"smartTags": `{"team":"shop"}`, "scheduleIDs": "sch_1 sch_2"} {
		if got := cells[slices.Index(report.RecordColumns, column)]; got != want {
			t.Errorf("%s is %q, want %q", column, got, want)
		}
	}
}

func TestRefreshDiscoversEveryAccount(t *testing.T) {
	a := newFixture(t)
	inventorytest.Connect(a.Fixture, ours, "ca_2")
	w := a.call(ours, http.MethodPost, refresh, "")
	job := apitest.Data[rest.Job](w, http.StatusAccepted)
	if w.Status != http.StatusAccepted || job.Status != "running" {
		t.Fatalf("%d %+v", w.Status, job)
	}
	got := apitest.Data[Refresh](a.getPath(job.StatusURL))
	if got.Status != discovery.Running || len(got.Discoveries) != 2 ||
		got.Discoveries[0].CloudAccountID != inventorytest.Account {
		t.Fatalf("%+v", got)
	}
	w = a.call(ours, http.MethodPost, refresh, "")
	again := apitest.Data[Refresh](a.getPath(apitest.Data[rest.Job](w, http.StatusAccepted).StatusURL))
	if fmt.Sprint(again.Discoveries) != fmt.Sprint(got.Discoveries) {
		t.Errorf("a second refresh did not join: %+v, %+v", again, got)
	}
	for i, status := range []discovery.Status{discovery.Succeeded, discovery.Failed} {
		a.Change(discovery.JobKey(ours, got.Discoveries[i].JobID), table.Set("status", string(status)))
	}
	if got = apitest.Data[Refresh](a.getPath(job.StatusURL)); got.Status != discovery.Partial {
		t.Errorf("one succeeded, one failed: %s", got.Status)
	}
	a.call(theirs, http.MethodGet, job.StatusURL, "").Want(http.StatusNotFound) // from elsewhere
}
