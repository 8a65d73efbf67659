package executor

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/executor/remediating"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// changeCase is a rule of a verb that a cloud.Changer carries out, and the values of the resources that it is for.
type changeCase struct {
	rule, kind string
	verb       cloud.ChangeVerb
	of         cloud.Values
	lost       bool // nothing gives it back
}

var changeCases = map[string]changeCase{
	"change-storage": {"aws-ebs-gp2", "aws-ebs", cloud.ChangeStorage, cloud.Values{"volume_type": "gp2"}, false},
	"release":        {"aws-eip-unassociated", "aws-eip", cloud.Release, cloud.Values{"association_id": ""}, false},
	"delete with a snapshot": {
		"aws-ebs-unattached", "aws-ebs", cloud.Delete, cloud.Values{"attachment_count": "0"}, false,
	},
	"delete a snapshot": {
		"aws-ebs-snapshot-old", "aws-ebs-snapshot", cloud.Delete, cloud.Values{"exists": "true"}, true,
	},
}

// newChange opens recommendations of a case for n resources.
func newChange(t *testing.T, c changeCase, n int, more ...string) *remedy {
	t.Helper()
	f := newFixture(t, remedySettings(append([]string{"kinds", c.kind}, more...)...))
	f.e.p.Workflow = apitest.Idle{}
	m := &remedy{fixture: f, store: remediation.New(f.e.p), recs: recommendation.New(f.e.p)}
	for _, r := range f.resources {
		if r.Type != c.kind || len(m.targets) == n {
			continue
		}
		reached, _, err := m.conn.(cloud.Changer).CheckChange(m.ctx, cloud.ChangeCall{
			Change: cloud.Change{Verb: c.verb, Kind: r.Type, Region: r.Region, UID: r.UID}, Set: c.of,
		})
		if m.Must(err); reached {
			m.targets = append(m.targets, m.recommend(c.rule, r))
		}
	}
	if len(m.targets) != n {
		t.Fatalf("%d of %d resources", len(m.targets), n)
	}
	return m
}

// change returns the change of a target in the words of the cloud.
func (m *remedy) change(i int, verb cloud.ChangeVerb) cloud.Change {
	t := &m.targets[i]
	return cloud.Change{Verb: verb, Kind: t.ResourceType, Region: t.Region, UID: t.ResourceUID}
}

// values returns the values of a target in its cloud.
func (m *remedy) values(i int, verb cloud.ChangeVerb) cloud.Values {
	m.Helper()
	return apitest.Value(m.conn.(cloud.Changer).DescribeForChange(m.ctx, m.change(i, verb)))(m).Values
}

// setByHand changes a value of a target as somebody else would.
func (m *remedy) setByHand(i int, verb cloud.ChangeVerb, set cloud.Values) {
	m.Helper()
	m.Must(m.conn.(cloud.Changer).ApplyChange(m.ctx, cloud.ChangeCall{Change: m.change(i, verb), Set: set}))
}

func TestRemediate_EachVerbIsCarriedOutAndRolledBack(t *testing.T) {
	for name, c := range changeCases {
		t.Run(name, func(t *testing.T) {
			m := newChange(t, c, 1)
			before := m.values(0, c.verb)
			m.approve()
			w := m.run()
			m.Equal("status", fmt.Sprint(w.Status, w.Message), "succeeded")
			after := m.values(0, c.verb)
			for name, to := range w.Targets[0].Plan.After {
				m.Equal(name, after[name], to)
			}
			m.Equal("recommendation", m.row().Status, recommendation.Applied)
			m.Equal("released", m.resource(m.targets[0].ResourceUID).ActionID, "")
			w = m.rollBack()
			if c.lost {
				m.Equal("rollback", w.Rollback.Error != "" && w.Status == remediation.Succeeded, true)
				return
			}
			m.Equal("status", w.Status, remediation.RolledBack)
			m.Equal("values", apitest.JSON(m.values(0, c.verb)), apitest.JSON(before))
			m.Equal("recommendation", m.row().Status, recommendation.Open)
		})
	}
}

