package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

// eventFlow is an event on three groups, on a clock that the test moves. A schedule stops the first two groups while
// the event holds them. The first group is already stopped when the event is dispatched.
type eventFlow struct {
	*heldEvent
	up, until time.Time // when it is scaled up, and when all is over
}

func newEventFlow(t *testing.T) *eventFlow {
	t.Helper()
	f := &eventFlow{heldEvent: newEvent(t, readiness.Scheduling)}
	f.e.p.Workflow = apitest.Idle{}
	f.Put(identity.AccessKey(org), identity.Access{})
	f.do(f.groups[0], cloud.Stop)
	p := f.plan()
	f.scheduleStop(p.ScaleUpAt().Add(2*time.Minute), 0, 1)
	f.up, f.until = p.ScaleUpAt(), p.ScaleDownAt().Add(10*time.Minute)
	return f
}

// scheduleStop has a schedule stop groups at a time, each day.
func (f *eventFlow) scheduleStop(at time.Time, groups ...int) {
	f.Helper()
	now := f.Clock.Now()
	sch := apitest.Value(f.e.schedules.CreateSchedule(f.ctx, org, scheduling.Schedule{
		ID: id.New("sch", now), Name: "Nights", Timezone: "UTC", Enabled: true, Drift: scheduling.ReportDrift,
		CreatedAt: now, UpdatedAt: now,
		Crons: []scheduling.CronLine{{
			ID: "cron_1", Action: cloud.Stop,
			Expression: fmt.Sprintf("%d %d * * *", at.Minute(), at.Hour()),
		}},
	}))(f)
	for _, n := range groups {
		f.Must(f.e.schedules.Attach(f.ctx, org, scheduling.Attachment{
			ScheduleID: sch.ID, ResourceID: f.groups[n].ID, CloudAccountID: f.account.ID, CreatedAt: now,
		}))
	}
}

// wakeGroup has a wake link start a group, and stop it at a time.
func (f *eventFlow) wakeGroup(n int, until time.Time) {
	f.Helper()
	now, store := f.Clock.Now(), evaluation.New(f.e.p)
	target := apitest.Value(store.ResourceTarget(f.ctx, org, f.groups[n].ID))(f)
	apitest.Value(store.BeginOverride(f.ctx, org, override.Override{
		ID: override.NewID(now), ResourceID: f.groups[n].ID, ResourceUID: f.groups[n].UID, Action: override.ForceOn,
		CreatedAt: now, ExpiresAt: until,
		WakeLinkID: "wkl_01k00000000000000000000001",
	}, target))(f)
}

// tick is the time between two looks at pending work.
const tick = 15 * time.Second

// live runs one process: it carries out pending work and schedules until everything is over or the process is killed.
func (f *eventFlow) live(ctx context.Context, p *platform.Platform) error {
	l := &flowProcess{
		eventFlow: f, p: p, e: New(p, cloud.Providers{"simulated": simulated.New(p.Table, p.Clock)}),
		steps: map[string]StepResult{},
	}
	for f.Clock.Now().Before(f.until) {
		if err := l.look(ctx); err != nil {
			return err
		}
		f.Clock.Advance(tick)
	}
	return nil
}

// flowProcess is one process of an eventFlow.
type flowProcess struct {
	*eventFlow
	p     *platform.Platform
	e     *Executor
	steps map[string]StepResult // of bulk actions
}

// look takes everything that is pending one step further.
func (l *flowProcess) look(ctx context.Context) error {
	if err := l.evaluate(ctx); err != nil {
		return err
	}
	for _, w := range l.pendingWork() {
		if err := l.step(ctx, w); err != nil && !fault.Is(err, fault.Unavailable) {
			return fmt.Errorf("%s: %w", w.ID, err)
		}
	}
	return nil
}

// evaluate carries out the schedules that are due.
func (l *flowProcess) evaluate(ctx context.Context) error {
	var due []scheduling.Due
	now := l.Clock.Now()
	for i := range scheduling.DueShards {
		for _, d := range apitest.Rows[scheduling.Due](l.Fixture, scheduling.DuePK(i)) {
			if !d.Minute.After(now) {
				due = append(due, d)
			}
		}
	}
	if len(due) == 0 {
		return nil
	}
	_, err := evaluation.New(l.p).Evaluate(ctx, org, now, due)
	return err
}

// step takes one piece of work one step further.
func (l *flowProcess) step(ctx context.Context, w workqueue.Work) error {
	switch w.Machine {
	case readiness.Machine:
		_, err := advanceWork(ctx, w, l.e.rescaler().Advance)
		return err
	case execution.Machine:
		_, err := advanceWork(ctx, w, l.e.RunActions)
		return err
	}
	return l.stepBulk(ctx, w)
}

func advanceWork[In, Out any](ctx context.Context, w workqueue.Work, do func(context.Context, In) (Out, error)) (Out,
	error,
) {
	var in In
	if err := json.Unmarshal(w.Input, &in); err != nil {
		var none Out
		return none, err
	}
	return do(ctx, in)
}

