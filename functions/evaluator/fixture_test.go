package evaluator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const ours, theirs = apitest.Org, apitest.OtherOrg

// monday is 07:30 in Berlin, on a Monday.
var monday = time.Date(2026, time.March, 2, 6, 30, 0, 0, time.UTC)

// fixture is two organizations with six instances each, i-0 to i-5, which run.
type fixture struct {
	*apitest.Fixture
	schedules *scheduling.Store
	ids       map[string][]string // by organization
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	a := &fixture{Fixture: apitest.New(t), ids: map[string][]string{}}
	a.Workflow = apitest.Idle{}
	a.Clock.Advance(monday.Sub(a.Clock.Now()))
	if a.Clock.Now().Before(monday) || a.Clock.Now().After(monday) {
		a.Platform.Clock = clock.NewManual(monday)
		a.Clock = a.Platform.Clock.(*clock.Manual)
	}
	a.schedules = scheduling.New(a.Platform)
	for _, org := range []string{ours, theirs} {
		a.ids[org] = inventorytest.Discover(a.Fixture, org, "aws-ec2", inventorytest.Instances(6)...)
	}
	return a
}

// cron is a line of a schedule: "stop 0 19 * * *".
func newCrons(lines ...string) []scheduling.CronLine {
	out := make([]scheduling.CronLine, len(lines))
	for i, l := range lines {
		verb, expression, _ := strings.Cut(l, " ")
		out[i] = scheduling.CronLine{ID: fmt.Sprint("cron_", i), Expression: expression, Action: cloud.Verb(verb)}
	}
	return out
}

// newSchedule makes one of our organization in Berlin, and attaches instances to it.
func (a *fixture) newSchedule(change func(*scheduling.Schedule), lines []string, instances ...int) scheduling.Schedule {
	a.Helper()
	return a.scheduleOf(ours, change, lines, instances...)
}

func (a *fixture) scheduleOf(org string, change func(*scheduling.Schedule), lines []string,
	instances ...int,
) scheduling.Schedule {
	a.Helper()
	now := a.Clock.Now()
	sch := scheduling.Schedule{
		ID: id.New("sch", now), Timezone: "Europe/Berlin", Crons: newCrons(lines...), Enabled: true,
		Drift: scheduling.ReportDrift, CreatedAt: now, UpdatedAt: now,
	}
	sch.Name = "Hours " + sch.ID[20:]
	if change != nil {
		change(&sch)
	}
	sch = apitest.Value(a.schedules.CreateSchedule(a.In(org), org, sch))(a)
	for _, n := range instances {
		a.Must(a.schedules.Attach(a.In(org), org, scheduling.Attachment{
			ScheduleID: sch.ID, ResourceID: a.ids[org][n], CloudAccountID: inventorytest.Account, CreatedAt: now,
		}))
	}
	return sch
}

// runEvaluator evaluates once.
func (a *fixture) runEvaluator() {
	a.Helper()
	_, err := EvaluateDue(context.Background(), a.Platform)
	a.Must(err)
}

// runUntil evaluates each minute until the time, that minute included.
func (a *fixture) runUntil(end time.Time) {
	a.Helper()
	for a.Clock.Now().Before(end) {
		a.Clock.Advance(time.Minute)
		a.runEvaluator()
	}
}

// atTime is a time of the fixture's Monday, or of a later day, in Berlin.
func atTime(day int, hour, minute int) time.Time {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return time.Date(2026, time.March, 1+day, hour, minute, 0, 0, berlin).UTC()
}

// requests returns the requests of our organization's bulk actions, oldest first, such as "stop 3
// schedule:Nights:cron_0".
func (a *fixture) requests() []string {
	a.Helper()
	var out []string
	for _, b := range a.listBulks(ours) {
		out = append(out, fmt.Sprintf("%s %d %s", b.Type, b.Total, b.Plan.ChangedBy))
	}
	return out
}

func (a *fixture) listBulks(org string) []execution.Bulk {
	a.Helper()
	return apitest.Rows[execution.Bulk](a.Fixture, execution.BulkPK(org))
}

// targetsOf returns the native IDs of the resources of a bulk action.
func (a *fixture) targetsOf(org string, b execution.Bulk) []string {
	a.Helper()
	members := apitest.Value(execution.BulkTargets(a.In(org), a.Table, inventory.New(a.Platform), org, b))(a)
	out := make([]string, len(members))
	for i, m := range members {
		out[i] = m.UID
	}
	slices.Sort(out)
	return out
}

// readLog returns the log of a schedule of ours, oldest first.
func (a *fixture) readLog(scheduleID string) []evaluation.Entry {
	a.Helper()
	var out []evaluation.Entry
	for _, e := range apitest.Rows[evaluation.Entry](a.Fixture, evaluation.FiringPK(ours)) {
		if e.ScheduleID == scheduleID {
			out = append(out, e)
		}
	}
	return out
}

// onlyFirings are the entries of firings alone.
func onlyFirings(log []evaluation.Entry) []evaluation.Entry {
	return slices.DeleteFunc(log, func(e evaluation.Entry) bool { return e.Kind != evaluation.Fired })
}

// setStatus has the index tell another status of instances of ours.
func (a *fixture) setStatus(s cloud.Status, instances ...int) {
	a.Helper()
	for _, n := range instances {
		w := apitest.Value(inventory.NoteStatuses(ours, a.Clock.Now(),
			[]inventory.Seen{{UID: fmt.Sprint("i-", n), Status: s, At: a.Clock.Now()}}))(a)
		a.Write(w)
	}
}

// holdInstance has an override hold an instance of ours.
func (a *fixture) holdInstance(action override.Action, instance int, d time.Duration) {
	a.Helper()
	now, store := a.Clock.Now(), evaluation.New(a.Platform)
	t := apitest.Value(store.ResourceTarget(a.In(ours), ours, a.ids[ours][instance]))(a)
	apitest.Value(store.BeginOverride(a.In(ours), ours, override.Override{
		ID: override.NewID(now), ResourceID: a.ids[ours][instance], ResourceUID: fmt.Sprint("i-", instance),
		Action: action, CreatedAt: now, ExpiresAt: now.Add(d),
	}, t))(a)
}

func checkEqual[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// countDue returns the number of due rows.
func (a *fixture) countDue() int {
	a.Helper()
	n := 0
	for i := range scheduling.DueShards {
		n += len(apitest.Rows[scheduling.Due](a.Fixture, scheduling.DuePK(i)))
	}
	return n
}

// skipReasons returns how many resources an entry has skipped, by reason.
func skipReasons(e evaluation.Entry) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(e.Skips)) {
		out = append(out, fmt.Sprint(k, " ", e.Skips[k]))
	}
	return strings.Join(out, ", ")
}

type (
	ctx           = context.Context
	executionBulk = execution.Bulk
)

func bulkTargets(a *fixture, b execution.Bulk) ([]inventory.Member, error) {
	return execution.BulkTargets(a.In(ours), a.Table, inventory.New(a.Platform), ours, b)
}
