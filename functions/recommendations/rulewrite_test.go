package recommendations

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// own is an own rule as a client sends it.
const own = `{"id":"custom-big-volume","title":"Volume is big","resourceType":"aws-ebs","category":"governance",
"severity":"low","condition":"res.size_gb > p.gb","params":{"gb":50},"remediation":"Make it smaller",
"fixtures":{"true":{"res":{"size_gb":51}},"false":{"res":{"size_gb":50}},"unknown":["res.size_gb"]}}`

// checking lets the fixture's worker check rules.
func checking(f *fixture) *fixture {
	catalogue := condition.NewCatalogue()
	f.Workers = lambdacall.Local{recommendation.CheckWorker: func(_ context.Context, in json.RawMessage) (any, error) {
		var c recommendation.RuleCheck
		f.Must(json.Unmarshal(in, &c))
		d := c.Document
		if c.Text != "" {
			written, err := condition.ReadDocument([]byte(c.Text))
			if err != nil {
				return nil, err
			}
			d.Add(written)
		}
		return recommendation.CheckedRules{Document: d}, catalogue.CheckDocument(&d, f.Clock.Now())
	}}
	return f
}

const rulesPath = "/recommendations/rules"

// shown returns a rule as the list shows it.
func (f *fixture) shown(id string) RecommendationRule {
	f.Helper()
	l := apitest.Data[rest.List[RecommendationRule]](f.Call(ada, "GET "+rulesPath+"?search="+id))
	i := slices.IndexFunc(l.Items, func(r RecommendationRule) bool { return r.ID == id })
	if i < 0 {
		f.Fatalf("rule %s is not listed", id)
	}
	return l.Items[i]
}

func TestOwnRules_AreCreatedChangedListedAndDeleted(t *testing.T) {
	f := checking(newFixture(t))
	made := apitest.Data[RecommendationRule](f.Call(ada, "POST "+rulesPath, own))
	if !made.Own || made.Version != 1 || made.Provider != "aws" || made.Params["gb"] != 50.0 || !made.Enabled ||
		made.Verb != "advice" || made.Effort != "medium" {
		t.Errorf("%+v", made)
	}
	f.Equal("audited", f.LastAudited(apitest.Org).Target, "custom-big-volume")
	f.Call(ada, "POST "+rulesPath, own).Want(http.StatusConflict, "exists already; change it with PUT")
	one := rulesPath + "/custom-big-volume"
	changed := apitest.Data[RecommendationRule](f.Call(ada, "PUT "+one, `{"severity":"high","enabled":false}`))
	if changed.Severity != "high" || changed.Enabled || changed.Version != 2 || changed.Title != "Volume is big" {
		t.Errorf("%+v", changed)
	}
	changed = apitest.Data[RecommendationRule](f.Call(ada, "PUT "+one, `{"enabled":null}`))
	f.Equal("enabled again", changed.Enabled, true)
	same := apitest.Data[RecommendationRule](f.Call(ada, "PUT "+one, `{"severity":"high"}`))
	f.Equal("a change of nothing", same.Version, changed.Version)
	f.Call(ada, "PUT "+rulesPath+"/aws-ec2-idle", `{}`).Want(http.StatusOK)
	versions := apitest.Data[[]RuleSetVersion](f.Call(ada, "GET "+rulesPath+"/versions"))
	f.Equal("versions", len(versions), changed.Version)
	shown := f.shown("custom-big-volume")
	f.Equal("listed", fmt.Sprintln(shown.Own, shown.Severity, *shown.Evaluated), "true high 0\n")
	f.Equal("of its provider", apitest.Data[rest.List[RecommendationRule]](
		f.Call(ada, "GET "+rulesPath+"?provider=azure&search=custom-")).Total, 0)
	f.Equal("to the others", strings.Contains(f.Call(eve, "GET "+rulesPath+"?search=custom-").Body, "custom-"), false)
	f.Call(eve, "PUT "+one, `{"severity":"low"}`).Want(http.StatusNotFound)
	f.Call(eve, "DELETE "+one).Want(http.StatusNotFound)
	f.Equal("deleted", apitest.Data[rest.Deleted](f.Call(ada, "DELETE "+one)).ID, "custom-big-volume")
	f.Call(ada, "DELETE "+one).Want(http.StatusNotFound)
	f.Call(ada, "PUT "+one, `{}`).Want(http.StatusNotFound)
}

