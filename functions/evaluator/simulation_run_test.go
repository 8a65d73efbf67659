package evaluator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// simReal is an organization in the product: its evaluator, overrides, schedules and store. Its executor carries out
// bulk actions at once, on the resources that the product's own rules allow when they begin.
type simReal struct {
	*apitest.Fixture
	*simDay
	now       *clock.Manual
	schedules *scheduling.Store
	store     *evaluation.Store
	inventory *inventory.Store
	ids       []string
	groups    []string
	overrides map[int]string
	running   []bool
	queue     *simQueue
	plans     *simPlans
}

// simQueue is an engine that notes which bulk actions are to begin, and when.
type simQueue struct {
	apitest.Idle
	now    clock.Clock
	lag    time.Duration
	mu     sync.Mutex // a round starts its orders side by side
	orders []simOrder
}

type simOrder struct {
	begins time.Time
	bulk   string
}

// Start notes a bulk action.
func (q *simQueue) Start(_ context.Context, _, name string, _ any) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.orders = append(q.orders, simOrder{q.now.Now().Add(q.lag), name})
	return nil
}

// newSimReal makes the organization of a day in a store of its own. The keys of the platform are those of base.
func newSimReal(t testing.TB, base *platform.Platform, d *simDay) *simReal {
	t.Helper()
	p, now := base.Clone(), clock.NewManual(d.Start)
	p.Clock, p.Table = now, table.Fenced(tabletest.NewAt(t, now))
	queue := &simQueue{now: now, lag: d.Lag}
	p.Workflow = queue
	a := &simReal{
		Fixture: apitest.On(t, p), simDay: d, now: now, schedules: scheduling.New(p), store: evaluation.New(p),
		inventory: inventory.New(p),
		overrides: map[int]string{}, queue: queue,
	}
	a.Clock = now
	a.Organization(ours, "Engines")
	a.ids = inventorytest.Discover(a.Fixture, ours, "aws-ec2", inventorytest.Instances(d.Resources)...)
	for range a.ids {
		a.running = append(a.running, true)
	}
	a.furnish()
	a.plans = newSimPlans(a)
	return a
}

// furnish makes the groups, calendars and schedules.
func (a *simReal) furnish() {
	a.Helper()
	for n, members := range a.Groups {
		var places []inventory.GroupPlacement
		for i, r := range members {
			places = append(places, inventory.GroupPlacement{ResourceID: a.ids[r], Tier: 1 + i%2, Order: 1})
		}
		g := inventory.Group{
			ID: id.New("grp", a.Start), Name: fmt.Sprint("Group ", n),
			FailurePolicy: inventory.ContinueOnFailure,
		}
		a.groups = append(a.groups, apitest.Value(a.inventory.CreateGroup(a.In(ours), ours, g, places))(a).ID)
	}
	var calendars []string
	for n, c := range a.Calendars {
		next := scheduling.Calendar{
			ID: id.New("cal", a.Start), Name: fmt.Sprint("Calendar ", n), Effect: scheduling.Effect(c.Effect),
			Timezone: c.Zone, CreatedAt: a.Start, UpdatedAt: a.Start,
		}
		for _, e := range c.Entries {
			next.Entries = append(next.Entries, scheduling.Entry{From: e.From, To: e.To, Yearly: e.Yearly})
		}
		calendars = append(calendars, apitest.Value(a.schedules.CreateCalendar(a.In(ours), ours, next))(a).ID)
	}
	for n, s := range a.Schedules {
		a.newSchedule(n, s, calendars)
	}
}

