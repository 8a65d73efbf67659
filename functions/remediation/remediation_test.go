package remediation

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/recommendation"
	domain "lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	engine "lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

var (
	ada = apitest.Caller(apitest.Org, "ada", "owner")
	bob = apitest.Caller(apitest.Org, "bob", "owner")
	pro = apitest.Caller(apitest.Org, "pro", "remediation:read,remediation:write,recommendations:read")
	eve = apitest.Caller(apitest.OtherOrg, "eve", "owner")
)

// no is the body of a rejection.
const no = `{"reason":"it is needed"}`

// fixture has three instances with a recommendation each, and an executor that plans without clouds.
type fixture struct {
	*apitest.Fixture
	ids, recs []string
	store     *domain.Store
	status    string                    // that the executor finds
	problems  map[string]domain.Problem // by recommendation
	started   []string
	meanwhile func() // what happens while the executor rehearses; may be nil
	planning  func() // what happens while the executor plans; may be nil
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t, Operations), status: "running", problems: map[string]domain.Problem{}}
	f.Workers = lambdacall.Local{domain.Executor: f.executor}
	f.Workflow = starts{f: f}
	f.store = domain.New(f.Platform)
	f.ids = inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2", inventorytest.Instances(3)...)
	for i := range f.ids {
		f.recs = append(f.recs, f.recommend(i, "aws-ec2-idle", nil))
	}
	return f
}

// recommend opens a recommendation of a rule for an instance.
func (f *fixture) recommend(i int, ruleID string, values map[string]any) string {
	f.Helper()
	uid := fmt.Sprint("i-", i)
	found := recommendation.Finding{
		RuleID: ruleID, RuleVersion: 1, Outcome: recommendation.True, Category: "idle",
		Severity: recommendation.High, Effort: "low", Risk: "low", Title: "Instance does almost nothing",
		Evidence: recommendation.Evidence{Values: values},
		Resource: recommendation.Resource{
			ResourceID: f.ids[i], ResourceUID: uid, ResourceName: fmt.Sprint("web-", i), ResourceType: "aws-ec2",
			Provider: "aws", CloudAccountID: inventorytest.Account, Region: "eu-west-1",
		},
		Savings: recommendation.Savings{
			Net: money.FromInt(10), Gross: money.FromInt(12), Basis: recommendation.Billed,
		},
	}
	pass := recommendation.Pass{ID: "pass " + uid + ruleID, At: f.Clock.Now()}
	apitest.Value(recommendation.New(f.Platform).Settle(f.In(apitest.Org), apitest.Org, recommendation.ShardOf(uid),
		pass, []recommendation.Finding{found}))(f)
	return recommendation.IDOf(f.ids[i], uid, ruleID)
}

// starts records the executions that were started.
type starts struct {
	engine.Engine
	f *fixture
}

func (s starts) Start(_ context.Context, machine, name string, _ any) error {
	s.f.started = append(s.f.started, machine+" "+name)
	return nil
}

// executor answers the task that plans targets.
func (f *fixture) executor(_ context.Context, in json.RawMessage) (any, error) {
	var call engine.Call
	f.Must(json.Unmarshal(in, &call))
	if call.Task == domain.RehearseTask {
		return f.rehearsed(call)
	}
	var asked domain.PlanInput
	f.Must(json.Unmarshal(call.Input, &asked))
	if call.Task != domain.PlanTask {
		return nil, fault.New(fault.Invalid, "task %s", call.Task)
	}
	if f.planning != nil {
		f.planning()
	}
	out := domain.Planned{Targets: asked.Targets, Problems: make([]*domain.Problem, len(asked.Targets))}
	for i := range out.Targets {
		if p, is := f.problems[out.Targets[i].RecID]; is {
			out.Problems[i] = &p
		}
		out.Targets[i].SetPlan(domain.Plan{
			Calls: []string{"stop " + out.Targets[i].ResourceUID}, Before: map[string]string{"status": f.status},
			After: map[string]string{"status": "stopped"}, Undo: "it is started again",
		})
	}
	return out, nil
}