func TestRemediate_ADeletionWaitsForItsTime(t *testing.T) {
	c := changeCases["delete with a snapshot"]
	m := newChange(t, c, 2)
	m.targets[1].NonProduction = true
	m.targets[0], m.targets[1] = m.targets[1], m.targets[0]
	m.approve()
	began := m.Clock.Now()
	m.Equal("calls", strings.Contains(strings.Join(m.w.Targets[0].Plan.Calls, "; "), "wait 7 days"), true)
	m.Equal("in production", strings.Contains(strings.Join(m.w.Targets[1].Plan.Calls, "; "), "wait 14 days"), true)
	m.untilState(remediation.Marked, 2)
	for i := range m.targets {
		if v := m.values(i, c.verb); v[cloud.MarkValue] == "" || v[cloud.CopyValue] != cloud.CopyComplete ||
			v[cloud.ExistsValue] != "true" {
			t.Errorf("target %d: %v", i, v)
		}
	}
	m.Equal("claimed while it waits", m.resource(m.targets[0].ResourceUID).ActionID, "")
	w := m.run()
	m.Equal("status", fmt.Sprint(w.Status, w.Message), "succeeded")
	if took := m.Clock.Now().Sub(began); took < 14*24*time.Hour || took > 15*24*time.Hour {
		t.Errorf("it took %s", took)
	}
}

// untilState runs the workflow until n targets are in a state.
func (m *remedy) untilState(s remediation.TargetState, n int) {
	m.Helper()
	for range 200 {
		got := apitest.Value(m.e.remediator().Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}))(m)
		if m.w = apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(m); m.w.Count(s) >= n {
			return
		}
		if got.Done {
			break
		}
		m.Clock.Advance(max(got.At.Sub(m.Clock.Now()), time.Second))
	}
	m.Fatalf("targets: %s", states(&m.w))
}

// A volume that is attached during its waiting period is not deleted, and its mark is removed.
func TestRemediate_WhatIsUsedAgainIsNotDeleted(t *testing.T) {
	c := changeCases["delete with a snapshot"]
	m := newChange(t, c, 1)
	before := m.values(0, c.verb)
	m.approve()
	m.untilState(remediation.Marked, 1)
	m.untilStep(remediation.Marked, 1)
	r := m.e.remediator()
	connect := r.Connect
	r.Connect = func(ctx context.Context, org string, a inventory.Account, t *remediation.Target) (cloud.Conn, error) {
		conn, err := connect(ctx, org, a, t)
		return attached{conn, conn.(cloud.Changer)}, err
	}
	w := m.runWith(r)
	m.Equal("status", w.Status, remediation.RolledBack)
	if !strings.Contains(w.Message, "in use by instance i-1") {
		t.Error(w.Message)
	}
	m.Equal("values", apitest.JSON(m.values(0, c.verb)), apitest.JSON(before))
}

// untilStep runs the workflow until its first target is in a state at a step.
func (m *remedy) untilStep(s remediation.TargetState, step int) {
	m.Helper()
	for range 200 {
		if t := &m.w.Targets[0]; t.State == s && t.Step == step {
			return
		}
		got := apitest.Value(m.e.remediator().Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}))(m)
		m.w = apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(m)
		if t := &m.w.Targets[0]; t.State != s || t.Step != step {
			m.Clock.Advance(max(got.At.Sub(m.Clock.Now()), time.Second))
		}
	}
	m.Fatalf("targets: %s", apitest.JSON(m.w.Targets))
}

// runWith runs the workflow to its end with another runner.
func (m *remedy) runWith(r *remediating.Runner) remediation.Workflow {
	m.Helper()
	for range 500 {
		got := apitest.Value(r.Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}))(m)
		if got.Done {
			if got.At = m.resumeAt(m.ctx); got.At.IsZero() {
				break
			}
		}
		m.Clock.Advance(got.At.Sub(m.Clock.Now()))
	}
	return apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(m)
}

// attached is a connection to an account whose volumes are all attached.
type attached struct {
	cloud.Conn
	cloud.Changer
}

func (a attached) PlanChange(context.Context, cloud.Change) (cloud.ChangePlan, error) {
	return cloud.ChangePlan{}, cloud.ErrUnsupported("it is in use by instance i-1")
}

func TestRemediate_AChangedResourceEndsBeforeTheFirstWrite(t *testing.T) {
	c := changeCases["change-storage"]
	m := newChange(t, c, 1)
	m.approve()
	m.setByHand(0, c.verb, cloud.Values{"iops": "9000"})
	w := m.run()
	m.Equal("status", w.Status, remediation.Failed)
	if !strings.Contains(w.Message, `iops was "3000" and is "9000"`) || w.HasBegun() {
		t.Error(w.Message)
	}
	m.Equal("volume type", m.values(0, c.verb)["volume_type"], "gp2")
}

