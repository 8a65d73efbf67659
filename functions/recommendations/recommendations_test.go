package recommendations

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

var (
	ada = apitest.Caller(apitest.Org, "ada", "owner")
	eve = apitest.Caller(apitest.OtherOrg, "eve", "owner")
)

// fixture has three instances, a team that owns the first, and recommendations of two rules for each.
type fixture struct {
	*apitest.Fixture
	store *recommendation.Store
	ids   []string // of the resources
	recs  []string // idle and size of i-0, of i-1, of i-2
	team  string
	pass  int
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t, Operations)}
	f.Workflow = apitest.Idle{}
	f.store = recommendation.New(f.Platform)
	f.ids = inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2", inventorytest.Instances(3)...)
	f.team = inventorytest.Team(f.Fixture, apitest.Org, "Shop", f.ids[0])
	all := f.findings()
	f.settle(all...)
	for i := range all {
		f.recs = append(
			f.recs,
			recommendation.IDOf(all[i].Resource.ResourceID, all[i].Resource.ResourceUID, all[i].RuleID),
		)
	}
	return f
}

// findings returns true findings: idle saves 100, 101 and 102 USD a month, size 60 each.
func (f *fixture) findings() []recommendation.Finding {
	var out []recommendation.Finding
	for i, id := range f.ids {
		r := recommendation.Resource{
			ResourceID:     id,
			ResourceUID:    fmt.Sprint("i-", i),
			ResourceName:   fmt.Sprint("web-", i),
			ResourceType:   "aws-ec2",
			Provider:       "aws",
			CloudAccountID: inventorytest.Account,
			Region:         "eu-west-1",
		}
		idle := recommendation.Finding{
			RuleID: "aws-ec2-idle", RuleVersion: 1, Outcome: recommendation.True, Resource: r, Category: "idle",
			Severity: recommendation.High, Effort: "low", Risk: "low", Title: "Instance does almost nothing",
			Reason: "CPU was at most 2 %", Savings: saves(int64(100+i), recommendation.ByStop),
			Evidence: recommendation.Evidence{
				Values: map[string]any{"m.cpu_max_14d": 2.0}, Thresholds: map[string]any{"cpu_pct": 5}, Window: "14d",
				Points: 336, Rule: "aws-ec2-idle", RuleVersion: 1, At: f.Clock.Now(),
			},
		}
		size := idle
		size.RuleID, size.Category, size.Severity = "aws-ec2-oversized", "rightsizing", recommendation.Medium
		size.Title, size.Savings = "Instance is too large", saves(60, recommendation.BySize)
		out = append(out, idle, size)
	}
	return out
}

func saves(usd int64, s recommendation.Strength) recommendation.Savings {
	return recommendation.Savings{
		Gross: money.FromInt(
			usd + 10,
		),
		Net:      money.FromInt(usd),
		Cost:     money.FromInt(200),
		Basis:    recommendation.Billed,
		Form:     "all",
		Strength: s,
	}
}