// stepBulk takes a bulk action one step further, as its machine does, which begins anew in a new process.
func (l *flowProcess) stepBulk(ctx context.Context, w workqueue.Work) error {
	s, begun := l.steps[w.ID]
	in := execution.BulkInput{Org: org, BulkID: w.ID, Step: s.Next, From: s.From}
	var err error
	if !begun {
		s, err = l.e.beginBulk(ctx, in)
	}
	for _, c := range s.Chunks {
		got, ran := l.e.RunActions(ctx, c)
		if err = errors.Join(err, ran); !got.Done {
			l.steps[w.ID] = s
			return err
		}
	}
	switch {
	case err != nil:
		return err
	case s.Last:
		_, err = l.e.finishBulk(ctx, in)
	default:
		in.Step, in.From = s.Next, s.From
		l.steps[w.ID], err = l.e.nextStep(ctx, in)
	}
	return err
}

var actionIDs = regexp.MustCompile(`act_[0-9a-z]+`)

// state says how all is in the end, without times and random ids.
func (f *eventFlow) state() string {
	f.Helper()
	p := f.plan()
	out := []string{fmt.Sprintf("plan %s: %s", p.Status, actionIDs.ReplaceAllString(p.Message, "act"))}
	sizes := f.sizes()
	for i, g := range f.groups {
		policy := apitest.Read[readiness.Policy](f.Fixture, readiness.PolicyKey(org, policyID(i)))
		out = append(out, fmt.Sprintf("group %d: %s %s, held by %q, in flight %q, remembers %s",
			i, f.state0(i), sizes[g.UID], policy.PlanID, f.resource(g.UID).ActionID, f.remembered(i)))
	}
	for _, h := range f.readHistory() {
		by, _, _ := strings.Cut(h.ChangedBy, ":")
		out = append(out, fmt.Sprintf("changed: %s %s by %s", h.ResourceUID, h.State, by))
	}
	q := readiness.Logs(org, p.ID)
	q.Reverse, q.Limit = false, 1000
	lines, _, err := table.ReadPage[readiness.Line](f.ctx, f.Table, q)
	f.Must(err)
	for _, l := range lines {
		out = append(out, fmt.Sprintf("log: %s %s to %s", l.Kind, l.From, l.To))
	}
	held := f.readHolds()
	out = append(out,
		fmt.Sprintf("%d held, %d ended, %d pending", len(held.All()), len(held.Ended()), len(f.pendingWork())))
	slices.Sort(out[1+len(f.groups):])
	return strings.Join(out, "\n")
}

func (f *eventFlow) state0(n int) cloud.Status { f.Helper(); return f.heldEvent.state(f.groups[n]) }

// remembered returns the size that a start of the n-th group restores, or "nothing".
func (f *eventFlow) remembered(n int) string {
	f.Helper()
	it, err := f.Table.Get(f.ctx, snapshotKey(org, f.groups[n].UID))
	if fault.Is(err, fault.NotFound) {
		return "nothing"
	}
	f.Must(err)
	s := apitest.Value(table.Decode[snapshot](it))(f)
	if !s.IsFor("") {
		return "nothing"
	}
	return string(s.Snapshot)
}

// A stopped target is started by the executor, which restores its size; it is raised, and later given back at that
// size. The schedule that fired during the event takes effect when the event has ended. No target is restored to
// zero.
func TestEvent_StartsAStoppedTargetAndLeavesItAsItsScheduleWants(t *testing.T) {
	f := newEventFlow(t)
	during := map[int]string{}
	active := f.up.Add(5 * time.Minute)
	whole := f.until
	f.until = active
	f.Must(f.live(f.ctx, f.e.p))
	if p := f.plan(); p.Status != readiness.Active {
		t.Fatalf("the plan is %s: %s", p.Status, p.Message)
	}
	for n := range f.groups {
		if during[n] = f.groupSize(n); during[n] == f.before[f.groups[n].UID] || f.state0(n) != cloud.Running {
			t.Errorf("during the event group %d is %s and has %s", n, f.state0(n), during[n])
		}
	}
	f.until = whole
	f.Must(f.live(f.ctx, f.e.p))
	for n, want := range []cloud.Status{cloud.Stopped, cloud.Stopped, cloud.Running} {
		if got := f.state0(n); got != want {
			t.Errorf("after the event group %d is %s; its schedule wants %s", n, got, want)
		}
	}
	for n := range 2 {
		if a := f.do(f.groups[n], cloud.Start); a.Status != execution.Succeeded {
			t.Fatalf("%s: %s", a.Status, a.ErrorMessage)
		}
	}
	if got := apitest.JSON(f.sizes()); got != apitest.JSON(f.before) {
		t.Errorf("after the next start %s, before the event %s", got, apitest.JSON(f.before))
	}
}

