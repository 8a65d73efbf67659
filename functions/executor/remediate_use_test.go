package executor

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

const idleRule = "aws-ec2-idle"

// highest returns the highest use of an instance's processors in the last two weeks.
func (m *remedy) highest(r inventory.Resource) (percent float64) {
	m.Helper()
	of := cloud.Measure{Namespace: "AWS/EC2", Metric: "CPUUtilization", Statistic: "Maximum"}
	got := apitest.Value(m.conn.(cloud.Metered).Metrics(m.ctx, cloud.MetricRequest{
		Type: r.Type, Region: r.Region, UIDs: []string{r.UID}, Measures: []cloud.Measure{of}, Period: time.Hour,
		From: m.Clock.Now().AddDate(0, 0, -14), To: m.Clock.Now(),
	}))(m)
	for _, p := range got.Points {
		for _, v := range p.Values {
			percent = max(percent, v)
		}
	}
	return percent
}

// newIdle recommends to stop an instance that was idle yesterday. Busy tells whether it is in use now.
func newIdle(t *testing.T, busy bool) *remedy {
	t.Helper()
	m := newRemedy(t, remedySettings(), idleRule, "aws-ec2", 1)
	m.Clock.Advance(15 * 24 * time.Hour)
	for _, r := range m.resources {
		if r.Type != "aws-ec2" || r.Status != cloud.Running || r.Unschedulable != "" ||
			inventory.ControllerOf(r.Tags) != "" || busy != (m.highest(r) > 5) {
			continue
		}
		m.targets = []remediation.Target{m.recommend(idleRule, r)}
		m.giveEvidence(map[string]any{
			"state": "running", "asg_name": "", "launched_at": "2026-01-01T00:00:00Z", "cpu_max_14d": 2.0,
			"net_bytes_day_max_14d": 1000.0,
		})
		return m
	}
	t.Fatalf("no instance is busy: %v", busy)
	return nil
}

// giveEvidence sets what the recommendation of the target was decided on.
func (m *remedy) giveEvidence(values map[string]any) {
	m.Helper()
	thresholds := map[string]any{}
	for _, p := range rule.ByID(m.targets[0].RuleID).Params {
		thresholds[p.Name] = p.Value()
	}
	row := m.row()
	key, _ := recommendation.Key(org, row.ID)
	m.Change(key, table.Set("evidence", recommendation.Evidence{
		Values: values, Thresholds: thresholds, Rule: m.targets[0].RuleID, RuleVersion: 1, At: m.Clock.Now(),
	}))
}

func TestRemediate_AnIdleInstanceIsStoppedOnlyWhileItIsIdle(t *testing.T) {
	m := newIdle(t, false)
	p := m.plan()
	m.Must(p.First())
	m = newIdle(t, true)
	got := m.plan().Problems[0]
	if got == nil || got.Kind != fault.Conflict ||
		!strings.HasPrefix(got.Message, "its condition is false now: cpu_max_14d was 2 and is ") {
		t.Errorf("%+v; want it refused, with the use that has changed", got)
	}
}

func TestRemediate_FactsThatHaveChangedEndAReason(t *testing.T) {
	m := newIdle(t, false)
	uid := m.targets[0].ResourceUID
	m.Change(inventory.ResourceKey(org, uid), table.Set("facts", cloud.Facts{"asg_name": "web"}))
	if got := m.plan().Problems[0]; got == nil ||
		!strings.HasPrefix(got.Message, `its condition is false now: asg_name was "" and is "web", cpu_max_14d was 2`) {
		t.Errorf("%+v", got)
	}
}

func TestRemediate_UseThatCannotBeReadStopsNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		key, value string
		kind       fault.Kind
	}{
		"denied":    {"denied", "cloudwatch:GetMetricData", fault.Conflict},
		"throttled": {"throttle", "1", fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			m := newIdle(t, false)
			m.sealCredentials(remedySettings(tt.key, tt.value))
			if got := m.plan().Problems[0]; got == nil || got.Kind != tt.kind {
				t.Errorf("%+v; want kind %v", got, tt.kind)
			}
		})
	}
}

// The use is read once more between the approval and the stop.
func TestRemediate_UseThatBeginsAfterTheApprovalEndsTheWorkflow(t *testing.T) {
	m := newIdle(t, false)
	m.approve()
	m.giveEvidence(map[string]any{
		"state": "running", "asg_name": "", "launched_at": m.Clock.Now().Format(time.RFC3339), "cpu_max_14d": 2.0,
		"net_bytes_day_max_14d": 1000.0,
	})
	w := m.run()
	m.Equal("status", w.Status, remediation.Failed)
	m.Equal("the machine", m.status(), cloud.Running)
	if why := w.Steps.Precondition.Message; !strings.Contains(why, "its condition is false now") {
		t.Errorf("%q", why)
	}
}
