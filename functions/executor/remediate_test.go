package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// remedy is an account of the simulated cloud with open recommendations, and a workflow on them.
type remedy struct {
	*fixture
	store   *remediation.Store
	recs    *recommendation.Store
	targets []remediation.Target
	w       remediation.Workflow
}

// remedySettings make a small cloud in which nothing is stopped.
func remedySettings(more ...string) map[string]string {
	out := map[string]string{"size": "60", "stopped": "0", "regions": "1"}
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// newRemedy opens recommendations of a rule for n resources of a type.
func newRemedy(t *testing.T, settings map[string]string, ruleID, kind string, n int) *remedy {
	t.Helper()
	f := newFixture(t, settings)
	f.e.p.Workflow = apitest.Idle{}
	m := &remedy{fixture: f, store: remediation.New(f.e.p), recs: recommendation.New(f.e.p)}
	for _, r := range f.resources {
		if r.Type == kind && r.Status == cloud.Running && r.Unschedulable == "" && len(m.targets) < n &&
			inventory.ControllerOf(r.Tags) == "" {
			m.targets = append(m.targets, m.recommend(ruleID, r))
		}
	}
	if len(m.targets) != n {
		t.Fatalf("%d running %s", len(m.targets), kind)
	}
	return m
}

// recommend opens a recommendation, and returns it as a target.
func (m *remedy) recommend(ruleID string, r inventory.Resource) remediation.Target {
	m.Helper()
	f := recommendation.Finding{
		RuleID: ruleID, RuleVersion: 1, Outcome: recommendation.True, Category: "idle", Severity: recommendation.High,
		Effort: "low", Risk: "low", Title: "Idle", Reason: "no use",
		Resource: recommendation.Resource{
			ResourceID: r.ID, ResourceUID: r.UID, ResourceName: r.Name, ResourceType: r.Type, Provider: r.Provider,
			CloudAccountID: r.CloudAccountID, Region: r.Region,
		},
		Savings: recommendation.Savings{
			Gross: money.FromInt(9), Net: money.FromInt(9), Basis: recommendation.Estimated,
		},
	}
	pass := recommendation.Pass{ID: id.New("job", m.Clock.Now()), At: m.Clock.Now()}
	apitest.Value(m.recs.Settle(m.ctx, org, recommendation.ShardOf(r.UID), pass, []recommendation.Finding{f}))(m)
	return remediation.Target{
		RecID: recommendation.IDOf(r.ID, r.UID, ruleID), RuleID: ruleID, RuleVersion: 1, Title: "Idle",
		ResourceID: r.ID, ResourceUID: r.UID, ResourceName: r.Name, ResourceType: r.Type, Provider: r.Provider,
		CloudAccountID: r.CloudAccountID, Region: r.Region, SavingUSD: money.FromInt(9), State: remediation.Waiting,
	}
}

func (m *remedy) person(name string) remediation.Person {
	return remediation.Person{User: "usr_" + name, Email: name + "@example.com", At: m.Clock.Now()}
}

// plan plans the targets.
func (m *remedy) plan() remediation.Planned {
	m.Helper()
	return apitest.Value(m.e.remediator().Plan(m.ctx, remediation.PlanInput{Org: org, Targets: m.targets}))(m)
}

// approve proposes the targets as ada, and approves them as eve.
func (m *remedy) approve() {
	m.Helper()
	got := m.plan()
	m.Must(got.First())
	m.w = apitest.Value(m.store.Create(m.ctx,
		remediation.Workflow{Org: org, Targets: got.Targets, Requester: m.person("ada")}))(m)
	m.w = apitest.Value(m.store.Approve(m.ctx, m.w, m.person("eve")))(m)
}

// live runs the workflow and its actions in one process until the workflow has ended, on the manual clock.
func (m *remedy) live(ctx context.Context, p *platform.Platform) error {
	e := New(p, cloud.Providers{"simulated": simulated.New(p.Table, p.Clock)})
	for range 2000 {
		got, err := e.remediator().Advance(ctx, remediation.Input{Org: org, WorkflowID: m.w.ID})
		if err != nil {
			return err
		}
		if got.Done {
			if got.At = m.resumeAt(ctx); got.At.IsZero() {
				return nil
			}
		}
		if !got.At.After(m.Clock.Now()) {
			return fmt.Errorf("the next step is at %s, and it is %s", got.At, m.Clock.Now())
		}
		if err := m.runActions(ctx, e); err != nil {
			return err
		}
		step := got.At.Sub(m.Clock.Now())
		if step < time.Hour { // else it waits for a deletion or a cool-down, and no action is in flight
			step = min(step, 15*time.Second)
		}
		m.Clock.Advance(step)
	}
	return fmt.Errorf("workflow %s does not end", m.w.ID)
}

// runActions runs the open actions one step further.
func (m *remedy) runActions(ctx context.Context, e *Executor) error {
	for _, a := range apitest.Rows[execution.Action](m.Fixture, execution.ActionPKs(org)...) {
		if a.Status.IsFinal() {
			continue
		}
		in := execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled}
		if _, err := e.RunActions(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// run carries the workflow out and reads it back.
func (m *remedy) run() remediation.Workflow {
	m.Helper()
	m.Must(m.live(m.ctx, m.e.p))
	m.w = apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(m)
	return m.w
}

// rollBack rolls the workflow back and reads it again.
func (m *remedy) rollBack() remediation.Workflow {
	m.Helper()
	m.w = apitest.Value(m.store.RequestRollback(m.ctx, m.w, m.person("bob")))(m)
	return m.run()
}

// scaling returns how the first target is scaled now.
func (m *remedy) scaling() cloud.Autoscaling {
	m.Helper()
	t := &m.targets[0]
	return apitest.Value(m.conn.(cloud.Autoscaler).ReadAutoscaling(m.ctx, t.ResourceType, t.Region, t.ResourceUID))(m)
}

func (m *remedy) status() cloud.Status {
	m.Helper()
	return m.state(m.resource(m.targets[0].ResourceUID))
}

func (m *remedy) row() recommendation.Row {
	m.Helper()
	return apitest.Value(m.recs.Read(m.ctx, org, m.targets[0].RecID))(m)
}

func states(w *remediation.Workflow) string {
	var out []string
	for i := range w.Targets {
		out = append(out, fmt.Sprint(i, " ", w.Targets[i].State))
	}
	return strings.Join(out, ", ")
}

func steps(w *remediation.Workflow) string {
	var out []string
	for _, s := range w.Steps.Named() {
		out = append(out, s.Name+" "+string(s.Status))
	}
	return strings.Join(out, ", ")
}

func TestRemediate_AStopRunsIsWatchedAndIsRolledBack(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-ec2-idle", "aws-ec2", 1)
	m.approve()
	began := m.Clock.Now()
	w := m.run()
	m.Equal("status", w.Status, remediation.Succeeded)
	m.Equal("steps", steps(&w), "precondition succeeded, approval succeeded, action succeeded, validation succeeded")
	m.Equal("the machine", m.status(), cloud.Stopped)
	if took := m.Clock.Now().Sub(began); took < 15*time.Minute {
		t.Errorf("it was watched for %s", took)
	}
	row := m.row()
	m.Equal("recommendation", row.Status, recommendation.Applied)
	m.Equal("by", row.History[len(row.History)-1].By, "eve@example.com")
	a := m.action(w.Targets[0].ActionID)
	m.Equal("action", fmt.Sprint(a.Status, a.Reason, a.ChangedBy), "succeededremediationremediation:"+w.ID)
	w = m.rollBack()
	m.Equal("status", w.Status, remediation.RolledBack)
	m.Equal("the machine", m.status(), cloud.Running)
	m.Equal("recommendation", m.row().Status, recommendation.Open)
	m.Equal("record", m.resource(w.Targets[0].ResourceUID).ActionID, "")
}

func TestRemediate_AScaleGivesTheCapturedScalingBackExactly(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-asg-min-too-high", "aws-asg", 1)
	before := m.scaling()
	m.targets[0].Parameters = map[string]string{"min_size": strconv.FormatInt(before.Min-1, 10)}
	m.approve()
	w := m.run()
	m.Equal("status", w.Status, remediation.Succeeded)
	m.Equal("min", m.scaling().Min, before.Min-1)
	m.Equal("max", m.scaling().Max, before.Max)
	m.Equal("released", m.resource(w.Targets[0].ResourceUID).ActionID, "")
	w = m.rollBack()
	m.Equal("status", w.Status, remediation.RolledBack)
	m.Equal("scaling", apitest.JSON(m.scaling()), apitest.JSON(before))
}

// night stores a schedule.
func (m *remedy) night() scheduling.Schedule {
	m.Helper()
	now := m.Clock.Now()
	return apitest.Value(m.e.schedules.CreateSchedule(m.ctx, org, scheduling.Schedule{
		ID: id.New("sch", now), Name: "Nights", Timezone: "UTC", Enabled: true, Drift: scheduling.ReportDrift,
		CreatedAt: now, UpdatedAt: now,
		Crons: []scheduling.CronLine{{ID: "cron_1", Action: cloud.Stop, Expression: "0 19 * * *"}},
	}))(m)
}

func TestRemediate_AScheduleIsAttachedAndDetached(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-ec2-schedule-nonprod", "aws-ec2", 1)
	m.Equal("without a schedule", m.plan().Problems[0].Message, `parameters.scheduleID: "" is not accepted; send it: `+
		"the verb schedule takes scheduleID")
	m.targets[0].Parameters = map[string]string{"scheduleID": m.night().ID}
	m.approve()
	w := m.run()
	m.Equal("status", w.Status, remediation.Succeeded)
	sch := w.Targets[0].Parameters["scheduleID"]
	m.Equal("attached", len(apitest.Value(m.e.schedules.ListAttachments(m.ctx, org, sch))(t)), 1)
	w = m.rollBack()
	m.Equal("status", w.Status, remediation.RolledBack)
	m.Equal("detached", len(apitest.Value(m.e.schedules.ListAttachments(m.ctx, org, sch))(t)), 0)
}

func TestRemediate_PlansSayWhatIsDoneAndChangeNothing(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-ec2-idle", "aws-ec2", 1)
	before := apitest.Rows[json.RawMessage](m.Fixture, table.OrgPK(org)+"REM", table.OrgPK(org)+"REMCAPTURE")
	p := m.plan().Targets[0].Plan
	if len(p.Calls) != 1 || p.Before["status"] != "running" || p.After["status"] != "stopped" || p.Undo == "" ||
		len(p.Limits) == 0 || p.Digest == "" {
		t.Errorf("%+v", p)
	}
	m.Equal("the same digest again", m.plan().Targets[0].Plan.Digest, p.Digest)
	m.Equal("stored", len(before), 0)
	m.Equal("the machine", m.status(), cloud.Running)
}

func TestRemediate_RefusesWhatMustNotBeChanged(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(m *remedy)
		kind    fault.Kind
		says    string
	}{
		"an account that is read_only": {func(m *remedy) {
			m.Change(inventory.AccountKey(org, m.account.ID), table.Set("permissionLevel", "read_only"))
		}, fault.Denied, "read_only"},
		"an account that is disconnected": {func(m *remedy) {
			m.Change(inventory.AccountKey(org, m.account.ID), table.Set("status", inventory.AccountDisconnected))
		}, fault.Conflict, "disconnected"},
		"a dismissed recommendation": {func(m *remedy) {
			_, _, err := m.recs.Decide(m.ctx, org, m.targets[0].RecID, recommendation.Decision{
				Status: recommendation.Dismissed, Reason: recommendation.Intended, At: m.Clock.Now(),
			})
			m.Must(err)
		}, fault.Conflict, "it is dismissed since"},
		"an action in flight": {func(m *remedy) {
			m.submit(m.resource(m.targets[0].ResourceUID), cloud.Stop)
		}, fault.Conflict, "in flight"},
		"another workflow": {func(m *remedy) {
			apitest.Value(m.store.Create(m.ctx, remediation.Workflow{
				Org: org, Targets: m.plan().Targets, Requester: m.person("ada"),
			}))(m)
		}, fault.Conflict, "holds its resource"},
		"an override": {func(m *remedy) {
			m.Put(override.LiveKey(org), override.Live{Change: 1, Overrides: []override.Held{{
				ID: override.NewID(m.Clock.Now()), ResourceID: m.targets[0].ResourceID, Action: override.ForceOn,
				ExpiresAt: m.Clock.Now().Add(time.Hour),
			}}})
		}, fault.Conflict, "override"},
		"a resource that is stopped": {func(m *remedy) {
			m.do(m.resource(m.targets[0].ResourceUID), cloud.Stop)
		}, fault.Conflict, "is stopped"},
		"another version of the rule": {func(m *remedy) { m.targets[0].RuleVersion = 2 }, fault.Conflict, "version"},
		"a rule without a verb that is carried out": {func(m *remedy) {
			m.targets[0].RuleID = "aws-ec2-retirement"
		}, fault.Conflict, "restart"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newRemedy(t, remedySettings(), "aws-ec2-idle", "aws-ec2", 1)
			c.prepare(m)
			p := m.plan().Problems[0]
			if p == nil || p.Kind != c.kind || !strings.Contains(p.Message, c.says) {
				t.Errorf("%+v, want %d with %q", p, c.kind, c.says)
			}
		})
	}
}

func TestRemediate_AGroupOfAnAutoscalerPolicyIsLeftToIt(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-asg-min-too-high", "aws-asg", 1)
	m.targets[0].Parameters = map[string]string{"min_size": strconv.FormatInt(m.scaling().Min-1, 10)}
	free := m.plan()
	m.Must(free.First())
	m.Put(readiness.PolicyKey(org, "asp_1"), readiness.Policy{
		ID: "asp_1", Name: "Shop", Mode: readiness.Autopilot,
		Target: readiness.PolicyTarget{Type: "aws-asg", UID: m.targets[0].ResourceUID},
	})
	held := m.plan()
	if err := held.First(); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "asp_1 (Shop)") {
		t.Error(err)
	}
}

