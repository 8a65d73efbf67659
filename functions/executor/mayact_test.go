package executor

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

// holdResource has an override hold a resource from now on, as it is listed, without its order.
func (w *fixture) holdResource(r inventory.Resource, action override.Action, d time.Duration) override.Override {
	w.Helper()
	now := w.e.p.Clock.Now()
	o := override.Override{
		ID: override.NewID(now), ResourceID: r.ID, ResourceUID: r.UID, Action: action,
		CreatedAt: now, ExpiresAt: now.Add(d),
	}
	w.changeLive(func(l override.Live) (override.Live, error) { return l.With(o) })
	return o
}

func (w *fixture) release(o override.Override) {
	w.Helper()
	w.changeLive(func(l override.Live) (override.Live, error) { return l.Without(o.ID), nil })
}

func (w *fixture) changeLive(change func(override.Live) (override.Live, error)) {
	w.Helper()
	l := apitest.Value(override.ReadLive(w.ctx, w.Table, org))(w)
	next := apitest.Value(change(l))(w)
	w.Write(apitest.Value(next.Write(org))(w))
}

// stopBecause queues an order of a reason that stops resources, one tier each.
func (w *fixture) stopBecause(reason string, rs ...inventory.Resource) execution.Order {
	w.Helper()
	o := execution.Order{
		Verb: cloud.Stop, Reason: reason, ChangedBy: reason + ":x", FailurePolicy: "abort",
		Cause: id.New("job", w.e.p.Clock.Now()), At: w.e.p.Clock.Now(),
	}
	for i, r := range rs {
		o.Members = append(o.Members, memberOf(r, i+1))
	}
	apitest.Value(execution.QueueOrders(w.ctx, w.e.p.Table, org, []execution.Order{o}))(w)
	return o
}

func (w *fixture) pickMany(kind string, status cloud.Status, n int) []inventory.Resource {
	w.Helper()
	var out []inventory.Resource
	for _, r := range w.resources {
		if r.Type == kind && r.Status == status && r.Unschedulable == "" && len(out) < n {
			out = append(out, r)
		}
	}
	if len(out) < n {
		w.Fatalf("the cloud has only %d %s that are %s", len(out), kind, status)
	}
	return out
}

// leftOut holds that an order has not asked for a resource, and says why.
func (w *fixture) leftOut(o execution.Order, r inventory.Resource, words string) {
	w.Helper()
	a := w.action(execution.MemberAction(o.ID(), r.ID))
	if a.Status != execution.Failed || a.Attempts != 0 || !strings.Contains(a.ErrorMessage, words) {
		w.Errorf("%+v; want it left out with %q", a, words)
	}
	if got := w.state(r); got != r.Status {
		w.Errorf("%s is %s; want it left alone, %s", r.UID, got, r.Status)
	}
	for _, h := range w.readHistory() {
		if h.ResourceUID == r.UID {
			w.Errorf("the history tells of a resource that was left alone: %+v", h)
		}
	}
	if res := w.resource(r.UID); res.ActionID != "" {
		w.Errorf("%s is still claimed by %s", r.UID, res.ActionID)
	}
}

func TestMayAct_AnOrderThatBeginsAfterAnOverrideLeavesItsResourceAlone(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "60"})
	rs := w.pickMany("aws-ec2", cloud.Running, 2)
	o := w.stopBecause(execution.ReasonSchedule, rs...)
	held := w.holdResource(rs[0], override.ForceOn, time.Hour)
	w.runOrder(o)
	w.leftOut(o, rs[0], held.ID)
	if w.state(rs[1]) != cloud.Stopped {
		t.Error("the other one was not stopped")
	}
	if b := w.bulk(o.ID()); b.Status != execution.BulkCompleted || b.Completed != 1 || b.Failed != 1 || b.Unasked != 1 {
		t.Errorf("%+v", b)
	}
}

// An order of three tiers takes a while. An override created meanwhile applies to the tiers that have not begun, and
// a resource left out because of it does not abort the rest.
func TestMayAct_IsAskedAgainWhenEachTierBegins(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "90"})
	rs := w.pickMany("aws-ec2", cloud.Running, 3)
	o := w.stopBecause(execution.ReasonSchedule, rs...) // a stop goes down the tiers: the third first
	in := execution.BulkInput{Org: org, BulkID: o.ID()}
	step := apitest.Value(w.e.beginBulk(w.ctx, in))(w)
	w.driveRun(step.Chunks[0])
	w.holdResource(rs[1], override.ForceOn, time.Hour)
	w.runOrder(o)
	w.leftOut(o, rs[1], "override")
	if w.state(rs[2]) != cloud.Stopped || w.state(rs[0]) != cloud.Stopped {
		t.Errorf("the others are %s and %s", w.state(rs[2]), w.state(rs[0]))
	}
}