func TestRemediate_ValuesSetByHandAreNotRolledBack(t *testing.T) {
	c := changeCases["change-storage"]
	m := newChange(t, c, 1)
	m.approve()
	m.run()
	m.setByHand(0, c.verb, cloud.Values{"volume_type": "io2"})
	w := m.rollBack()
	m.Equal("status", w.Status, remediation.Succeeded)
	if w.Rollback == nil || !strings.Contains(w.Rollback.Error, "somebody else has set its values") {
		t.Errorf("%+v", w.Rollback)
	}
	m.Equal("volume type", m.values(0, c.verb)["volume_type"], "io2")
}

// countChanges counts the calls that change something, and answers them as fail says.
type countChanges struct {
	cloud.Conn
	cloud.Changer
	calls *int
	fail  func(call int, c cloud.ChangeCall) (does bool, err error)
}

func (c countChanges) ApplyChange(ctx context.Context, call cloud.ChangeCall) error {
	*c.calls++
	does, err := c.fail(*c.calls, call)
	if does {
		if failed := c.Changer.ApplyChange(ctx, call); failed != nil {
			return failed
		}
	}
	return err
}

// counted returns a runner whose calls to the cloud are counted and answered.
func (m *remedy) counted(fail func(int, cloud.ChangeCall) (bool, error)) (r *remediating.Runner, calls *int) {
	r, calls = m.e.remediator(), new(int)
	connect := r.Connect
	r.Connect = func(ctx context.Context, org string, a inventory.Account, t *remediation.Target) (cloud.Conn, error) {
		conn, err := connect(ctx, org, a, t)
		if err != nil {
			return nil, err
		}
		return countChanges{conn, conn.(cloud.Changer), calls, fail}, nil
	}
	return r, calls
}

var errNoAnswer = &cloud.Error{Class: cloud.Transient, Code: "NoAnswer", Message: "no answer"}

func TestRemediate_LostRepliesOfChangesAreReadAndNotRepeated(t *testing.T) {
	for name, c := range changeCases {
		t.Run(name, func(t *testing.T) {
			m := newChange(t, c, 1)
			m.approve()
			r, calls := m.counted(func(int, cloud.ChangeCall) (bool, error) { return true, errNoAnswer })
			w := m.runWith(r)
			m.Equal("status", fmt.Sprint(w.Status, w.Message), "succeeded")
			want := 1
			if c.verb == cloud.Delete {
				want = len(w.Targets[0].Plan.Calls) - 1 // the waiting is no call
			}
			m.Equal("calls", *calls, want)
		})
	}
}

func TestRemediate_ALostCallIsMadeOnce(t *testing.T) {
	for name, c := range changeCases {
		t.Run(name, func(t *testing.T) {
			m := newChange(t, c, 1)
			before := m.values(0, c.verb)
			m.approve()
			r, calls := m.counted(func(int, cloud.ChangeCall) (bool, error) { return false, errNoAnswer })
			w := m.runWith(r)
			m.Equal("status", fmt.Sprint(w.Status, " ", w.HasBegun()), "failed false")
			m.Equal("calls", *calls, 1)
			m.Equal("values", apitest.JSON(m.values(0, c.verb)), apitest.JSON(before))
		})
	}
}

// Denied half-way: the mark is set and the snapshot taken, then the account may not delete. The mark is removed.
func TestRemediate_ADeletionThatIsDeniedHalfWayIsGivenBack(t *testing.T) {
	c := changeCases["delete with a snapshot"]
	denied := &cloud.Error{
		Class: cloud.Denied, Code: "AccessDenied", Message: "not authorized to perform ec2:DeleteVolume",
	}
	m := newChange(t, c, 1)
	before := m.values(0, c.verb)
	m.approve()
	r, _ := m.counted(func(_ int, call cloud.ChangeCall) (bool, error) {
		if call.Set[cloud.ExistsValue] == "false" {
			return false, denied
		}
		return true, nil
	})
	w := m.runWith(r)
	m.Equal("status", w.Status, remediation.RolledBack)
	if !strings.Contains(w.Message, "not authorized") {
		t.Error(w.Message)
	}
	m.Equal("values", apitest.JSON(m.values(0, c.verb)), apitest.JSON(before))
	m.Equal("released", m.resource(m.targets[0].ResourceUID).ActionID, "")
}