func TestOwnRules_RefuseMistakesWithPlaceAndWayOut(t *testing.T) {
	f := checking(newFixture(t))
	for _, c := range []struct{ old, replacement, want string }{
		{"res.size_gb >", "res.size_gib >", `line 1, column 1: fact \"size_gib\" is not declared for aws-ebs`},
		{"res.size_gb >", "res.size_gib >", "the nearest name is size_gb"},
		{"> p.gb", "> p.gb &&", "line 1"},
		{"> p.gb", "> 0", "parameter gb"},
		{`"gb":50}`, `"gb":"a lot"}`, "parameter gb is a lot: give a number"},
		{`"size_gb":51`, `"size_gb":5`, `fixture \"true\": the condition is false`},
		{"custom-big-volume", "aws-ec2-idle", "is a built-in rule; give another id, as custom-aws-ec2-idle"},
		{"custom-big-volume", "big-volume", "id of an own rule"},
		{`"low"`, `"urgent"`, "severity"},
		{"aws-ebs", "aws-ebz", "the nearest name is aws-ebs"},
		{"Make it smaller", strings.Repeat("x", 2001), "remediation"},
		{"res.size_gb > p.gb", "res.size_gb > p.gb && '" + strings.Repeat("x", 15_950) + "' != ''", "at most 16000"},
	} {
		f.Call(ada, "POST "+rulesPath, strings.Replace(own, c.old, c.replacement, 1)).
			Want(http.StatusBadRequest, c.want)
	}
	apitest.Data[RecommendationRule](f.Call(ada, "POST "+rulesPath, own))
	for body, want := range map[string]string{
		`{"title":null}`:         "title: it cannot be null",
		`{"excludes":["true"]}`:  "custom-big-volume is an own rule",
		`{"condition":"1 == 1"}`: "parameter gb",
	} {
		f.Call(ada, "PUT "+rulesPath+"/custom-big-volume", body).Want(http.StatusBadRequest, want)
	}
}

// A rule of 16,000 bytes is saved, one byte more is refused.
func TestOwnRules_HaveAtMost16000Bytes(t *testing.T) {
	f := checking(newFixture(t))
	var o rule.OwnRule
	f.Must(json.Unmarshal([]byte(own), &o))
	o.Condition += " && '' == ''"
	size := len(apitest.JSON(o))
	o.Condition = strings.Replace(o.Condition, "'' ==", "'"+strings.Repeat("x", rule.MaxOwnBytes-size)+"' !=", 1)
	f.Equal("bytes", len(apitest.JSON(o)), rule.MaxOwnBytes)
	f.Call(ada, "POST "+rulesPath, apitest.JSON(o)).Want(http.StatusOK)
	o.ID = "custom-big-volume2"
	f.Call(ada, "POST "+rulesPath, apitest.JSON(o)).Want(http.StatusBadRequest, "16001 bytes")
}

func TestOverrides_AreSetByScopeAndGivenBack(t *testing.T) {
	f := checking(newFixture(t))
	one := rulesPath + "/aws-ec2-idle"
	got := apitest.Data[RecommendationRule](f.Call(ada, "PUT "+one,
		`{"severity":"low","params":{"cpu_pct":3},"excludes":["res.name == 'bastion'"]}`))
	f.Equal("overridden", fmt.Sprintln(got.Severity, got.Params["cpu_pct"], got.Enabled, len(got.Overrides)),
		"low 3 true 1\n")
	got = apitest.Data[RecommendationRule](f.Call(ada, "PUT "+one,
		`{"scope":"account","scopeID":"`+inventorytest.Account+`","enabled":false}`))
	f.Equal("with an account", fmt.Sprintln(got.Enabled, len(got.Overrides), *got.Overrides[1].ScopeID),
		"true 2 ca_1\n")
	f.Equal("listed", fmt.Sprint(f.shown("aws-ec2-idle").Params["cpu_pct"]), "3")
	got = apitest.Data[RecommendationRule](f.Call(ada, "PUT "+one, `{"severity":null,"params":null,"excludes":null}`))
	f.Equal("given back", fmt.Sprintln(got.Severity, got.Params["cpu_pct"], len(got.Overrides)), "high 5 1\n")
	tom := apitest.Caller(apitest.Org, "tom", "viewer team:"+f.team)
	narrow := apitest.Data[rest.List[RecommendationRule]](f.Call(tom, "GET "+rulesPath+"?search=aws-ec2-idle"))
	f.Equal("of a grant on a team", len(narrow.Items[0].Overrides), 0)
	f.Call(ada, "DELETE "+one).Want(http.StatusOK)
	f.Equal("deleted", len(f.shown("aws-ec2-idle").Overrides), 0)
	f.Call(ada, "DELETE "+one).Want(http.StatusNotFound, "has no override")
	for body, want := range map[string]string{
		`{"title":"x"}`:                      "title: it cannot be changed of the built-in rule",
		`{"params":{"cpu":1}}`:               "has no parameter cpu",
		`{"params":{"cpu_pct":"1h"}}`:        "give a whole number",
		`{"scope":"account","enabled":true}`: "account or group with an id",
		`{"excludes":["res.nam == 'a'"]}`:    `fact \"nam\" is not declared`,
	} {
		f.Call(ada, "PUT "+one, body).Want(http.StatusBadRequest, want)
	}
	for _, scope := range []string{`"account","scopeID":"ca_2"`, `"group","scopeID":"grp_2"`} {
		f.Call(ada, "PUT "+one, `{"enabled":false,"scope":`+scope+`}`).Want(http.StatusNotFound, "does not exist")
	}
	f.Call(ada, "PUT "+rulesPath+"/aws-ec2-idel", `{}`).Want(http.StatusNotFound)
	f.Call(tom, "PUT "+one, `{"enabled":false}`).Want(http.StatusForbidden)
}