func (f *fixture) remediate(c identity.Caller, rec int, body string) apitest.Answer {
	f.Helper()
	return f.Call(c, "POST /recommendations/"+f.recs[rec]+"/remediate", body)
}

func (f *fixture) get(id string) WorkflowDetail {
	f.Helper()
	return apitest.Data[WorkflowDetail](f.Call(ada, "GET /remediation-workflows/"+id))
}

func stepText(w WorkflowDetail) string {
	var out []string
	for _, s := range w.Steps {
		out = append(out, s.Name+" "+string(s.Status))
	}
	return strings.Join(out, ", ")
}

func TestRemediate_ADryRunAnswersThePlanAndStoresNothing(t *testing.T) {
	f := newFixture(t)
	a := f.remediate(ada, 0, `{"dryRun":true}`).Want(http.StatusOK)
	got := apitest.Data[WorkflowDryRun](a)
	if len(got.Targets) != 1 || got.Targets[0].Plan.Calls[0] != "stop i-0" || got.SavingsUSD != "10.00" ||
		got.Targets[0].Plan.Before["status"] != "running" || got.Digest == "" || got.Targets[0].Verb != "stop" {
		t.Errorf("%+v", got)
	}
	rows := apitest.Value(f.Table.Query(f.In(apitest.Org),
		table.Query{PK: table.OrgPK(apitest.Org) + "REM", Limit: 10}))(t)
	f.Equal("stored", len(rows.Items), 0)
	f.Equal("started", len(f.started), 0)
}

func TestRemediate_AnotherPersonApproves(t *testing.T) {
	f := newFixture(t)
	job := apitest.Data[rest.Job](f.remediate(ada, 0, `{"reason":"nobody uses it"}`), http.StatusAccepted)
	f.Equal("job", fmt.Sprint(job.Status, " ", job.StatusURL), "awaiting_approval /remediation-workflows/"+job.JobID)
	f.Equal("audited", f.LastAudited(apitest.Org).Target, job.JobID)
	w := f.get(job.JobID)
	f.Equal("steps", stepText(w), "precondition succeeded, approval running, action pending, validation pending")
	f.Equal("reason", *w.Reason, "nobody uses it")
	path := "POST /remediation-workflows/" + job.JobID
	f.Call(ada, path+"/approve").Want(http.StatusForbidden, "nobody approves or rejects their own request")
	f.Call(ada, path+"/reject", no).Want(http.StatusForbidden)
	f.Call(eve, path+"/approve").Want(http.StatusNotFound)
	got := apitest.Data[WorkflowDetail](f.Call(pro, path+"/approve").Want(http.StatusOK)) // write suffices
	f.Equal("status", got.Status, domain.Running)
	f.Equal("decided by", *got.DecidedBy, "pro@example.com")
	f.Equal("started", fmt.Sprint(f.started), "[remediation "+job.JobID+"]")
	f.Call(bob, path+"/approve").Want(http.StatusConflict, "awaits no decision")
	f.Call(bob, path+"/reject", no).Want(http.StatusConflict)
	f.Call(bob, path+"/rollback").Want(http.StatusConflict, "running")
}