func TestRemediate_ADeniedChangeChangesNothing(t *testing.T) {
	for name, c := range changeCases {
		t.Run(name, func(t *testing.T) {
			m := newChange(t, c, 1)
			m.approve()
			simulated.DenyCapability(m.e.providers["simulated"], m.targets[0].CloudAccountID,
				cloud.RemediateCapability, true)
			w := m.runWith(m.e.remediator())
			m.Equal("status", fmt.Sprint(w.Status, " ", w.HasBegun()), "failed false")
			if !strings.Contains(w.Message, "level remediate") {
				t.Error(w.Message)
			}
			m.Equal("released", m.resource(m.targets[0].ResourceUID).ActionID, "")
		})
	}
}

// An account without the permissions of level remediate has no plan: the error names what it lacks, and the way out.
func TestRemediate_APlanNamesThePermissionThatTheAccountLacks(t *testing.T) {
	for name, c := range changeCases {
		t.Run(name, func(t *testing.T) {
			of, _ := cloud.ChangeOf(c.kind, c.verb)
			m := newChange(t, c, 1, "denied", of.Call)
			got := m.plan().Problems[0]
			if got == nil || got.Kind != fault.Denied || !strings.Contains(got.Message, "lacks "+of.Call) ||
				!strings.Contains(got.Message, "/cloud-accounts/"+m.targets[0].CloudAccountID+"/onboarding") {
				t.Errorf("%+v, want that it lacks %s", got, of.Call)
			}
		})
	}
}

// A snapshot that never completes: nothing is deleted, and the mark is removed.
func TestRemediate_ASnapshotThatNeverCompletesDeletesNothing(t *testing.T) {
	c := changeCases["delete with a snapshot"]
	m := newChange(t, c, 1)
	m.approve()
	r, _ := m.counted(func(_ int, call cloud.ChangeCall) (bool, error) {
		if call.Set[cloud.CopyValue] != "" {
			call.Set = cloud.Values{cloud.CopyValue: cloud.CopyPending}
			return false, m.conn.(cloud.Changer).ApplyChange(m.ctx, call)
		}
		return true, nil
	})
	for range 20 * 200 {
		got := apitest.Value(r.Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}))(m)
		if got.Done {
			if got.At = m.resumeAt(m.ctx); got.At.IsZero() {
				break
			}
		}
		m.Clock.Advance(got.At.Sub(m.Clock.Now()))
	}
	w := apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(t)
	m.Equal("status", w.Status, remediation.RolledBack)
	if v := m.values(0, c.verb); v[cloud.ExistsValue] != "true" || v[cloud.MarkValue] != "" {
		t.Errorf("%v", v)
	}
}

// A workflow that waits for days has no execution, and its work is due when it continues. A cancellation makes the
// work due at once, and gives the mark back.
func TestRemediate_ASuspendedWorkflowIsCancelledAtOnce(t *testing.T) {
	c := changeCases["delete with a snapshot"]
	m := newChange(t, c, 1)
	before := m.values(0, c.verb)
	m.approve()
	m.untilStep(remediation.Marked, 1)
	due := m.w.Targets[0].DueAt
	m.Equal("resumes", m.w.ResumeAt, due)
	m.Equal("work", m.workDue(), due)
	m.w = apitest.Value(m.store.Cancel(m.ctx, m.w, m.person("ada"), ""))(m)
	m.Equal("work", m.workDue(), m.Clock.Now())
	w := m.run()
	m.Equal("status", w.Status, remediation.Cancelled)
	m.Equal("values", apitest.JSON(m.values(0, c.verb)), apitest.JSON(before))
}

// workDue returns when the work of the workflow is due, which is listed once.
func (m *remedy) workDue() time.Time {
	m.Helper()
	var due []time.Time
	for _, pk := range workqueue.Lists() {
		for _, w := range apitest.Rows[workqueue.Work](m.Fixture, pk) {
			if strings.HasPrefix(w.ID, m.w.ID) {
				due = append(due, w.At)
			}
		}
	}
	if len(due) != 1 {
		m.Fatalf("%d works", len(due))
	}
	return due[0]
}

// resumeAt returns when other work continues the workflow, or zero if it has ended.
func (m *remedy) resumeAt(ctx context.Context) time.Time {
	w, err := m.store.Get(ctx, org, m.w.ID)
	if err != nil || w.Status != remediation.Running {
		return time.Time{}
	}
	return w.ResumeAt
}