// A wake link ends during the event. The stop that its page has promised happens when the event has ended, though no
// schedule asks for it.
func TestEvent_StopsAfterItWhatAWakeLinkThatEndedDuringItHasStarted(t *testing.T) {
	f := newEventFlow(t)
	f.wakeGroup(2, f.up.Add(4*time.Minute))
	whole := f.until
	f.until = f.up.Add(8 * time.Minute)
	f.Must(f.live(f.ctx, f.e.p))
	if got := f.state0(2); got != cloud.Running || f.groupSize(2) == f.before[f.groups[2].UID] {
		t.Errorf("after the end of its link, during the event, it is %s and has %s", got, f.groupSize(2))
	}
	if _, owed := f.owed(2); !owed {
		t.Error("the stop of the link's end is not owed")
	}
	f.until = whole
	f.Must(f.live(f.ctx, f.e.p))
	if got := f.state0(2); got != cloud.Stopped {
		t.Errorf("after the event it is %s", got)
	}
	f.do(f.groups[2], cloud.Start)
	if got := f.groupSize(2); got != f.before[f.groups[2].UID] {
		t.Errorf("its next start gives it %s; it had %s", got, f.before[f.groups[2].UID])
	}
}

// The processes of an event are killed at fifty random steps: while a target is started, raised, given back, and
// stopped again by its schedule.
func TestEvent_KilledAtFiftyStepsLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("carries fifty events out: not with -short")
	}
	killpoint.LosesNothing(t, killCount(), func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		f := newEventFlow(t)
		f.wakeGroup(2, f.up.Add(4*time.Minute))
		lives.Run(f.ctx, t, func(ctx context.Context, p *killpoint.Process) error {
			return f.live(ctx, p.Platform(f.e.p))
		})
		return f.state()
	})
}

// The same of a plan that is cancelled during its event, and of a target that is stopped by force.
func TestEvent_KilledAtFiftyStepsOfACancelAndAForcedStopLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("carries fifty events out: not with -short")
	}
	killpoint.LosesNothing(t, killCount(), func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		f := newEventFlow(t)
		end := f.until
		f.until = f.up.Add(5 * time.Minute)
		f.Must(f.live(f.ctx, f.e.p))
		apitest.Value(f.askAction(f.groups[2], cloud.Stop, true))(t)
		cancelAt := f.Clock.Now().Add(4 * time.Minute)
		lives.Run(f.ctx, t, func(ctx context.Context, p *killpoint.Process) error {
			if f.until = cancelAt; f.plan().Status == readiness.Active {
				if err := f.live(ctx, p.Platform(f.e.p)); err != nil {
					return err
				}
				f.cancelPlan(f.in.PlanID)
			}
			f.until = end
			return f.live(ctx, p.Platform(f.e.p))
		})
		return f.state()
	})
}

// From the moment it is scheduled, the plan names the targets that cannot be ready. This test uses the real list of
// overrides and the real account.
func TestEvent_NamesWhatCannotBeReadyWhenItIsScheduled(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(f *eventFlow)
		says    []string
	}{
		"a stopped target that a start restores is none": {func(*eventFlow) {}, nil},
		"a disconnected account": {func(f *eventFlow) {
			f.Change(inventory.AccountKey(org, f.account.ID), table.Set("status", inventory.AccountDisconnected),
				table.Set("error", "its organization excludes it"))
		}, []string{
			"asp_0: ", "asp_1: ", "asp_2: ", "its cloud account is disconnected", "its organization excludes it",
		}},
		"an override": {func(f *eventFlow) {
			f.Put(override.LiveKey(org), override.Live{Change: 1, Overrides: []override.Held{{
				ID: override.NewID(f.Clock.Now()), ResourceID: f.groups[1].ID, Action: override.ForceOff,
				ExpiresAt: f.until,
			}}})
		}, []string{"asp_1: it is held by"}},
		"an override that is over when it is scaled up is none": {func(f *eventFlow) {
			f.Put(override.LiveKey(org), override.Live{Change: 1, Overrides: []override.Held{{
				ID: override.NewID(f.Clock.Now()), ResourceID: f.groups[1].ID, Action: override.ForceOff,
				ExpiresAt: f.up,
			}}})
		}, nil},
		"a stopped target whose size is gone": {func(f *eventFlow) {
			f.Write(table.Delete(snapshotKey(org, f.groups[0].UID)))
		}, []string{"asp_0: it has 0 instances, and cannot be started: its size before it was stopped is not known"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newEventFlow(t)
			c.prepare(f)
			f.driveTo(readiness.Scheduled)
			p := f.plan()
			if (p.Message == "") != (len(c.says) == 0) {
				t.Errorf("the plan says %q", p.Message)
			}
			for _, says := range c.says {
				if !strings.Contains(p.Message, says) {
					t.Errorf("the plan says %q; want %q in it", p.Message, says)
				}
			}
		})
	}
}
