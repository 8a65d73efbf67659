package recommender

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/killpoint"
)

// alone is a rule that is marked autonomous and needs no parameter.
const alone = "aws-ebs-gp2"

// autonomy is an organization with volumes of an older type, and an executor that plans without clouds.
type autonomy struct {
	*fixture
	refused map[string]bool // by native id: what the executor does not plan
	down    bool            // the executor does not answer
}

func newAutonomy(tb testing.TB, envs ...string) *autonomy {
	tb.Helper()
	f := &autonomy{fixture: newFixture(tb), refused: map[string]bool{}}
	f.Workers = lambdacall.Local{remediation.Executor: f.plan}
	f.Workflow = apitest.Idle{}
	f.grow(envs...)
	f.enable(alone)
	return f
}

// grow lets a discovery find a volume of each environment that would cost less as gp3.
func (f *autonomy) grow(envs ...string) {
	f.Helper()
	var all []cloud.Resource
	for n, env := range envs {
		v := f.volume(fmt.Sprint("i-", n), 0)
		v.Facts["volume_type"], v.Capacity = "gp2", map[string]int64{"sizeGiB": 100}
		if env != "" {
			v.Tags = map[string]string{"env": env}
		}
		all = append(all, v)
	}
	f.discover("aws-ebs", all...)
	f.refresh()
}

// refresh stores the metrics of the last days, and the prices of today.
func (f *autonomy) refresh() {
	f.Helper()
	yesterday := dayOf(f.Clock.Now().AddDate(0, 0, -1))
	var fine []measurement.Confirmed
	for _, r := range apitest.Rows[inventory.Resource](f.Fixture, inventory.ResourcePKs(org)...) {
		f.measure(r.UID, "aws-ebs", 20, func(time.Time, cloud.Measure) float64 { return 1 })
		fine = append(fine, measurement.Confirmed{
			UID: r.UID, Day: yesterday, Values: map[string]float64{"iops_max_14d": 100},
		})
	}
	store, c := measurement.New(f.Platform), measurement.Collection{Day: yesterday}
	f.Must(store.NoteCollection(f.In(org), org, inventorytest.Account, c))
	f.Must(store.Confirm(f.In(org), org, inventorytest.Account, c, fine))
	amazon := pricer{unit: cloud.PerMonth, prices: map[string]string{
		"ebs/gp2/storage": "0.12", "ebs/gp3/storage": "0.08", "ebs/gp3/iops": "0.005", "ebs/gp3/throughput": "0.04",
	}}
	f.Must(pricing.New(f.Platform, cloud.Providers{"aws": amazon}).RefreshPrices(
		table.Within(f.Context(), pricing.Prefix), pricing.ProviderRegion{Provider: "aws", Region: "eu-west-1"}))
}

// nextDays evaluates on each of the next days.
func (f *autonomy) nextDays(n int) {
	f.Helper()
	for range n {
		f.Clock.Advance(day)
		f.refresh()
		f.evaluate()
	}
}

// enable lets rules run without approval.
func (f *autonomy) enable(rules ...string) {
	f.Helper()
	o := identity.OrganisationRecord{
		Organisation:      identity.Organisation{ID: org},
		ChosenPreferences: identity.ChosenPreferences{AutonomousRules: &rules},
		AutonomousBy: map[string]identity.Enabler{
			alone: {User: "usr_ada", Email: "ada@example.com", At: f.Clock.Now()},
		},
	}
	f.Put(identity.OrganisationKey(org), o)
}

// plan answers for the executor.
func (f *autonomy) plan(_ context.Context, in json.RawMessage) (any, error) {
	var call workflow.Call
	f.Must(json.Unmarshal(in, &call))
	var asked remediation.PlanInput
	f.Must(json.Unmarshal(call.Input, &asked))
	if f.down {
		return nil, fault.New(fault.Unavailable, "no answer")
	}
	out := remediation.Planned{Targets: asked.Targets, Problems: make([]*remediation.Problem, len(asked.Targets))}
	for i := range out.Targets {
		if f.refused[out.Targets[i].ResourceUID] {
			out.Problems[i] = &remediation.Problem{Kind: fault.Conflict, Message: "an action is in flight"}
		}
		out.Targets[i].SetPlan(remediation.Plan{Before: map[string]string{"status": "running"}})
	}
	return out, nil
}

