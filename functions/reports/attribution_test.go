package reports

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/resourcegroups"
	"lamplighter.dev/functions/teams"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/testkit/apitest"
)

// wantAttributed compares attributedFrom in the answers to paths; "" is null.
func (a *fixture) wantAttributed(want string, paths ...string) {
	a.Helper()
	for _, path := range paths {
		got := apitest.Data[Basis](a.get(path + "from=2025-12-01&to=2026-04-01").Want(http.StatusOK)).AttributedFrom
		if pointed(got) != want {
			a.Errorf("%s is attributed from %q, want %q", path, pointed(got), want)
		}
	}
}

// A team and a group are made when three months are closed. Reports of these tell from which day on they have costs,
// while the months are attributed one after the other.
func TestReports_TellFromWhichDayOnTeamsAndGroupsAreAttributed(t *testing.T) {
	a := newFixture(t)
	a.Mount(Operations, teams.Operations, resourcegroups.Operations)
	ada := apitest.Caller(ours, "ada", "*:*")
	a.Clock.Advance(time.Minute)
	team := apitest.Data[teams.Team](a.Call(ada, "POST /teams",
		map[string]any{"name": "New", "resources": a.ids[3:4]})).ID
	group := apitest.Data[resourcegroups.Group](a.Call(ada, "POST /resource-groups",
		map[string]any{"name": "Fours", "members": []map[string]any{{"resourceID": a.ids[4]}}})).ID
	a.Clock.Advance(time.Minute)
	concerned := []string{
		"/reports/teams?", "/reports/teams/trends?", "/reports/teams/" + team + "?", "/reports/teams/unassigned?",
		"/reports/teams/" + team + "/resources?", "/reports/costs/breakdown?dims=team_id&",
		"/reports/costs/breakdown?dims=service_name,group_id&", "/reports/trends?filter[group_id]=" + group + "&",
		"/reports/trends?filter[team_id]=" + team + "&granularity=month&",
		"/reports/tags?filter[team_id]=" + team + "&",
		"/reports/costs/resources?filter[group_id]=" + group + "&",
	}
	others := []string{
		"/reports/teams/" + a.web + "?", "/reports/trends?filter[team_id]=" + a.data + "&", "/reports/trends?",
		"/reports/costs/breakdown?", "/reports/tags?", "/reports/costs/resources?", "/reports/providers/summary?",
	}
	books := cost.New(a.Platform)
	a.wantAttributed("2026-04-01", concerned...)
	apitest.Value(books.RebuildOpen(a.In(ours), ours, nil))(a)
	a.wantAttributed("2026-03-01", concerned...)
	sum := "/reports/summary?filter[team_id]=" + team
	a.Equal("this month", pointed(apitest.Data[MonthSummary](a.get(sum)).AttributedFrom), "")
	sum += "&period=2026-02"
	a.Equal("February", pointed(apitest.Data[MonthSummary](a.get(sum)).AttributedFrom), "2026-03-01")
	for id, want := range map[string]string{a.web: "", team: "2026-03-01"} {
		got := apitest.Data[TeamCosts](a.as("viewer team:"+id, "/reports/teams?period=2026-02").Want(http.StatusOK))
		a.Equal("with a grant on team "+id, pointed(got.AttributedFrom), want)
	}
	for _, month := range []string{"2026-02", "2026-01", "2025-12"} {
		a.wantAttributed("", others...)
		m := apitest.Value(cost.ParseMonth(month))(a)
		done := apitest.Value(books.AttributeMonth(a.In(ours), ours, m, a.Clock.Now().Add(time.Minute)))(a)
		a.Equal("done", done, true)
		want := month + "-01"
		if month == "2025-12" {
			want = ""
		}
		a.wantAttributed(want, concerned...)
		a.wantAttributed("", others...)
	}
	whole := apitest.Data[TeamCosts](a.get("/reports/teams?from=2025-12-01&to=2026-04-01"))
	var text []string
	for _, c := range whole.Items {
		text = append(text, c.Name+" "+c.DirectUSD)
	}
	// the new team has 36 days of 4.005
	if got := strings.Join(text, ", "); !strings.Contains(got, "New 144.18") || whole.TotalUSD != "809.07" {
		t.Errorf("%s of %s", got, whole.TotalUSD)
	}
}