func TestRemediate_RunsWithoutApprovalWhereTheOrganizationAllowsTheRule(t *testing.T) {
	const ruleID = "aws-ec2-schedule-nonprod"
	for name, c := range map[string]struct {
		rules  []string
		env    string
		status string
	}{
		"nothing is allowed at first":    {nil, "nonprod", "awaiting_approval"},
		"an allowed rule":                {[]string{ruleID}, "nonprod", "running"},
		"another rule":                   {[]string{"aws-ec2-idle"}, "nonprod", "awaiting_approval"},
		"a resource of production":       {[]string{ruleID}, "prod", "awaiting_approval"},
		"a resource without environment": {[]string{ruleID}, "", "awaiting_approval"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Put(identity.OrganisationKey(apitest.Org), identity.OrganisationRecord{
				ChosenPreferences: identity.ChosenPreferences{AutonomousRules: &c.rules},
			})
			f.recs[0] = f.recommend(0, ruleID, map[string]any{"env": c.env})
			job := apitest.Data[rest.Job](f.remediate(ada, 0, `{"parameters":{"scheduleID":"sch_1"}}`),
				http.StatusAccepted)
			f.Equal("status", job.Status, c.status)
			f.Equal("started", len(f.started) == 1, c.status == "running")
			if c.status == "running" {
				f.Equal("steps", stepText(f.get(job.JobID)),
					"precondition running, approval skipped, action pending, validation pending")
			}
		})
	}
	f := newFixture(t)
	f.Put(identity.OrganisationKey(apitest.Org), identity.OrganisationRecord{
		ChosenPreferences: identity.ChosenPreferences{AutonomousRules: &[]string{"aws-ec2-idle"}},
	})
	job := apitest.Data[rest.Job](f.remediate(ada, 0, `{}`), http.StatusAccepted) // the rule is not autonomous
	f.Equal("status", job.Status, "awaiting_approval")
}

func TestRemediate_TwoApproversAtOnceStartItOnce(t *testing.T) {
	f := newFixture(t)
	id := apitest.Data[rest.Job](f.remediate(ada, 0, `{}`), http.StatusAccepted).JobID
	var wg sync.WaitGroup
	answers := make([]apitest.Answer, 2)
	for i, c := range []identity.Caller{bob, pro} {
		wg.Go(func() { answers[i] = f.Call(c, "POST /remediation-workflows/"+id+"/approve") })
	}
	wg.Wait()
	if answers[0].Status+answers[1].Status != http.StatusOK+http.StatusConflict {
		t.Errorf("%d and %d", answers[0].Status, answers[1].Status)
	}
	f.Equal("started", len(f.started), 1)
}

func TestPropose_NeedsAnApproverWhoMayExecute(t *testing.T) {
	f := newFixture(t)
	body := map[string]any{"recommendationIDs": []string{f.recs[1], f.recs[0], f.recs[1]}}
	job := apitest.Data[rest.Job](f.Call(pro, "POST /remediation-workflows", body), http.StatusAccepted)
	w := f.get(job.JobID)
	f.Equal("targets", len(w.Targets), 2)
	f.Equal("savings", w.SavingsUSD, "20.00")
	f.Equal("needs execute", w.NeedsExecute, true)
	other := apitest.Caller(apitest.Org, "other", "remediation:read,remediation:write")
	f.Call(other, "POST /remediation-workflows/"+job.JobID+"/approve").Want(http.StatusForbidden, "remediation:execute")
	f.Call(pro, "POST /recommendations/"+f.recs[2]+"/remediate", `{}`).Want(http.StatusForbidden)
	f.Call(bob, "POST /remediation-workflows/"+job.JobID+"/approve").Want(http.StatusOK)
	f.Call(pro, "POST /remediation-workflows/"+job.JobID+"/rollback").Want(http.StatusForbidden)
}