// The export of one organization is planned and applied in another one; the result exports the same.
func TestRules_AnExportCanBeSentBack(t *testing.T) {
	f := checking(newFixture(t))
	apitest.Data[RecommendationRule](f.Call(ada, "POST "+rulesPath, own))
	f.Call(ada, "PUT "+rulesPath+"/aws-ec2-idle", `{"params":{"cpu_pct":3},"enabled":false}`).Want(http.StatusOK)
	asYAML := f.Call(ada, "GET "+rulesPath+"/export")
	asJSON := f.Call(ada, "GET "+rulesPath+"/export?format=json")
	f.Equal("type", asYAML.Header.Get("Content-Type")+asJSON.Header.Get("Content-Type"), yamlType+jsonType)
	for _, body := range []string{asJSON.Body, `{"document":` + apitest.JSON(asYAML.Body) + `}`} {
		f.Call(ada, "POST "+rulesPath+"/plan", body).Want(http.StatusConflict, "nothing to plan")
		job := apitest.Data[rest.Job](f.Call(eve, "POST "+rulesPath+"/plan", body), http.StatusAccepted)
		f.finish(apitest.OtherOrg, job.JobID)
		f.Call(eve, "POST "+plans+"/"+job.JobID+"/apply").Want(http.StatusOK)
		again := f.Call(eve, "GET "+rulesPath+"/export?format=json").Body
		if _, mine, _ := strings.Cut(asJSON.Body, `"rules"`); !strings.HasSuffix(again, mine) {
			t.Errorf("%s\nis not %s", again, mine)
		}
		restore := apitest.Data[rest.Job](f.Call(eve, "POST "+rulesPath+"/plan", `{"restoreVersion":0}`),
			http.StatusAccepted)
		f.finish(apitest.OtherOrg, restore.JobID)
		f.Call(eve, "POST "+plans+"/"+restore.JobID+"/apply").Want(http.StatusOK)
	}
}

// finish ends a plan as the worker does.
func (f *fixture) finish(org, planID string) {
	f.Helper()
	p := apitest.Value(f.store.ReadRulePlan(f.In(org), org, planID))(f)
	base := apitest.Value(f.store.ReadRules(f.In(org), org))(f)
	p.Base, p.Types = base.Version, []string{"aws-ec2"}
	p.Inventory = apitest.Value(f.store.InventoryPrint(f.In(org), org, p.Types))(f)
	p.Totals.Opened = 1
	f.Must(f.store.FinishRulePlan(f.In(org), org, &p, []recommendation.RulePlanResult{
		{RuleID: "custom-a", Change: recommendation.PlanAdds, Opened: 1, Samples: []recommendation.PlanSample{
			{Effect: recommendation.SampleOpened, ResourceUID: "i-0", Values: map[string]any{"vcpu": 2.0}},
		}, Days: []recommendation.PlanDay{{Day: "2026-03-01", Matches: 1}}},
		{RuleID: "custom-b", Change: recommendation.PlanRemoves},
	}))
}

