package executor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/functions/executor/remediating"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
	"lamplighter.dev/shared/testkit/race"
)

// A process dies before or after any of its writes, and so before or after each call to the cloud, whose memory is in
// the store. The workflow ends, nothing happens twice, nothing happens without stored values, and a rollback gives back
// what was. The second process rolls back, and is killed at the same step.
func TestRemediate_KilledAtAnyWriteDoesNothingTwiceAndNothingWithoutACapture(t *testing.T) {
	if testing.Short() {
		t.Skip("carries a hundred workflows out: not with -short")
	}
	race.SkipRepetition(t)
	for name, open := range map[string]func(t *testing.T) *remedy{
		"stop": func(t *testing.T) *remedy {
			t.Helper()
			return newRemedy(t, remedySettings("size", "20"), "aws-ec2-idle", "aws-ec2", 1)
		},
		"scale": func(t *testing.T) *remedy {
			t.Helper()
			m := newRemedy(t, remedySettings("size", "20"), "aws-asg-min-too-high", "aws-asg", 1)
			m.targets[0].Parameters = map[string]string{"min_size": strconv.FormatInt(m.scaling().Min-1, 10)}
			return m
		},
		"change storage": func(t *testing.T) *remedy {
			t.Helper()
			return newChange(t, changeCases["change-storage"], 1, "size", "20")
		},
		"delete": func(t *testing.T) *remedy {
			t.Helper()
			return newChange(t, changeCases["delete with a snapshot"], 1, "size", "20")
		},
		"schedule": func(t *testing.T) *remedy {
			t.Helper()
			m := newRemedy(t, remedySettings("size", "20"), "aws-ec2-schedule-nonprod", "aws-ec2", 1)
			m.targets[0].Parameters = map[string]string{"scheduleID": m.night().ID}
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			kills := 0
			for _, landed := range []bool{false, true} {
				for step := 1; ; step++ {
					m := open(t)
					m.approve()
					if !m.dieAndEnd(killpoint.Point{Step: step, Landed: landed}) {
						break
					}
					if kills++; t.Failed() {
						t.Fatalf("killed at step %d, landed %v", step, landed)
					}
				}
			}
			if kills < 10 {
				t.Errorf("only %d kills", kills)
			}
			t.Logf("%d kills", kills)
		})
	}
}

// dieAndEnd runs the workflow and its rollback, each killed at the point and resumed. It reports whether a process was
// killed.
func (m *remedy) dieAndEnd(at killpoint.Point) bool {
	m.Helper()
	before := m.text()
	killed := m.dieAt(at)
	m.w = apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(m)
	givenBack := m.w.Status == remediation.RolledBack && m.w.Targets[0].Step > 0 // of several steps
	if m.w.Status != remediation.Succeeded && m.w.Status != remediation.Failed && !givenBack {
		m.Errorf("it is %s: %s", m.w.Status, m.w.Message)
	}
	m.checkCapture(before)
	if m.w.HasBegun() {
		m.w = apitest.Value(m.store.RequestRollback(m.ctx, m.w, m.person("bob")))(m)
		killed = m.dieAt(at) || killed
		m.w = apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(m)
		m.Equal("after the rollback", m.w.Status, remediation.RolledBack)
	}
	m.Clock.Advance(time.Minute) // a restored group settles
	m.Equal("the state in the end", m.text(), before)
	m.Equal("action in flight", m.resource(m.targets[0].ResourceUID).ActionID, "")
	m.checkOnce()
	return killed
}

// dieAt runs the workflow in a process that dies, and then in one that does not.
func (m *remedy) dieAt(at killpoint.Point) bool {
	m.Helper()
	ctx, p := killpoint.Start(m.ctx, at)
	err := m.live(ctx, p.Platform(m.e.p))
	if !p.Killed() {
		m.Must(err)
		p.Kill()
		return false
	}
	m.Must(m.live(m.ctx, m.e.p))
	return true
}

// text returns the state of the target in its cloud, and its schedules.
func (m *remedy) text() string {
	m.Helper()
	t := &m.targets[0]
	if verb := rule.ByID(t.RuleID).Verb; !remediation.UsesActions(verb) {
		return apitest.JSON(m.values(0, cloud.ChangeVerb(verb)))
	}
	out := string(m.status())
	if t.ResourceType == cloud.AWSASG {
		out += apitest.JSON(m.scaling())
	}
	if sch := t.Parameters["scheduleID"]; sch != "" {
		out += strconv.Itoa(len(apitest.Rows[scheduling.Attachment](m.Fixture,
			scheduling.AttachmentKey(org, sch, "").PK)))
	}
	return out
}