func TestPropose_RefusesBadInputWithTheReason(t *testing.T) {
	f := newFixture(t)
	many := make([]string, 51)
	for i := range many {
		many[i] = f.recs[0]
	}
	post := "POST /remediation-workflows"
	f.Call(ada, post, map[string]any{"recommendationIDs": many}).Want(http.StatusBadRequest, "recommendationIDs")
	f.Call(ada, post, `{"recommendationIDs":[]}`).Want(http.StatusBadRequest)
	f.Call(ada, post, `{"recommendationIDs":["rec_01k6v0e4y0c2b7m9q8r5t3w1xz"]}`).Want(http.StatusNotFound)
	f.Call(eve, post, map[string]any{"recommendationIDs": f.recs[:1]}).Want(http.StatusNotFound)
	f.remediate(eve, 0, `{}`).Want(http.StatusNotFound)
	for kind, status := range map[fault.Kind]int{
		fault.Conflict: http.StatusConflict, fault.Denied: http.StatusForbidden, fault.Invalid: http.StatusBadRequest,
	} {
		f.problems[f.recs[1]] = domain.Problem{Kind: kind, Message: "it is dismissed since yesterday"}
		f.Call(ada, post, map[string]any{"recommendationIDs": f.recs[:2]}).Want(status, "dismissed since yesterday")
	}
	f.Equal("workflows", apitest.Data[rest.List[WorkflowSummary]](f.Call(ada, "GET /remediation-workflows")).Total, 0)
}

func TestApprove_AStalePlanOrAClosedRecommendationIsAConflict(t *testing.T) {
	f := newFixture(t)
	id := apitest.Data[rest.Job](f.remediate(ada, 0, `{}`), http.StatusAccepted).JobID
	path := "POST /remediation-workflows/" + id + "/approve"
	f.status = "stopped"
	f.Call(bob, path).Want(http.StatusConflict, "has changed since it was proposed")
	f.status = "running"
	f.problems[f.recs[0]] = domain.Problem{Kind: fault.Conflict, Message: "it is optimised since 2026-03-01"}
	f.Call(bob, path).Want(http.StatusConflict, "it is optimised since 2026-03-01")
	delete(f.problems, f.recs[0])
	f.Clock.Advance(domain.ApprovalTime)
	f.Call(bob, path).Want(http.StatusConflict, "expired")
	f.Equal("shown as", f.get(id).Status, domain.Expired)
	f.Equal("started", len(f.started), 0)
}

func TestCancel_WithdrawsARequestAndRejectEndsIt(t *testing.T) {
	f := newFixture(t)
	first := apitest.Data[rest.Job](f.remediate(ada, 0, `{}`), http.StatusAccepted).JobID
	f.remediate(bob, 0, `{}`).Want(http.StatusConflict, first)
	got := apitest.Data[WorkflowDetail](f.Call(ada, "POST /remediation-workflows/"+first+"/cancel",
		`{"reason":"wrong one"}`))
	f.Equal("status", got.Status, domain.Cancelled)
	f.Equal("message", *got.Message, "cancelled by ada@example.com: wrong one")
	second := apitest.Data[rest.Job](f.remediate(bob, 0, `{}`), http.StatusAccepted).JobID
	got = apitest.Data[WorkflowDetail](f.Call(ada, "POST /remediation-workflows/"+second+"/reject", no))
	f.Equal("rejected", fmt.Sprint(got.Status, ": ", stepText(got)),
		"cancelled: precondition succeeded, approval failed, action skipped, validation skipped")
	f.Call(ada, "POST /remediation-workflows/"+second+"/cancel").Want(http.StatusConflict)
}

func TestRollback_StartsWorkOfItsOwn(t *testing.T) {
	f := newFixture(t)
	id := apitest.Data[rest.Job](f.remediate(ada, 0, `{}`), http.StatusAccepted).JobID
	f.Call(bob, "POST /remediation-workflows/"+id+"/approve").Want(http.StatusOK)
	w := apitest.Value(f.store.Get(f.In(apitest.Org), apitest.Org, id))(t)
	w.Targets[0].State, w.Targets[0].Changed = domain.Done, true
	apitest.Value(f.store.Move(f.In(apitest.Org), w, domain.Change{To: domain.Succeeded, By: domain.Executor}))(t)
	if f.get(id).RollbackUntil == nil {
		t.Error("it cannot be rolled back")
	}
	f.Call(ada, "POST /remediation-workflows/"+id+"/rollback").Want(http.StatusAccepted)
	f.Equal("started", f.started[1], "remediation "+id+"-undo1")
	f.Equal("by", f.get(id).Rollback.By, "ada@example.com")
}