// settle settles findings in a pass of their own.
func (f *fixture) settle(findings ...recommendation.Finding) {
	f.Helper()
	f.pass++
	p := recommendation.Pass{ID: fmt.Sprint("pass ", f.pass), At: f.Clock.Now()}
	t := apitest.Value(f.store.Begin(f.In(apitest.Org), apitest.Org, p))(f)
	apitest.Value(t.Settle(f.In(apitest.Org), findings))(f)
	f.Must(t.Confirm(f.In(apitest.Org), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
}

// listed formats the items of an answer as "total uid/category saving …".
func listed(a apitest.Answer) string {
	l := apitest.Data[Recommendations](a)
	out := []string{strconv.Itoa(l.Total)}
	for i := range l.Items {
		it := &l.Items[i]
		out = append(out, fmt.Sprintf("%s/%s %s", it.ResourceUID, it.Category, it.SavingsUSD))
	}
	return strings.Join(out, " ")
}

func TestRecommendations_ListFiltersSearchesSortsAndPages(t *testing.T) {
	f := newFixture(t)
	for query, want := range map[string]string{
		"?category=idle":                                    "3 i-2/idle 102.00 i-1/idle 101.00 i-0/idle 100.00",
		"?category=idle&sort_order=asc":                     "3 i-0/idle 100.00 i-1/idle 101.00 i-2/idle 102.00",
		"?size=2":                                           "6 i-2/idle 102.00 i-1/idle 101.00",
		"?category=idle&size=2&page=2":                      "3 i-0/idle 100.00",
		"?size=2&page=99":                                   "6",
		"?search=WEB-1&category=idle,rightsizing":           "2 i-1/idle 101.00 i-1/rightsizing 0.00",
		"?search=too+large&sort_by=severity&size=1&page=3":  "3 ",
		"?search=aws-ec2-idle&size=1":                       "3 i-2/idle 102.00",
		"?severity=high,medium&provider=aws&search=i-0":     "2 i-0/idle 100.00 i-0/rightsizing 0.00",
		"?status=dismissed":                                 "0",
		"?resource_type=aws-ebs":                            "0",
		"?cloud_account_id=ca_2":                            "0",
		"?cloud_account_id=ca_1,ca_2&category=idle&size=1":  "3 i-2/idle 102.00",
		"?provider=azure,gcp":                               "0",
		"?status=open,applied&category=discount,orphan":     "0",
		"?search=nothing+like+it":                           "0",
		"?sort_by=updated_at&category=idle&size=1&page=999": "3",
	} {
		got := listed(f.Call(ada, "GET /recommendations/resources"+query).AtMost(3))
		if got != want && !strings.HasPrefix(got, strings.TrimSpace(want)+" i-") {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	f.Equal("of another organization", listed(f.Call(eve, "GET /recommendations/resources")), "0")
	for query, want := range map[string]string{
		"status=closed": "status", "severity=bad": "severity", "size=0": "size", "page=0": "page",
		"sort_by=name": "sort_by",
		"category=x":   "category",
	} {
		f.Call(ada, "GET /recommendations/resources?"+query).Want(http.StatusBadRequest, want)
	}
}

// A page costs two round trips, one behind the other: the columns and the rows. A search and a narrow grant read the
// inventory beside the columns. A recommendation is read beside the columns, with all that its detail shows. The list
// of rules reads the overrides beside columns and counts.
func TestRecommendations_AListTakesTwoRoundTrips(t *testing.T) {
	f := newFixture(t)
	f.Call(ada, "GET /recommendations/resources?size=3&page=2").AtMost(2)
	f.Call(ada, "GET /recommendations/resources?search=web").AtMost(3)
	f.Call(ada, "GET /recommendations/summary").AtMost(4)
	f.Call(ada, "GET /recommendations/rules").AtMost(3)
	f.Call(ada, "GET /recommendations/"+f.recs[0]).AtMost(2)
}

func TestRecommendations_ARecordSaysWhatItWasDecidedOn(t *testing.T) {
	f := newFixture(t)
	got := apitest.Data[RecommendationDetail](f.Call(ada, "GET /recommendations/"+f.recs[0]))
	if got.ID != f.recs[0] || got.ResourceUID != "i-0" || got.ResourceID != f.ids[0] || got.Region != "eu-west-1" ||
		!got.Counted || got.AlternativeOf != nil || got.SavingsUSD != "100.00" || got.Status != "open" ||
		got.ConfirmedAt == nil || len(got.History) != 1 || got.Savings.Gross != "110.00" ||
		got.Savings.Net != "100.00" || got.Savings.Realistic != "70.00" || *got.Savings.Basis != "billed" ||
		*got.Evidence.Window != "14d" || got.Evidence.Values["m.cpu_max_14d"] != 2.0 || got.Dismissal != nil {
		t.Errorf("%+v", got)
	}
	other := apitest.Data[RecommendationDetail](f.Call(ada, "GET /recommendations/"+f.recs[1]))
	if other.Counted || *other.AlternativeOf != f.recs[0] || other.SavingsUSD != "0.00" ||
		other.Savings.Gross != "70.00" {
		t.Errorf("%+v", other)
	}
	if !got.Plan.Executable || *got.Plan.Verb != "stop" || got.Plan.Why != nil || *got.Plan.Undo == "" {
		t.Errorf("%+v", got.Plan)
	}
	if !other.Plan.Executable || *other.Plan.Verb != "resize" || other.Plan.Why != nil || *other.Plan.Undo == "" ||
		len(other.Plan.Parameters) != 0 { // the evidence has the class
		t.Errorf("%+v", other.Plan)
	}
	for _, id := range []string{"x", "rec_01k6v0e4y0c2b7m9q8r5t3w1xz", f.ids[0]} {
		f.Call(ada, "GET /recommendations/"+id).Want(http.StatusNotFound)
	}
	f.Call(eve, "GET /recommendations/"+f.recs[0]).Want(http.StatusNotFound)
}

func TestRecommendations_SumsCountACostOnce(t *testing.T) {
	f := newFixture(t)
	f.decide(f.recs[4], `{"status":"applied"}`) // idle of i-2: size of i-2 counts half of the rest
	got := apitest.Data[RecommendationSummary](f.Call(ada, "GET /recommendations/summary"))
	if got.Gross != "431.00" || got.Net != "230.40" || got.Realistic != "161.28" || got.Open != 5 ||
		got.Alternatives != 2 ||
		got.ByStatus["applied"] != 1 ||
		got.BySeverity["high"] != 2 ||
		got.ByCategory["rightsizing"] != 3 ||
		got.ByProvider["aws"] != 5 {
		t.Errorf("%+v", got)
	}
}

func (f *fixture) decide(recID, body string) RecommendationDetail {
	f.Helper()
	return apitest.Data[RecommendationDetail](f.Call(ada, "PATCH /recommendations/"+recID, body))
}

func TestRecommendations_AreDismissedAppliedAndOpenedAgain(t *testing.T) {
	f := newFixture(t)
	until := f.Clock.Now().Add(30 * 24 * time.Hour).UTC()
	got := f.decide(
		f.recs[0],
		fmt.Sprintf(`{"status":"dismissed","reason":"later","text":"after the sale","until":%q}`,
			until.Format(time.RFC3339)),
	)
	if got.Status != "dismissed" || got.Dismissal.Reason != "later" || *got.Dismissal.Text != "after the sale" ||
		!got.Dismissal.Until.Equal(
			until,
		) || got.Dismissal.By != "ada@example.com" || got.Counted || len(got.History) != 2 {
		t.Errorf("%+v", got)
	}
	f.Equal("audited", f.LastAudited(apitest.Org).Target, f.recs[0])
	f.Equal("listed", listed(f.Call(ada, "GET /recommendations/resources?status=dismissed")), "1 i-0/idle 100.00")
	f.Equal("the alternative counts", f.read(f.recs[1]).SavingsUSD, "60.00")
	f.Clock.Advance(30 * 24 * time.Hour)
	f.Equal("when the time is over", f.read(f.recs[0]).Status, recommendation.Open)
	f.Equal("and in the list", listed(f.Call(ada, "GET /recommendations/resources?status=dismissed")), "0")
	f.Equal("applied", f.decide(f.recs[0], `{"status":"applied"}`).Status, recommendation.Applied)
	f.Equal("again", f.decide(f.recs[0], `{"status":"applied"}`).Status, recommendation.Applied)
	f.Equal("open", f.decide(f.recs[0], `{"status":"open"}`).Status, recommendation.Open)
}

func (f *fixture) read(recID string) RecommendationDetail {
	f.Helper()
	return apitest.Data[RecommendationDetail](f.Call(ada, "GET /recommendations/"+recID))
}

func TestRecommendations_RefuseDecisionsWithTheWayOut(t *testing.T) {
	f := newFixture(t)
	path := "PATCH /recommendations/" + f.recs[0]
	for body, want := range map[string]string{
		`{}`:                     "status",
		`{"status":"closed"}`:    "status",
		`{"status":"candidate"}`: "status",
		`{"status":"dismissed"}`: "reason",
		`{"status":"dismissed","reason":"bored"}`:                                               "reason",
		`{"status":"dismissed","reason":"later","until":"2020-01-01"}`:                          "until",
		`{"status":"dismissed","reason":"later","until":"2099-01-01"}`:                          "365 days",
		`{"status":"dismissed","reason":"later","until":"soon"}`:                                "until",
		`{"status":"dismissed","reason":"later","text":"` + strings.Repeat("x", 501) + `"}`:     "text",
		`{"status":"applied","reason":"later"}`:                                                 "dismissed",
		`{"status":"open","until":"` + f.Clock.Now().Add(time.Hour).Format(time.RFC3339) + `"}`: "dismissed",
	} {
		f.Call(ada, path, body).Want(http.StatusBadRequest, want)
	}
	f.Call(ada, path, `{"status":"optimised"}`).Want(http.StatusConflict, "evaluation")
	gone := f.findings()[:1]
	gone[0].Outcome = recommendation.Gone
	f.Clock.Advance(time.Hour)
	f.settle(gone...)
	f.Call(ada, path, `{"status":"applied"}`).Want(http.StatusConflict, "optimised since", "resource_gone")
	f.Call(eve, path, `{"status":"applied"}`).Want(http.StatusNotFound)
}

// theirs is the list of the recommendations of an instance.
func theirs(uid, saving string) string {
	return fmt.Sprintf("2 %s/idle %s %[1]s/rightsizing 0.00", uid, saving)
}

// Grants on a team and on a resource narrow lists, sums, rules and single recommendations.
func TestRecommendations_AGrantNarrowsThemAll(t *testing.T) {
	f := newFixture(t)
	one := []recommendation.RuleCount{{RuleID: "aws-ec2-idle", AccountID: "ca_1", Evaluated: 3, True: 3}}
	f.Must(f.store.WriteCounts(f.In(apitest.Org), apitest.Org, 0, one))
	for name, c := range map[string]struct {
		caller identity.Caller
		list   string
		net    string
	}{
		"team": {apitest.Caller(apitest.Org, "tom", "viewer team:"+f.team), theirs("i-0", "100.00"), "100.00"},
		"resource": {
			apitest.Caller(apitest.Org, "rob", "finops resource:"+f.ids[1]), theirs("i-1", "101.00"), "101.00",
		},
		"nothing": {apitest.Caller(apitest.Org, "nell", "viewer team:team_01k6v0e4y0c2b7m9q8r5t3w1xz"), "0", "0.00"},
	} {
		f.Equal(name, listed(f.Call(c.caller, "GET /recommendations/resources")), c.list)
		sums := apitest.Data[RecommendationSummary](f.Call(c.caller, "GET /recommendations/summary"))
		f.Equal(name+" sum", sums.Net, c.net)
		rules := f.Call(c.caller, "GET /recommendations/rules?search=aws-ec2-idle")
		r := apitest.Data[rest.List[RecommendationRule]](rules).Items[0]
		if r.Evaluated != nil || r.Precision != nil || r.SavingsUSD != c.net {
			t.Errorf("%s: %+v", name, r)
		}
	}
	tom := apitest.Caller(apitest.Org, "tom", "viewer team:"+f.team)
	f.Call(tom, "GET /recommendations/"+f.recs[0]).Want(http.StatusOK)
	f.Call(tom, "GET /recommendations/"+f.recs[2]).Want(http.StatusNotFound)
	f.Call(tom, "PATCH /recommendations/"+f.recs[0], `{"status":"applied"}`).Want(http.StatusForbidden)
	rob := apitest.Caller(apitest.Org, "rob", "finops resource:"+f.ids[1])
	f.Call(rob, "PATCH /recommendations/"+f.recs[2], `{"status":"applied"}`).Want(http.StatusOK, `"applied"`)
	f.Call(rob, "PATCH /recommendations/"+f.recs[0], `{"status":"applied"}`).Want(http.StatusNotFound)
	f.Call(rob, "POST /recommendations/refresh").Want(http.StatusForbidden)
	both := apitest.Caller(apitest.Org, "bo", "viewer", "finops resource:"+f.ids[1])
	f.Call(both, "PATCH /recommendations/"+f.recs[0], `{"status":"applied"}`).Want(http.StatusForbidden, f.recs[0])
}

func TestRecommendationRules_ShowTheirFigures(t *testing.T) {
	f := newFixture(t)
	count := recommendation.RuleCount{
		RuleID:    "aws-ec2-idle",
		AccountID: "ca_1",
		Evaluated: 10,
		True:      3,
		False:     5,
		Unknown:   2,
	}
	count.Miss(recommendation.Missing{Fact: "m.cpu_max_14d", Reason: "few_points"}, 1)
	count.Miss(recommendation.Missing{Fact: "res.asg_name", Permission: "ec2:DescribeTags", Reason: "denied"}, 1)
	f.Must(f.store.WriteCounts(f.In(apitest.Org), apitest.Org, 3, []recommendation.RuleCount{count}))
	f.decide(f.recs[0], `{"status":"dismissed","reason":"wrong"}`)
	f.decide(f.recs[2], `{"status":"applied"}`)
	l := apitest.Data[rest.List[RecommendationRule]](f.Call(ada, "GET /recommendations/rules?search=aws-ec2-idle"))
	r := l.Items[0]
	if l.Total != 1 || r.ID != "aws-ec2-idle" || *r.Evaluated != 10 || *r.True != 3 || *r.False != 5 ||
		*r.Unknown != 2 ||
		len(r.Missing) != 2 || *r.Missing[1].Permission != "ec2:DescribeTags" || *r.Precision != 0.5 || r.Open != 1 ||
		r.SavingsUSD != "102.00" || r.RealizedOverPredicted != nil || !r.Enabled ||
		r.Condition == "" ||
		len(r.Params) == 0 {
		t.Errorf("%+v", r)
	}
	sums := apitest.Data[RecommendationSummary](f.Call(ada, "GET /recommendations/summary"))
	f.Equal("unknown", sums.Unknown, []UnknownReason{{"denied", 1}, {"few_points", 1}})
	for query, want := range map[string]int{
		"": 960, "?provider=kubernetes": 109, "?resource_type=aws-ec2&category=idle,security": -1,
		"?search=no+such+rule": 0,
	} {
		got := apitest.Data[rest.List[RecommendationRule]](f.Call(ada, "GET /recommendations/rules"+query))
		if got.Total != want && (want >= 0 || got.Total == 0) || len(got.Items) > 20 {
			t.Errorf("%s: %d rules, %d on the page", query, got.Total, len(got.Items))
		}
	}
	if last := apitest.Data[rest.List[RecommendationRule]](
		f.Call(ada, "GET /recommendations/rules?limit=100&page=10"),
	); len(
		last.Items,
	) != 60 {
		t.Errorf("%d rules on the last page", len(last.Items))
	}
}

func TestRefresh_AnswersTheJobThatRuns(t *testing.T) {
	f := newFixture(t)
	job := apitest.Data[rest.Job](f.Call(ada, "POST /recommendations/refresh"), http.StatusAccepted)
	again := apitest.Data[rest.Job](f.Call(ada, "POST /recommendations/refresh"), http.StatusAccepted)
	f.Equal("joined", again, job)
	f.Call(ada, "GET "+job.StatusURL).Want(http.StatusOK, `"running"`, `"endedAt":null`)
	f.Call(eve, "GET "+job.StatusURL).Want(http.StatusNotFound)
	f.Call(ada, "GET /recommendations/refresh/x").Want(http.StatusNotFound)
	in := recommendation.RefreshInput{Org: apitest.Org, JobID: job.JobID}
	f.Must(recommendation.FinishRefresh(f.In(apitest.Org), f.Platform, in, recommendation.Settled{Opened: 7}, ""))
	f.Call(ada, "GET "+job.StatusURL).Want(http.StatusOK, `"completed"`, `"opened":7`)
}