// requested formats the workflows: their status and the resources of their targets.
func (f *autonomy) requested() string {
	f.Helper()
	var out []string
	for _, w := range f.workflows() {
		var uids []string
		for i := range w.Targets {
			uids = append(uids, w.Targets[i].ResourceUID)
		}
		slices.Sort(uids)
		out = append(out, fmt.Sprint(w.Status, " ", strings.Join(uids, " ")))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func (f *autonomy) workflows() (out []remediation.Workflow) {
	f.Helper()
	s := remediation.New(f.Platform)
	for _, l := range apitest.Value(s.List(f.In(org), org))(f) {
		out = append(out, apitest.Value(s.Get(f.In(org), org, l.ID))(f))
	}
	return out
}

// end gives the only workflow an end.
func (f *autonomy) end(to remediation.Status) {
	f.Helper()
	w := f.workflows()[0]
	s := remediation.New(f.Platform)
	if to == remediation.RolledBack {
		w = apitest.Value(s.Move(f.In(org), w, remediation.Change{To: remediation.Succeeded, By: "executor"}))(f)
	}
	apitest.Value(s.Move(f.In(org), w, remediation.Change{To: to, By: "executor", Why: "a test"}))(f)
}

func (f *autonomy) editAccount(edit func(*inventory.Account)) {
	f.Helper()
	k := inventory.AccountKey(org, inventorytest.Account)
	a := apitest.Value(table.Read[inventory.Account](f.In(org), f.Table, k))(f)
	edit(&a)
	f.Put(k, a)
}

func TestAutonomous_ADailyPassRequestsWhatNeedsNoPerson(t *testing.T) {
	f := newAutonomy(t, "dev", "production", "", "test")
	f.evaluate()
	f.Equal("workflows", f.requested(), "running i-0 i-3")
	w := f.workflows()[0]
	f.Equal("requester", w.Requester.Email, "recommender")
	last := w.History[len(w.History)-1]
	if last.By != "recommender" || !strings.Contains(last.Why, "enabled by ada@example.com") {
		t.Errorf("the history says %+v", last)
	}
	var entries []string
	for _, e := range f.Audited(org) {
		if e.Action == "remediateAutonomously" {
			entries = append(entries, fmt.Sprintf("%s %s %s", e.Actor, e.Target, e.Changes.After))
		}
	}
	if len(entries) != 1 || !strings.HasPrefix(entries[0], "system "+w.ID) ||
		!strings.Contains(entries[0], "ada@example.com") {
		t.Errorf("the audit log has %q", entries)
	}
}

// What stops a request: nothing is requested, by a daily pass that finds the recommendation open.
func TestAutonomous_NothingElseIsRequested(t *testing.T) {
	for name, prepare := range map[string]func(f *autonomy){
		"the rule is not enabled": func(f *autonomy) { f.enable() },
		"another rule is enabled": func(f *autonomy) { f.enable("aws-sagemaker-notebook-idle", "aws-ec2-idle") },
		"the account is read_only": func(f *autonomy) {
			f.editAccount(func(a *inventory.Account) { a.PermissionLevel = "read_only" })
		},
		"the executor refuses the plan": func(f *autonomy) { f.refused["i-0"] = true },
		"the executor does not answer":  func(f *autonomy) { f.down = true },
		"50 changes were made today": func(f *autonomy) {
			for range remediation.MaxDayChanges {
				apitest.Value(f.Table.Write(f.In(org), remediation.CountChange(org, f.Clock.Now())))(f)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newAutonomy(t, "dev")
			prepare(f)
			if got := f.evaluate(); got.Whole != 1 {
				t.Errorf("the pass has not ended: %+v", got)
			}
			f.Equal("workflows", f.requested(), "")
			f.Equal("rows", f.openOf(alone), "i-0")
		})
	}
}

func TestAutonomous_ADismissedRecommendationIsLeftAlone(t *testing.T) {
	f := newAutonomy(t, "dev")
	f.enable()
	f.evaluate()
	_, _, err := recommendation.New(f.Platform).Decide(f.In(org), org, f.rowOf(alone).ID, recommendation.Decision{
		Status: recommendation.Dismissed, Reason: "intended", By: "ada@example.com", At: f.Clock.Now(),
	})
	f.Must(err)
	f.enable(alone)
	f.nextDays(1)
	f.Equal("workflows", f.requested(), "")
}

// A workflow that did not succeed is not requested again in the same episode.
func TestAutonomous_NothingIsRequestedAgainAfterItFailed(t *testing.T) {
	for _, status := range []remediation.Status{remediation.Failed, remediation.RolledBack, remediation.Cancelled} {
		f := newAutonomy(t, "dev")
		f.evaluate()
		f.end(status)
		f.nextDays(9)
		f.Equal("workflows", f.requested(), string(status)+" i-0")
	}
}

func TestAutonomous_AtMostTenADay(t *testing.T) {
	f := newAutonomy(t, slices.Repeat([]string{"dev"}, 14)...)
	f.evaluate()
	f.Equal("targets", len(f.workflows()[0].Targets), maxRequested)
	f.end(remediation.Succeeded)
	f.nextDays(1)
	f.Equal("workflows on the next day", len(f.workflows()), 2)
}

// A refresh evaluates as a daily pass does, and requests nothing.
func TestAutonomous_ARefreshRequestsNothing(t *testing.T) {
	f := newAutonomy(t, "dev")
	w := newWorker(f.Platform, nil)
	in := recommendation.RefreshInput{Org: org, JobID: "job_01k00000000000000000000001"}
	f.Must(evaluateJob(f.In(org), w, in))
	f.Equal("workflows", f.requested(), "")
}

// However often the pass runs, there is one workflow.
func TestKilledAtAnyStep_AutonomousWorkflowsAreRequestedOnce(t *testing.T) {
	killpoint.LosesNothing(t, 20, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		f := newAutonomy(t, "dev", "test")
		lives.Run(f.Context(), t, func(ctx context.Context, p *killpoint.Process) error {
			on := p.Platform(f.Platform)
			_, err := Evaluate(ctx, on, nil)
			return err
		})
		return f.requested()
	})
}