func TestList_FiltersPagesAndStaysInScope(t *testing.T) {
	f := newFixture(t)
	first := apitest.Data[rest.Job](f.remediate(ada, 0, `{}`), http.StatusAccepted).JobID
	f.Clock.Advance(1e9)
	second := apitest.Data[rest.Job](f.Call(ada, "POST /remediation-workflows",
		map[string]any{"recommendationIDs": f.recs[1:]}), http.StatusAccepted).JobID
	f.Call(ada, "POST /remediation-workflows/"+second+"/cancel").Want(http.StatusOK)
	for query, want := range map[string]string{
		"":                                  "2 " + second + " " + first,
		"?sort_order=asc":                   "2 " + first + " " + second,
		"?status=cancelled":                 "1 " + second,
		"?status=awaiting_approval,running": "1 " + first,
		"?limit=1&page=2":                   "2 " + first,
	} {
		f.Equal(query, listed(f.Call(ada, "GET /remediation-workflows"+query).AtMost(1)), want)
	}
	f.Equal("of another organization", listed(f.Call(eve, "GET /remediation-workflows")), "0")
	narrow := apitest.Caller(apitest.Org, "nia", "remediation:read,remediation:write resource:"+f.ids[0])
	f.Equal("in scope", listed(f.Call(narrow, "GET /remediation-workflows")), "1 "+first)
	f.Call(narrow, "GET /remediation-workflows/"+second).Want(http.StatusNotFound)
	f.Call(narrow, "POST /remediation-workflows/"+first+"/reject", no).Want(http.StatusOK)
	f.Call(narrow, "POST /remediation-workflows",
		map[string]any{"recommendationIDs": f.recs[1:]}).Want(http.StatusNotFound)
}

func TestScopes_ANarrowGrantCarriesOutWhatItCovers(t *testing.T) {
	f := newFixture(t)
	const all = "remediation:read,remediation:write,remediation:execute,recommendations:read resource:"
	nia, ned := apitest.Caller(apitest.Org, "nia", all+f.ids[0]), apitest.Caller(apitest.Org, "ned", all+f.ids[0])
	f.remediate(nia, 1, `{}`).Want(http.StatusNotFound)
	sees := apitest.Caller(apitest.Org, "sue", "recommendations:read", "remediation:execute resource:"+f.ids[0])
	f.remediate(sees, 1, `{}`).Want(http.StatusForbidden, "remediation:execute")
	f.remediate(nia, 0, `{"dryRun":true}`).Want(http.StatusOK)
	id := apitest.Data[rest.Job](f.Call(nia, "POST /remediation-workflows",
		map[string]any{"recommendationIDs": f.recs[:1]}), http.StatusAccepted).JobID
	f.Call(ned, "POST /remediation-workflows/"+id+"/approve").Want(http.StatusOK)
	w := apitest.Value(f.store.Get(f.In(apitest.Org), apitest.Org, id))(t)
	w.Targets[0].State, w.Targets[0].Changed = domain.Done, true
	apitest.Value(f.store.Move(f.In(apitest.Org), w, domain.Change{To: domain.Succeeded, By: domain.Executor}))(t)
	other := apitest.Caller(apitest.Org, "oda", all+f.ids[1])
	f.Call(other, "POST /remediation-workflows/"+id+"/rollback").Want(http.StatusNotFound)
	f.Call(nia, "POST /remediation-workflows/"+id+"/rollback").Want(http.StatusAccepted)
}

func listed(a apitest.Answer) string {
	l := apitest.Data[rest.List[WorkflowSummary]](a)
	out := []string{strconv.Itoa(l.Total)}
	for i := range l.Items {
		out = append(out, l.Items[i].ID)
	}
	return strings.Join(out, " ")
}