func TestRules_APlanIsReadAppliedAndUndone(t *testing.T) {
	f := checking(newFixture(t))
	started := f.Call(ada, "POST "+rulesPath+"/plan", `{"rules":[`+own+`]}`)
	job := apitest.Data[rest.Job](started, http.StatusAccepted)
	f.Equal("job", job.Status+job.StatusURL, "running"+plans+"/"+job.JobID)
	f.Equal("audited", f.LastAudited(apitest.Org).Target, job.JobID)
	one := plans + "/" + job.JobID
	f.Call(ada, "POST "+one+"/apply").Want(http.StatusConflict, "still running")
	f.finish(apitest.Org, job.JobID)
	p := apitest.Data[RulePlan](f.Call(ada, "GET "+one+"?limit=1"))
	if p.Status != "completed" || p.Total != 2 || len(p.Rules) != 1 || p.Rules[0].Samples[0].Values["vcpu"] != 2.0 ||
		p.Rules[0].Days[0].Matches != 1 || p.Opened != 1 || *p.StartedBy != "ada@example.com" {
		t.Errorf("%+v", p)
	}
	f.Equal("page 2", apitest.Data[RulePlan](f.Call(ada, "GET "+one+"?limit=1&page=2")).Rules[0].RuleID, "custom-b")
	f.Call(eve, "GET "+one).Want(http.StatusNotFound)
	f.Call(eve, "POST "+one+"/apply").Want(http.StatusNotFound)
	applied := apitest.Data[AppliedPlan](f.Call(ada, "POST "+one+"/apply"))
	f.Equal("applied", fmt.Sprint(applied.Version, applied.PreviousVersion, applied.Rules), "1 0 [custom-big-volume]")
	f.Call(ada, "POST "+one+"/apply").Want(http.StatusConflict, "applied already")
	f.Equal("status", apitest.Data[RulePlan](f.Call(ada, "GET "+one)).Status, "applied")
	f.Equal("in force", f.shown("custom-big-volume").Version, 1)

	undo := apitest.Data[rest.Job](f.Call(ada, "POST "+rulesPath+"/plan", `{"restoreVersion":0}`), http.StatusAccepted)
	f.finish(apitest.Org, undo.JobID)
	f.Call(ada, "POST "+plans+"/"+undo.JobID+"/apply").Want(http.StatusOK, `"version":2`)
	f.Equal("none", strings.Contains(f.Call(ada, "GET "+rulesPath+"/export").Body, "custom-"), false)
	f.Call(ada, "GET "+rulesPath+"/export?version=1").Want(http.StatusOK, "custom-big-volume")
	versions := apitest.Data[[]RuleSetVersion](f.Call(ada, "GET "+rulesPath+"/versions"))
	f.Equal("versions", fmt.Sprintln(len(versions), *versions[1].Why, versions[1].Rules), "2 plan "+job.JobID+" 1\n")
	f.Equal("of others", f.Call(eve, "GET "+rulesPath+"/versions").Body, `{"data":[]}`)
}

func TestRules_RefuseBadPlans(t *testing.T) {
	f := checking(newFixture(t))
	for body, want := range map[string]string{
		`{}`:                                  "send what to plan",
		`{"restoreVersion":1,"prune":true}`:   "send it alone",
		`{"restoreVersion":-1}`:               "restoreVersion",
		`{"document":"rules: ["}`:             "no YAML",
		`{"document":"rulez: []"}`:            `unknown field`,
		`{"rules":[` + own + `,` + own + `]}`: "occurs twice",
	} {
		f.Call(ada, "POST "+rulesPath+"/plan", body).Want(http.StatusBadRequest, want)
	}
	f.Call(ada, "POST "+rulesPath+"/plan", `{"restoreVersion":7}`).Want(http.StatusNotFound, "version 7")
	f.Call(ada, "GET "+rulesPath+"/export?version=7").Want(http.StatusNotFound, "version 7")
	f.Call(ada, "POST "+rulesPath+"/plan",
		`{"overrides":[{"rule":"aws-ec2-idle","scope":"account","scopeID":"ca_2","enabled":false}]}`).
		Want(http.StatusNotFound, "ca_2")
	for _, id := range []string{"x", "job_01k6v0e4y0c2b7m9q8r5t3w1xz"} {
		f.Call(ada, "GET "+plans+"/"+id).Want(http.StatusNotFound)
		f.Call(ada, "POST "+plans+"/"+id+"/apply").Want(http.StatusNotFound)
	}
	viewer := apitest.Caller(apitest.Org, "vic", "viewer")
	f.Call(viewer, "POST "+rulesPath+"/plan", `{"prune":true}`).Want(http.StatusForbidden)
	job := apitest.Data[rest.Job](f.Call(ada, "POST "+rulesPath+"/plan", `{"rules":[`+own+`]}`), http.StatusAccepted)
	f.finish(apitest.Org, job.JobID)
	f.Clock.Advance(25 * time.Hour)
	f.Call(ada, "POST "+plans+"/"+job.JobID+"/apply").Want(http.StatusConflict, "more than 24 hours ago")
}