func (a *simReal) newSchedule(n int, s simSchedule, calendars []string) {
	a.Helper()
	next := scheduling.Schedule{
		ID: id.New("sch", a.Start), Name: fmt.Sprint("Schedule ", n), Timezone: s.Zone, Enabled: true,
		Drift:        scheduling.ReportDrift,
		GraceMinutes: s.Grace, CreatedAt: a.Start, UpdatedAt: a.Start,
	}
	if s.Enforce {
		next.Drift = scheduling.EnforceDrift
	}
	for i, c := range s.Crons {
		next.Crons = append(next.Crons,
			scheduling.CronLine{ID: fmt.Sprint("cron_", i), Expression: c.Expression, Action: cloud.Verb(c.Verb)})
	}
	for _, c := range s.Calendars {
		next.CalendarIDs = append(next.CalendarIDs, calendars[c])
	}
	next = apitest.Value(a.schedules.CreateSchedule(a.In(ours), ours, next))(a)
	attach := func(at scheduling.Attachment) {
		at.ScheduleID, at.CreatedAt = next.ID, a.Start
		a.Must(a.schedules.Attach(a.In(ours), ours, at))
	}
	for _, r := range s.Resources {
		attach(scheduling.Attachment{ResourceID: a.ids[r], CloudAccountID: inventorytest.Account})
	}
	for _, g := range s.Groups {
		attach(scheduling.Attachment{GroupID: a.groups[g]})
	}
}

// moveTo moves the clock.
func (a *simReal) moveTo(at time.Time) { a.now.Advance(at.Sub(a.now.Now())) }

// evaluate runs the evaluator, if something is due.
func (a *simReal) evaluate() {
	a.Helper()
	shard := table.ShardOf(ours, scheduling.DueShards)
	due := apitest.Value(evaluation.ReadDue(a.Context(), a.Table, shard, a.now.Now()))(a)
	if rows := due[ours]; len(rows) > 0 {
		apitest.Value(a.store.Evaluate(a.Context(), ours, a.now.Now(), rows))(a)
	}
}

// applyAct carries out an act of a person or of the cloud.
func (a *simReal) applyAct(act simAct) {
	a.Helper()
	switch act.Kind {
	case actCloud:
		a.running[act.Resource] = act.Verb == "start"
	case actScan:
		a.scanInventory()
	case actByHand:
		a.actOn(execution.Bulk{Type: cloud.Verb(act.Verb), Force: act.Force}, a.ids[act.Resource])
	case actBegin:
		a.beginOverride(act)
	case actEnd:
		if a.overrides[act.ID] == "" { // a shrunk day does not begin it
			return
		}
		_, err := a.store.EndOverride(a.In(ours), ours, a.overrides[act.ID], "someone@example.com")
		if !fault.Is(err, fault.Conflict) { // it has ended
			a.Must(err)
		}
	}
}

func (a *simReal) beginOverride(act simAct) {
	a.Helper()
	now := a.now.Now()
	o := override.Override{
		ID: override.NewID(now), Action: override.ForceOff, CreatedAt: now,
		ExpiresAt: now.Add(act.For), Force: act.Force,
	}
	if act.Verb == "start" {
		o.Action = override.ForceOn
	}
	var t evaluation.Target
	if act.Group >= 0 {
		o.GroupID = a.groups[act.Group]
		t = apitest.Value(a.store.GroupTarget(a.In(ours), ours, o.GroupID))(a)
	} else {
		o.ResourceID, o.ResourceUID = a.ids[act.Resource], fmt.Sprint("i-", act.Resource)
		t = apitest.Value(a.store.ResourceTarget(a.In(ours), ours, o.ResourceID))(a)
	}
	// else an event holds its target
	if _, err := a.store.BeginOverride(a.In(ours), ours, o, t); !fault.Is(err, fault.Conflict) {
		a.Must(err)
		a.overrides[act.ID] = o.ID
	}
}

// beginBulks begins the bulk actions whose time has come.
func (a *simReal) beginBulks() {
	a.Helper()
	for len(a.queue.orders) > 0 && !a.queue.orders[0].begins.After(a.now.Now()) {
		b := apitest.Read[execution.Bulk](a.Fixture, execution.BulkKey(ours, a.queue.orders[0].bulk))
		a.queue.orders = a.queue.orders[1:]
		members, left, err := execution.PartBulk(a.In(ours), a.Table, a.inventory, ours, b)
		a.Must(err)
		var ids []string
		for _, m := range members {
			ids = append(ids, m.ResourceID)
		}
		a.oweStops(b, left)
		a.actOn(b, ids...)
	}
}