func TestRemediate_WhatWasChangedByHandIsNotTouched(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-asg-min-too-high", "aws-asg", 1)
	before := m.scaling()
	m.targets[0].Parameters = map[string]string{"min_size": strconv.FormatInt(before.Min-1, 10)}
	m.approve()
	byHand := before
	byHand.Native, byHand.Min, byHand.Max, byHand.Desired = nil, before.Min+1, before.Max+3, before.Min+1
	set := func() {
		tg := &m.targets[0]
		m.Must(m.conn.(cloud.Autoscaler).SetAutoscaling(m.ctx, tg.ResourceType, tg.Region, tg.ResourceUID, byHand))
	}
	set()
	w := m.run()
	m.Equal("status", w.Status, remediation.Failed)
	m.Equal("steps", steps(&w), "precondition failed, approval succeeded, action skipped, validation skipped")
	if !strings.Contains(w.Message, "has changed since it was approved") {
		t.Error(w.Message)
	}
	m.Equal("min", m.scaling().Min, byHand.Min)
	if _, err := m.store.ReadCapture(m.ctx, org, w.ID, 0); !fault.Is(err, fault.NotFound) {
		t.Errorf("captured: %v", err)
	}
}

func TestRemediate_AStopThatDoesNotLastIsGivenBack(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-ec2-idle", "aws-ec2", 1)
	m.approve()
	for m.w.Targets[0].State != remediation.Watching {
		apitest.Value(m.e.remediator().Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}))(m)
		m.Must(m.runActions(m.ctx, m.e))
		m.Clock.Advance(5 * time.Second)
		m.w = apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(m)
	}
	m.do(m.resource(m.targets[0].ResourceUID), cloud.Start) // by hand, while it is watched
	w := m.run()
	m.Equal("status", w.Status, remediation.RolledBack)
	m.Equal("steps", steps(&w), "precondition succeeded, approval succeeded, action succeeded, validation failed")
	m.Equal("recommendation", m.row().Status, recommendation.Open)
	m.Equal("the machine", m.status(), cloud.Running)
}

