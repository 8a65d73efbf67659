package anomalycheck

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/costtest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const org = apitest.Org

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

// fixture is an organization on 10 March 2026 with two instances in one account and one in another, a team that owns
// the first two, and a group with the first. Bills begin on 20 January; 8 March is the last settled day.
type fixture struct {
	*apitest.Fixture
	team, group string
	extra       []costtest.Line
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	f := &fixture{Fixture: apitest.New(tb)}
	f.Put(identity.DirectoryKey(org), map[string]string{"org": org})
	f.Put(identity.AccessKey(org), identity.Access{})
	ids := inventorytest.Discover(f.Fixture, org, "aws-ec2", inventorytest.Instances(2)...)
	f.team = inventorytest.Team(f.Fixture, org, "Shop", ids...)
	g := inventory.Group{ID: id.New("grp", f.Clock.Now()), Name: "First"}
	_, err := inventory.New(f.Platform).CreateGroup(f.In(org), org, g,
		[]inventory.GroupPlacement{{ResourceID: ids[0], Tier: 1, Order: 1}})
	f.Must(err)
	f.group = g.ID
	return f
}

// bill imports bills of 100 a day for i-0, 20 for i-1 and 200 for the other account. days overrides the cost of i-0 on
// single days.
func (f *fixture) bill(days map[string]string) {
	f.Helper()
	b := costtest.Bill{
		Org: org, Account: inventorytest.Account, From: day("2026-01-20"), To: day("2026-03-10"),
		Delivered: f.Clock.Now(),
	}
	lines := append([]costtest.Line{
		{Resource: "i-0", Service: "EC2", USD: costtest.Except("100", days)},
		{Resource: "i-1", Service: "EC2", USD: costtest.Every("20")},
	}, f.extra...)
	costtest.Import(f.Fixture, b, lines...)
	b.Account = "ca_2"
	costtest.Import(f.Fixture, b, costtest.Line{Resource: "i-9", Service: "S3", USD: costtest.Every("200")})
}

func (f *fixture) check() Checked {
	f.Helper()
	return apitest.Value(Check(f.Context(), f.Platform))(f)
}