// oweStops has holds remember the stops that they keep an order from making, as the executor does.
func (a *simReal) oweStops(b execution.Bulk, left []execution.LeftOut) {
	a.Helper()
	var uids []string
	for _, l := range left {
		if l.Reason == execution.LeftOutEvent {
			uids = append(uids, l.UID)
		}
	}
	if len(uids) == 0 || !b.Ordered() || b.Force {
		return
	}
	l := apitest.Value(scheduling.ReadEventHolds(a.In(ours), a.Table, ours))(a)
	if w, some := l.Owe(ours, scheduling.OwedOrder{BulkID: b.ID, UIDs: uids}); some {
		a.Write(w)
	}
}

// actOn acts on the resources that the product's rules still allow, in the order of the executor's checks, and
// records their new state.
func (a *simReal) actOn(b execution.Bulk, ids ...string) {
	a.Helper()
	in := scheduling.Intent{Verb: b.Type, Cause: simCause(b), At: a.now.Now(), Force: b.Force}
	var err error
	if in.Cause == scheduling.BySchedule {
		in.Timetable, err = a.schedules.ReadAsking(a.In(ours), ours, b.Plan.ScheduleID, in.At)
	}
	standing, cannot := a.schedules.ReadStanding(a.In(ours), ours)
	a.Must(errors.Join(err, cannot))
	for r, resourceID := range a.ids {
		var s scheduling.Subject
		standing.Apply(resourceID, &s)
		if may := s.MayAct(in).Reason == scheduling.Acts; slices.Contains(ids, resourceID) && a.isUnheld(b, r, may) &&
			may {
			a.running[r] = b.Type == cloud.Start
			a.recordState(r)
		}
	}
}

// isUnheld reports whether no event readiness plan prevents an act on a resource. A forced stop that may act makes
// the plan release the resource; the stop of an order is owed.
func (a *simReal) isUnheld(b execution.Bulk, resource int, may bool) bool {
	a.Helper()
	uid, l := fmt.Sprint("i-", resource), apitest.Value(scheduling.ReadEventHolds(a.In(ours), a.Table, ours))(a)
	if b.Type == cloud.Stop && b.Force {
		if may {
			a.plans.letGo(resource, l.Inside(uid))
		}
		return true
	}
	if l.Against(b.Type, uid) == "" {
		return true
	}
	if w, some := l.Owe(ours,
		scheduling.OwedOrder{BulkID: b.ID, UIDs: []string{uid}, Promised: b.Ordered() && b.Plan.Promised}); some &&
		b.Ordered() {
		a.Write(w)
	}
	return false
}

// simCause returns who asks for a bulk action; the zero one is asked for by hand.
func simCause(b execution.Bulk) scheduling.Cause {
	switch {
	case !b.Ordered():
		return scheduling.ByHand
	case b.Plan.Reason == execution.ReasonOverride:
		return scheduling.ByOverride
	case b.Plan.Reason == execution.ReasonOverrideExpired:
		return scheduling.ByOverrideEnd
	default:
		return scheduling.BySchedule
	}
}

// scanInventory stores the states of all resources in the inventory.
func (a *simReal) scanInventory() {
	a.Helper()
	for r := range a.running {
		a.recordState(r)
	}
}

// recordState stores the state of a resource in the inventory.
func (a *simReal) recordState(resource int) {
	a.Helper()
	status := cloud.Stopped
	if a.running[resource] {
		status = cloud.Running
	}
	seen := inventory.Seen{UID: fmt.Sprint("i-", resource), Status: status, At: a.now.Now()}
	a.Write(apitest.Value(inventory.NoteStatuses(ours, a.now.Now(), []inventory.Seen{seen}))(a))
}