func TestRemediate_ALostReplyIsReadAndNotRepeated(t *testing.T) {
	m := newRemedy(t, remedySettings("lostReply", "1"), "aws-asg-min-too-high", "aws-asg", 1)
	before := m.scaling()
	m.targets[0].Parameters = map[string]string{"min_size": strconv.FormatInt(before.Min-1, 10)}
	m.approve()
	w := m.run()
	m.Equal("status", w.Status, remediation.Succeeded)
	m.Equal("min", m.scaling().Min, before.Min-1)
	w = m.rollBack()
	m.Equal("status", w.Status, remediation.RolledBack)
	m.Equal("scaling", apitest.JSON(m.scaling()), apitest.JSON(before))
}

func TestRemediate_WhatIsDeniedFailsAndSaysSo(t *testing.T) {
	for verb, c := range map[string]struct{ rule, kind string }{
		"start_stop": {"aws-ec2-idle", "aws-ec2"}, "scale": {"aws-asg-min-too-high", "aws-asg"},
	} {
		m := newRemedy(t, remedySettings("denied", verb), c.rule, c.kind, 1)
		if c.kind == "aws-asg" {
			m.targets[0].Parameters = map[string]string{"min_size": strconv.FormatInt(m.scaling().Min-1, 10)}
		}
		m.approve()
		w := m.run()
		m.Equal(verb, w.Status, remediation.Failed)
		if !strings.Contains(w.Message, "not authorized") || w.HasBegun() {
			t.Errorf("%s: %s, begun %v", verb, w.Message, w.HasBegun())
		}
		m.Equal("released", m.resource(w.Targets[0].ResourceUID).ActionID, "")
		m.Equal("recommendation", m.row().Status, recommendation.Open)
	}
}