func TestMayAct_OfWhatIsOrdered(t *testing.T) {
	day := scheduling.Calendar{
		Effect: scheduling.NoAction, Timezone: "UTC",
		Entries: []scheduling.Entry{{From: "2026-03-02"}},
	}
	for name, c := range map[string]struct {
		reason string
		hold   override.Action // the override on the resource; "" for none
		until  time.Duration
		closes *scheduling.Calendar
		words  string // why it is left out; "" when it is stopped
	}{
		"a schedule's stop of what nothing holds": {reason: execution.ReasonSchedule},
		"a schedule's stop of what an override holds off": {
			reason: execution.ReasonSchedule,
			hold:   override.ForceOff, until: time.Hour, words: "force_off",
		},
		"a schedule's stop when the override is over": {
			reason: execution.ReasonSchedule,
			hold:   override.ForceOn, until: -time.Second,
		},
		"a schedule's stop in a freeze that has begun meanwhile": {
			reason: execution.ReasonSchedule, closes: &day,
			words: "no_action",
		},
		"an override's stop while it holds": {
			reason: execution.ReasonOverride,
			hold:   override.ForceOff, until: time.Hour,
		},
		"an override's stop when a newer one holds the resource": {
			reason: execution.ReasonOverride,
			hold:   override.ForceOn, until: time.Hour, words: "force_on",
		},
		"an override's stop when it has ended": {
			reason: execution.ReasonOverride,
			words:  "has ended",
		},
		"a restoring stop that nothing is against": {reason: execution.ReasonOverrideExpired},
		"a restoring stop when a new override holds the resource": {
			reason: execution.ReasonOverrideExpired,
			hold:   override.ForceOn, until: time.Hour, words: "force_on",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, map[string]string{"size": "30"})
			r := w.pick("aws-ec2", cloud.Running)
			o := w.stopBecause(c.reason, r)
			if c.closes != nil {
				w.underSchedule(o, *c.closes)
			}
			if c.hold != "" {
				w.holdResource(r, c.hold, c.until)
			}
			w.runOrder(o)
			switch {
			case c.words != "":
				w.leftOut(o, r, c.words)
			case w.state(r) != cloud.Stopped:
				t.Errorf("it is %s: %+v", w.state(r), w.action(execution.MemberAction(o.ID(), r.ID)))
			}
		})
	}
}

// underSchedule makes the order one of a schedule with a calendar.
func (w *fixture) underSchedule(o execution.Order, c scheduling.Calendar) {
	w.Helper()
	store := scheduling.New(w.e.p)
	c.ID, c.Name, c.CreatedAt, c.UpdatedAt = id.New("cal", noon), "Freeze", noon, noon
	apitest.Value(store.CreateCalendar(w.ctx, org, c))(w)
	sch := apitest.Value(store.CreateSchedule(w.ctx, org, scheduling.Schedule{
		ID: id.New("sch", noon), Name: "Nights", Timezone: "UTC", Enabled: true, CalendarIDs: []string{c.ID},
		CreatedAt: noon, UpdatedAt: noon,
		Crons: []scheduling.CronLine{{ID: "cron_1", Expression: "0 12 * * *", Action: cloud.Stop}},
	}))(w)
	b := w.bulk(o.ID())
	b.Plan.ScheduleID = sch.ID
	w.Put(execution.BulkKey(org, o.ID()), b)
}

// Who asks by hand writes the reason of the action: it must not pass for the order of an override.
func TestMayAct_AReasonByHandIsNoOrder(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "30"})
	r := w.pick("aws-ec2", cloud.Running)
	p := w.e.p.Clone()
	p.Workflow = apitest.Idle{}
	a := apitest.Value(execution.SubmitAction(w.ctx, p, org, execution.Request{
		Verb: cloud.Stop, ResourceUID: r.UID, Provider: r.Provider, ResourceType: r.Type,
		CloudAccountID: r.CloudAccountID,
		Region:         r.Region, Reason: execution.ReasonOverride, ChangedBy: "manual:ada@example.com",
	}))(t)
	w.driveRun(execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled})
	if w.state(r) != cloud.Stopped {
		t.Errorf("%+v", w.action(a.ID))
	}
}

func TestMayAct_ByHandIsRefusedWhenAnOverrideHasBegunMeanwhile(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "30"})
	r := w.pick("aws-ec2", cloud.Running)
	a := w.submit(r, cloud.Stop)
	w.holdResource(r, override.ForceOn, time.Hour)
	w.driveRun(execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled})
	if got := w.action(a.ID); got.Status != execution.Failed || !strings.Contains(got.ErrorMessage, "force_on") ||
		w.state(r) != cloud.Running {
		t.Errorf("%+v; it is %s", got, w.state(r))
	}
}

func TestMayAct_ForceByHandBeatsAnOverride(t *testing.T) {
	for name, c := range map[string]struct {
		hold override.Action
		verb cloud.Verb
		is   cloud.Status
	}{
		"a stop of what an override holds on":   {override.ForceOn, cloud.Stop, cloud.Running},
		"a start of what an override holds off": {override.ForceOff, cloud.Start, cloud.Stopped},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, map[string]string{"size": "60"})
			r := w.pick("aws-ec2", c.is)
			w.holdResource(r, c.hold, time.Hour)
			p := w.e.p.Clone()
			p.Workflow = apitest.Idle{}
			a := apitest.Value(execution.SubmitAction(w.ctx, p, org, execution.Request{
				Verb: c.verb, ResourceUID: r.UID, Provider: r.Provider, ResourceType: r.Type,
				CloudAccountID: r.CloudAccountID,
				Region:         r.Region, Reason: "manual", ChangedBy: "manual:ada@example.com", Force: true,
			}))(t)
			w.driveRun(execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled})
			if got := w.state(r); got != c.verb.WantedStatus() {
				t.Errorf("it is %s: %+v", got, w.action(a.ID))
			}
		})
	}
}

func TestMayAct_OfAGroupThatAnOverrideHolds(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "60"})
	g, places := w.newGroup(3, "")
	now := w.e.p.Clock.Now()
	o := override.Override{
		ID: override.NewID(now), GroupID: g.ID, Action: override.ForceOn, CreatedAt: now,
		ExpiresAt: now.Add(time.Hour),
	}
	w.changeLive(func(l override.Live) (override.Live, error) { return l.With(o) })
	listed := apitest.Value(w.e.inventory.ByIDs(w.ctx, org, []string{places[0].ResourceID},
		inventory.SeeEverything()))(t)
	stop := w.stopBecause(execution.ReasonSchedule, listed[0].Resource)
	w.runOrder(stop)
	w.leftOut(stop, listed[0].Resource, o.ID)
	w.release(o)
}