// checkCapture holds that a target that was changed, or may have been, has its values from before.
func (m *remedy) checkCapture(before string) {
	m.Helper()
	c, err := m.store.ReadCapture(m.ctx, org, m.w.ID, 0)
	if fault.Is(err, fault.NotFound) && (m.w.HasBegun() || m.text() != before) {
		m.Errorf("it was changed without stored values: %s", m.text())
	}
	if err == nil && apitest.JSON(c.Before) != apitest.JSON(m.w.Targets[0].Plan.Before) {
		m.Errorf("captured %v, planned %v", c.Before, m.w.Targets[0].Plan.Before)
	}
}

// checkOnce holds that the stop and the start are one action each.
func (m *remedy) checkOnce() {
	m.Helper()
	count := map[cloud.Verb]int{}
	for _, a := range apitest.Rows[execution.Action](m.Fixture, execution.ActionPKs(org)...) {
		count[a.Action]++
	}
	if count[cloud.Stop] > 1 || count[cloud.Start] > 1 {
		m.Errorf("actions: %v", count)
	}
}

// counting counts the calls that set a scaling.
type counting struct {
	cloud.Conn
	cloud.Autoscaler
	sets *int
}

func (c counting) SetAutoscaling(ctx context.Context, kind, region, uid string, want cloud.Autoscaling) error {
	*c.sets++
	return c.Autoscaler.SetAutoscaling(ctx, kind, region, uid, want)
}

// A call whose effect never shows is not repeated: the workflow fails, and has changed nothing.
func TestRemediate_ACallWithoutEffectIsMadeOnce(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-asg-min-too-high", "aws-asg", 1)
	m.targets[0].Parameters = map[string]string{"min_size": strconv.FormatInt(m.scaling().Min-1, 10)}
	m.approve()
	sets := 0
	r := m.e.remediator()
	connect := r.Connect
	r.Connect = func(ctx context.Context, org string, a inventory.Account, t *remediation.Target) (cloud.Conn, error) {
		conn, err := connect(ctx, org, a, t)
		return counting{conn, without{conn.(cloud.Autoscaler)}, &sets}, err
	}
	for range 100 {
		got := apitest.Value(r.Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}))(t)
		if got.Done {
			break
		}
		m.Clock.Advance(got.At.Sub(m.Clock.Now()))
	}
	w := apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(t)
	m.Equal("status", fmt.Sprint(w.Status, " ", w.HasBegun()), "failed false")
	m.Equal("calls", sets, 1)
}

// Two executions of one workflow at the same time, as after a lost answer of Step Functions, make each change once.
func TestRemediate_TwoProcessesAtOnceMakeEachChangeOnce(t *testing.T) {
	m := newRemedy(t, remedySettings(), "aws-asg-min-too-high", "aws-asg", 2)
	for i := range m.targets {
		m.targets[0], m.targets[i] = m.targets[i], m.targets[0]
		m.targets[0].Parameters = map[string]string{"min_size": strconv.FormatInt(m.scaling().Min+1, 10)}
	}
	m.approve()
	sets, r := 0, m.e.remediator()
	var mu sync.Mutex
	connect := r.Connect
	r.Connect = func(ctx context.Context, org string, a inventory.Account, t *remediation.Target) (cloud.Conn, error) {
		conn, err := connect(ctx, org, a, t)
		return locked{counting{conn, conn.(cloud.Autoscaler), &sets}, &mu}, err
	}
	for ended := false; !ended; {
		var wg sync.WaitGroup
		got, errs := make([]remediating.Result, 2), make([]error, 2)
		for i := range got {
			wg.Go(func() { got[i], errs[i] = r.Advance(m.ctx, remediation.Input{Org: org, WorkflowID: m.w.ID}) })
		}
		wg.Wait()
		m.Must(errors.Join(errs...))
		ended = got[0].Done && got[1].Done
		m.Clock.Advance(5 * time.Second)
	}
	w := apitest.Value(m.store.Get(m.ctx, org, m.w.ID))(t)
	m.Equal("status", fmt.Sprint(w.Status, ": ", w.Message), "succeeded: ")
	m.Equal("calls", sets, 2)
}

// locked makes one call at a time.
type locked struct {
	counting
	mu *sync.Mutex
}

func (l locked) SetAutoscaling(ctx context.Context, kind, region, uid string, want cloud.Autoscaling) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counting.SetAutoscaling(ctx, kind, region, uid, want)
}

// without answers that it was done, and does nothing, like a provider that loses a call.
type without struct{ cloud.Autoscaler }

func (without) SetAutoscaling(context.Context, string, string, string, cloud.Autoscaling) error {
	return &cloud.Error{Class: cloud.Transient, Code: "NoAnswer", Message: "no answer"}
}