// Denied half-way: the first target is stopped, and then the account loses its permission. The others are not tried.
func TestRemediate_StopsWhenATenthFails(t *testing.T) {
	m := newRemedy(t, remedySettings("size", "120"), "aws-ec2-idle", "aws-ec2", 4)
	m.approve()
	for m.w.Targets[0].State != remediation.Watching {
		apitest.Value(m.e.remediator().Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}))(m)
		m.Must(m.runActions(m.ctx, m.e))
		m.Clock.Advance(5 * time.Second)
		m.w = apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(m)
	}
	m.Equal("one first", states(&m.w), "0 watching, 1 pending, 2 pending, 3 pending")
	m.sealCredentials(remedySettings("size", "120", "denied", "start_stop"))
	w := m.run()
	m.Equal("status", w.Status, remediation.Failed)
	if w.Targets[0].State != remediation.Done || w.Count(remediation.LeftAlone) == 0 ||
		w.Count(remediation.Broken) != 1 || w.Count(remediation.LeftAlone) != 2 {
		t.Error(apitest.JSON(w.Targets), apitest.JSON(w.History))
	}
	m.sealCredentials(remedySettings("size", "120"))
	m.Change(inventory.AccountKey(org, m.account.ID), table.Set("status", "connected"))
	w = m.rollBack()
	m.Equal("status", w.Status, remediation.RolledBack)
	m.Equal("the first", m.status(), cloud.Running)
}