// records formats the anomalies as "day type severity status told".
func (f *fixture) records() string {
	f.Helper()
	q := anomaly.Days(org, time.Time{}, time.Time{})
	q.Limit = 100
	all, _, err := table.ReadPage[anomaly.Record](f.In(org), f.Table, q)
	f.Must(err)
	var out []string
	for _, r := range all {
		out = append(out,
			fmt.Sprintf("%s %s %s %s %d", r.Day.Format("01-02"), r.Type, r.Severity, r.Status, len(r.Told)))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// events formats the events as key and scope ID.
func (f *fixture) events() string {
	f.Helper()
	var out []string
	for _, e := range apitest.Rows[event.Event](f.Fixture, event.PK(org)) {
		out = append(out, e.Key+" "+e.ScopeID)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// The newest month is imported first: until the months before it are in, all its costs would look new.
func TestCheck_WaitsForTheFirstImportOfAnAccount(t *testing.T) {
	at := apitest.New(t).Clock.Now()
	for name, tt := range map[string]struct {
		entry  billimport.Entry
		judged int
	}{
		"the first import runs": {billimport.Entry{JobID: "job_1", StartedAt: at}, 0},
		"it has listed months that it lacks": {billimport.Entry{
			JobID: "job_1", StartedAt: at,
			Listed: []string{"2026-02"},
		}, 0},
		"it takes longer than two hours": {
			billimport.Entry{JobID: "job_1", StartedAt: at.Add(-2 * time.Hour)},
			1,
		},
		"it ended with a failure": {billimport.Entry{TriedAt: at, Listed: []string{"2026-02"}}, 1},
		"a later import runs":     {billimport.Entry{JobID: "job_2", StartedAt: at, BackfilledAt: at}, 1},
		"all months that it has listed are in": {billimport.Entry{
			JobID: "job_1", StartedAt: at,
			Listed: []string{"2026-02"}, Looked: map[string]time.Time{"2026-02": at},
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.bill(nil)
			f.Put(billimport.EntryKey(org, inventorytest.Account), tt.entry)
			f.Equal("judged", f.check().Judged, tt.judged)
		})
	}
}

func TestCheck_ASpikeIsToldOfWhereItIs(t *testing.T) {
	f := newFixture(t)
	f.bill(map[string]string{"2026-03-07": "500"})
	got := f.check()
	if got.Judged != 1 || got.Anomalies != 5 {
		t.Errorf("%+v", got)
	}
	// 500 is 400 % above the instance's 100; for its team and account the baseline is 120; for the organization 320
	// (125 %)
	f.Equal("anomalies", f.records(),
		"03-07 cloud_account critical open 0; 03-07 org critical open 0; 03-07 resource critical open 1; 03-07 "+
			"resource_group critical open 0; 03-07 team critical open 0")
	f.Equal("events", f.events(), "cost.anomaly.resource.critical i-0")
	told := apitest.Rows[event.Event](f.Fixture, event.PK(org))[0]
	f.Equal("it belongs to", told.Scopes(), []event.Scope{
		{Type: "org"},
		{Type: "resource", ID: "i-0"},
		{Type: "cloud_account", ID: inventorytest.Account},
		{Type: "resource_group", ID: f.group},
		{Type: "team", ID: f.team},
	})
	r := apitest.Value(anomaly.NewStore(f.Table).Read(f.In(org), org,
		anomaly.IDOf(org, anomaly.Scope{Type: anomaly.Org}, day("2026-03-07"))))(f)
	sums := map[string]money.Amount{}
	for _, c := range r.Contributors {
		sums[c.Dim] = sums[c.Dim].Add(c.Excess)
	}
	for _, dim := range []string{"service_name", "resource_uid", "cloud_account_id"} {
		if sums[dim] != r.Cost.Sub(r.Baseline) || sums[dim] != money.FromInt(400) {
			t.Errorf("by %s the contributors sum to %s, of %s", dim, sums[dim], r.Cost.Sub(r.Baseline))
		}
	}
	if by := r.ExplainedBy; by != anomaly.IDOf(org, anomaly.Scope{Type: anomaly.Resource, ID: "i-0"},
		day("2026-03-07")) {
		t.Errorf("explained by %q", by)
	}
}

func TestCheck_WhatWasWeeksAgoWhenItsBillCameIsListedAndNobodyIsTold(t *testing.T) {
	f := newFixture(t)
	f.bill(map[string]string{"2026-02-24": "500"})
	f.check()
	listed := f.records()
	if !strings.Contains(listed, "02-24 resource critical open") || f.events() != "" {
		t.Errorf("listed are %q, told was %q", listed, f.events())
	}
	f.Clock.Advance(24 * time.Hour)
	f.check()
	f.Equal("a day later", f.records(), listed)
}

func TestCheck_WhatHasNotChangedIsNotJudgedAgain(t *testing.T) {
	f := newFixture(t)
	f.bill(map[string]string{"2026-03-07": "500"})
	f.check()
	before := f.records()
	if got := f.check(); got.Judged != 0 {
		t.Errorf("%+v", got)
	}
	f.Clock.Advance(24 * time.Hour) // another day: judged again, without a change
	if got := f.check(); got.Judged != 1 || got.Anomalies != 0 {
		t.Errorf("%+v", got)
	}
	f.Equal("anomalies", f.records(), before)
}

func TestCheck_ARestatedDayIsCorrectedNotRepeated(t *testing.T) {
	f := newFixture(t)
	f.bill(map[string]string{"2026-03-07": "250"})
	f.check()
	f.Equal("events", f.events(), "cost.anomaly.resource.critical i-0")
	f.Clock.Advance(time.Hour)
	f.bill(map[string]string{"2026-03-07": "260"})
	f.check()
	f.Equal("events of a corrected day", f.events(), "cost.anomaly.resource.critical i-0")
	r := apitest.Value(anomaly.NewStore(f.Table).Read(f.In(org), org,
		anomaly.IDOf(org, anomaly.Scope{Type: anomaly.Resource, ID: "i-0"}, day("2026-03-07"))))(f)
	f.Equal("cost", r.Cost.String(), "260")
	f.Clock.Advance(time.Hour)
	f.bill(map[string]string{"2026-03-07": "900"})
	f.check()
	f.Equal("events of a day that is worse", f.events(),
		"cost.anomaly.resource.critical i-0; cost.anomaly.resource.emergency i-0")
	f.Clock.Advance(time.Hour)
	f.bill(nil)
	f.check()
	for got := range strings.SplitSeq(f.records(), "; ") {
		if !strings.Contains(got, string(anomaly.Closed)) {
			t.Errorf("not closed: %s", got)
		}
	}
	f.Clock.Advance(time.Hour)
	f.bill(map[string]string{"2026-03-07": "900"})
	f.check()
	f.Equal("events of a day that came back", f.events(),
		"cost.anomaly.resource.critical i-0; cost.anomaly.resource.emergency i-0")
}

func TestCheck_WhatIsExpectedStaysSo(t *testing.T) {
	f := newFixture(t)
	f.bill(map[string]string{"2026-03-07": "250"})
	f.check()
	store := anomaly.NewStore(f.Table)
	i := anomaly.IDOf(org, anomaly.Scope{Type: anomaly.Resource, ID: "i-0"}, day("2026-03-07"))
	old := apitest.Value(store.Read(f.In(org), org, i))(f)
	next := old
	next.Status, next.Reason = anomaly.Expected, "a load test"
	apitest.Value(store.Replace(f.In(org), org, old, next))(f)
	f.Clock.Advance(time.Hour)
	f.bill(map[string]string{"2026-03-07": "900"})
	f.check()
	got := apitest.Value(store.Read(f.In(org), org, i))(f)
	if got.Status != anomaly.Expected || got.Reason != "a load test" || got.Severity != anomaly.Emergency ||
		len(got.Told) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestCheck_PurchasesAndDaysThatHaveNotSettledAreNone(t *testing.T) {
	f := newFixture(t)
	f.extra = []costtest.Line{{
		Service: "Savings Plans", Category: bill.Purchase,
		USD: costtest.Except("", map[string]string{"2026-03-03": "9000"}),
	}}
	f.bill(map[string]string{"2026-03-09": "9000"}) // of the day before
	f.check()
	f.Equal("anomalies", f.records(), "")
	rules := apitest.Value(anomaly.NewStore(f.Table).ReadRules(f.In(org), org))(f)
	rules.UsageOnly = false
	f.Must(anomaly.NewStore(f.Table).WriteSettings(f.In(org), org, &rules))
	f.check()
	f.Equal("anomalies of all charges", f.records(), "03-03 cloud_account emergency open 1; 03-03 org emergency open 0")
	rules = apitest.Value(anomaly.NewStore(f.Table).ReadRules(f.In(org), org))(f)
	rules.SettledDays = false
	f.Must(anomaly.NewStore(f.Table).WriteSettings(f.In(org), org, &rules))
	f.check()
	if got := f.records(); !strings.Contains(got, "03-09 resource emergency open 1") {
		t.Errorf("without the gate the day before is not judged: %s", got)
	}
}

func TestCheck_AnAccountWhoseBillsAreLateKeepsTheOrganizationFromBeingJudged(t *testing.T) {
	f := newFixture(t)
	f.bill(map[string]string{"2026-03-07": "500"})
	f.Clock.Advance(5 * 24 * time.Hour)
	b := costtest.Bill{
		Org: org, Account: inventorytest.Account, From: day("2026-03-01"), To: day("2026-03-15"),
		Delivered: f.Clock.Now(),
	}
	costtest.Import(f.Fixture, b,
		costtest.Line{
			Resource: "i-0", Service: "EC2",
			USD: costtest.Except("100", map[string]string{"2026-03-12": "800"}),
		})
	f.check()
	if got := f.records(); strings.Contains(got, "03-12 org") || !strings.Contains(got, "03-12 cloud_account") {
		t.Errorf("%s", got)
	}
}

func TestCheck_TwoAtOnceAndStoresThatFailTellOnce(t *testing.T) {
	f := newFixture(t)
	f.bill(map[string]string{"2026-03-07": "500"})
	whole := f.Table
	for call := 1; call < 8; call++ {
		faulty := table.NewFaultyStore(whole, f.Clock,
			table.Injection{Harm: table.FailAfter, Method: table.TransactMethod, Call: call})
		f.Table = faulty
		if _, err := Check(f.Context(), f.Platform); err != nil && !fault.Is(err, fault.Internal) {
			t.Errorf("call %d: %v", call, err)
		}
	}
	f.Table = whole
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := Check(f.Context(), f.Platform); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	f.Equal("events", f.events(), "cost.anomaly.resource.critical i-0")
}

func TestCheck_ABudgetIsToldOfOnce(t *testing.T) {
	f := newFixture(t)
	f.bill(nil) // 9 days of March: 2,880 in all
	b := budgeting.Budget{
		ID: id.New("bud", f.Clock.Now()), Name: "All", ScopeType: budgeting.Org,
		Amount: money.FromInt(3000), Period: budgeting.Month,
	}
	f.Must(b.Check())
	apitest.Value(budgeting.NewStore(f.Table).Create(f.In(org), org, b))(f)
	if got := f.check(); got.BudgetEvents != 1 {
		t.Errorf("%+v", got)
	}
	f.Equal("events", f.events(), "budget.warning ")
	f.Clock.Advance(time.Hour)
	f.bill(map[string]string{"2026-03-09": "300"})
	f.check()
	f.Equal("events when it is exceeded", f.events(), "budget.exceeded ; budget.warning ")
	for _, restated := range []map[string]string{nil, {"2026-03-09": "400"}} {
		f.Clock.Advance(time.Hour)
		f.bill(restated)
		if got := f.check(); got.BudgetEvents != 0 {
			t.Errorf("told again: %+v", got)
		}
	}
}

func TestCheck_AnOrganizationThatHasEndedIsLeftAlone(t *testing.T) {
	f := newFixture(t)
	f.bill(map[string]string{"2026-03-07": "500"})
	f.Put(identity.AccessKey(org), identity.Access{Ended: true})
	if got := f.check(); got.Judged != 0 || f.records() != "" {
		t.Errorf("%+v %s", got, f.records())
	}
}