func TestRemediate_ACancelGivesBackWhatWasChanged(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-ec2-idle", "aws-ec2", 2)
	m.approve()
	for m.w.Targets[0].State != remediation.Watching {
		apitest.Value(m.e.remediator().Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}))(m)
		m.Must(m.runActions(m.ctx, m.e))
		m.Clock.Advance(5 * time.Second)
		m.w = apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(m)
	}
	m.w = apitest.Value(m.store.Cancel(m.ctx, m.w, m.person("ada"), ""))(m)
	w := m.run()
	m.Equal("status", w.Status, remediation.Cancelled)
	m.Equal("targets", states(&w), "0 rolled_back, 1 skipped")
	m.Equal("the machine", m.status(), cloud.Running)
}

func TestRemediate_AnActionWaitsForAScale(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-asg-min-too-high", "aws-asg", 1)
	r := m.resource(m.targets[0].ResourceUID)
	m.Write(inventory.ClaimResource(org, r.UID, "rem_01k6v0e4y0c2b7m9q8r5t3w1xz", "scale"))
	_, err := execution.SubmitAction(m.ctx, m.e.p, org, execution.Request{
		Verb: cloud.Stop, ResourceUID: r.UID, Provider: r.Provider, ResourceType: r.Type,
		CloudAccountID: r.CloudAccountID, Region: r.Region,
	})
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "remediation workflow rem_") {
		t.Error(err)
	}
}

func TestRemediate_AProposalExpiresByItsWork(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-ec2-idle", "aws-ec2", 1)
	m.w = apitest.Value(m.store.Create(m.ctx,
		remediation.Workflow{Org: org, Targets: m.plan().Targets, Requester: m.person("ada")}))(t)
	early := apitest.Value(m.e.remediator().Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}))(t)
	m.Equal("before its time", early.At, m.w.ExpiresAt)
	m.Clock.Advance(remediation.ApprovalTime)
	w := m.run()
	m.Equal("status", w.Status, remediation.Expired)
	m.Equal("steps", steps(&w), "precondition succeeded, approval skipped, action skipped, validation skipped")
	m.Equal("the machine", m.status(), cloud.Running)
}

func TestRemediate_GivingUpReleasesWhatIsHeld(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-ec2-idle", "aws-ec2", 2)
	m.approve()
	apitest.Value(m.e.remediator().Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}))(t)
	in := remediation.Input{Org: org, WorkflowID: m.w.ID}
	apitest.Value(m.e.remediator().GiveUp(m.ctx, in, "the executor gave up"))(t)
	m.w = apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(t)
	w := m.w
	m.Equal("status", w.Status, remediation.Failed)
	m.Equal("targets", states(&w), "0 failed, 1 skipped")
	m.Equal("held", len(apitest.Value(m.store.Holders(m.ctx, org, w.Targets[0].ResourceID))(t)), 0)
	w = m.rollBack()
	m.Equal("rolled back", w.Status, remediation.RolledBack)
	m.Equal("the machine", m.status(), cloud.Running)
}
