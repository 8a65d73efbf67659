package recommendation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/killpoint"
)

const org = apitest.Org

var everything = grant.Scopes{All: true}

// fixture is an organization with instances.
type fixture struct {
	*apitest.Fixture
	resources []Resource
}

func newFixture(t testing.TB, instances int) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t)}
	for i, id := range inventorytest.Discover(f.Fixture, org, "aws-ec2", inventorytest.Instances(instances)...) {
		f.resources = append(f.resources, Resource{
			ResourceID:     id,
			ResourceUID:    fmt.Sprint("i-", i),
			ResourceName:   fmt.Sprint("web-", i),
			ResourceType:   "aws-ec2",
			Provider:       "aws",
			CloudAccountID: inventorytest.Account,
			Region:         "eu-west-1",
		})
	}
	return f
}

func (f *fixture) store() *Store { return New(f.Platform) }

// pass returns a pass at the present time of the fixture.
func (f *fixture) pass(id string) Pass { return Pass{ID: id, At: f.Clock.Now()} }

// findings returns true findings of two rules for each resource. They save 1, 2, 3 … USD.
func (f *fixture) findings() []Finding {
	var out []Finding
	for i, r := range f.resources {
		one := change(idle(), saving(int64(2*i+1)))
		one.Resource = r
		two := change(idle(), saving(int64(2*i+2)), func(f *Finding) {
			f.RuleID, f.Title, f.Category = "aws-ec2-size", "Instance is too large", "rightsizing"
			f.Savings.Strength = BySize
		})
		two.Resource = r
		out = append(out, *one, *two)
	}
	return out
}

// settle settles findings in a pass of their own.
func (f *fixture) settle(id string, findings ...Finding) Settled {
	f.Helper()
	t := apitest.Value(f.store().Begin(f.In(org), org, f.pass(id)))(f)
	return apitest.Value(t.Settle(f.In(org), findings))(f)
}

// rows returns the stored rows as text, by id.
func (f *fixture) rows() []string {
	f.Helper()
	var out []string
	for _, r := range apitest.Rows[Row](f.Fixture, RowPKs(org)...) {
		out = append(out, apitest.JSON(r))
	}
	slices.Sort(out)
	return out
}

// contents returns the stored rows as text without ids, which are random.
func (f *fixture) contents() string {
	f.Helper()
	var out []string
	for _, r := range apitest.Rows[Row](f.Fixture, RowPKs(org)...) {
		r.ID, r.ResourceID = "", ""
		out = append(out, apitest.JSON(r))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// listed returns the ids, statuses, severities and savings of a list.
func (f *fixture) listed(l List) []string {
	f.Helper()
	l.Scopes, l.Limit = everything, cmp.Or(l.Limit, 1000)
	items, total, err := f.store().List(f.In(org), org, l)
	f.Must(err)
	var out []string
	for i := range items {
		it := &items[i]
		out = append(out, fmt.Sprintf("%s %s %s %s", it.ResourceUID, it.RuleID[8:], it.Status, it.Saving.Fixed(0)))
	}
	if l.By == "" { // the order of ids is random
		slices.Sort(out)
	}
	return append([]string{strconv.Itoa(total)}, out...)
}

func TestSettle_WritesOnlyWhatHasChanged(t *testing.T) {
	f := newFixture(t, 10)
	first := f.settle("one", f.findings()...)
	if first.Opened != 20 || first.Findings != 20 {
		t.Errorf("%+v", first)
	}
	before := f.rows()
	again := f.Meter(func(ctx context.Context) {
		for _, id := range []string{"one", "two"} {
			p := apitest.Value(f.store().Begin(table.WithOrg(ctx, org), org, f.pass(id)))(f)
			got := apitest.Value(p.Settle(table.WithOrg(ctx, org), f.findings()))(f)
			f.Equal("unchanged", got.Unchanged, 20)
		}
	})
	if again.WriteUnits != 0 || !slices.Equal(f.rows(), before) {
		t.Errorf("%+v", again)
	}
	f.Clock.Advance(24 * time.Hour)
	changed := f.findings()
	changed[6].Severity = Info
	changed[9].Evidence.Values = map[string]any{"m.cpu_max_14d": 3.0}
	got := f.settle("three", changed...)
	if got.Changed != 2 || got.Unchanged != 18 {
		t.Errorf("%+v", got)
	}
}

func TestSettle_UnknownNeitherOpensNorCloses(t *testing.T) {
	f := newFixture(t, 3)
	unknown := f.findings()
	for i := range unknown {
		unknown[i].Outcome = Unknown
	}
	f.Equal("unknown", f.settle("one", unknown...).Unknown, 6)
	f.Equal("rows", len(f.rows()), 0)
	f.settle("two", f.findings()...)
	before := f.rows()
	for n := range 5 {
		f.Clock.Advance(24 * time.Hour)
		f.settle(fmt.Sprint("later ", n), unknown...)
	}
	f.Equal("rows", f.rows(), before)
}

func TestSettle_RulesOfNamesTheRulesWhoseFalseOutcomeMatters(t *testing.T) {
	f := newFixture(t, 2)
	f.settle("one", f.findings()[:3]...)
	p := apitest.Value(f.store().Begin(f.In(org), org, f.pass("two")))(f)
	got := p.RulesOf(f.resources[0].ResourceID)
	slices.Sort(got)
	f.Equal("of the first", got, []string{"aws-ec2-idle", "aws-ec2-size"})
	f.Equal("of the second", p.RulesOf(f.resources[1].ResourceID), []string{"aws-ec2-idle"})
	f.Equal("of none", p.RulesOf("res_x"), []string(nil))
}

func TestSettle_UnmeasuredNamesAppliedRowsAndLatelyOptimisedOnes(t *testing.T) {
	f := newFixture(t, 2)
	f.settle("one", f.findings()...)
	open := apitest.Value(f.store().Begin(f.In(org), org, f.pass("two")))(f)
	f.Equal("of open rows", open.Unmeasured(), []string(nil))
	id := IDOf(f.resources[0].ResourceID, "i-0", "aws-ec2-idle")
	_, row, err := f.store().Decide(f.In(org), org, id,
		Decision{Status: Applied, By: "ada@example.com", Why: "workflow rem_1 carried it out", At: f.Clock.Now()})
	f.Must(err)
	f.Equal("why", row.History[len(row.History)-1].Why, "workflow rem_1 carried it out")
	f.Equal("applied at", row.LastApplied(), f.Clock.Now())
	p := apitest.Value(f.store().Begin(f.In(org), org, f.pass("three")))(f)
	f.Equal("applied", p.Unmeasured(), []string{id})
	line := LedgerLine{RecommendationID: id, Month: money.FromInt(7), MeasuredAt: f.Clock.Now()}
	apitest.Value(f.store().Confirm(f.In(org), org, &line))(f)
	p = apitest.Value(f.store().Begin(f.In(org), org, f.pass("four")))(f)
	f.Equal("measured", p.Unmeasured(), []string(nil))
}

// Passes that are killed at any call to the store and repeated leave the rows and the lists of passes that were not.
func TestSettle_KilledAtAnyWriteLeavesTheSameRows(t *testing.T) {
	killpoint.LosesNothing(t, 30, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		f := newFixture(t, 60)
		for day := range 4 {
			findings := f.findings()
			for i := range findings {
				if (i+day)%3 == 0 {
					findings[i].Outcome = False
				}
				if i%7 == 0 {
					findings[i].Metrics = true
				}
			}
			p := f.pass(fmt.Sprint("pass ", day))
			lives.Run(f.In(org), t, func(ctx context.Context, proc *killpoint.Process) error {
				platform := f.Clone()
				platform.Table = proc.Store(f.Table)
				s, err := New(platform).Begin(ctx, org, p)
				if err != nil {
					return err
				}
				if _, err = s.Settle(ctx, findings); err != nil {
					return err
				}
				return s.Confirm(ctx, 0, 1, 2)
			})
			f.Clock.Advance(24 * time.Hour)
		}
		fresh := &fixture{Fixture: f.Fixture}
		return f.contents() + strings.Join(fresh.listed(List{}), "\n")
	})
}

func TestSettle_APersonWhoDecidesMeanwhileIsHeard(t *testing.T) {
	f := newFixture(t, 1)
	f.settle("one", f.findings()...)
	f.Clock.Advance(24 * time.Hour)
	p := apitest.Value(f.store().Begin(f.In(org), org, f.pass("two")))(f)
	id := IDOf(f.resources[0].ResourceID, "i-0", "aws-ec2-idle")
	_, _, err := f.store().Decide(f.In(org), org, id,
		Decision{Status: Dismissed, Reason: Intended, By: "ada@example.com", At: f.Clock.Now().Add(time.Second)})
	f.Must(err)
	findings := f.findings()
	findings[0].Outcome = False
	apitest.Value(p.Settle(f.In(org), findings))(f)
	got := apitest.Value(f.store().Read(f.In(org), org, id))(f)
	if got.Status != Dismissed || got.Falses != 0 {
		t.Errorf("%s, %d false", got.Status, got.Falses)
	}
}

func TestSettle_FoldsChangesAndLosesNone(t *testing.T) {
	f := newFixture(t, 200)
	for i := range f.findings() {
		f.settle(fmt.Sprint("pass ", i), f.findings()[i])
	}
	deltas := len(apitest.Rows[packed](f.Fixture, columnKey(org, "").PK))
	if deltas > manyDeltas+2 {
		t.Errorf("%d changes wait to be folded", deltas)
	}
	f.Equal("chunks", len(f.chunks()), 1)
	fresh := &fixture{Fixture: &apitest.Fixture{TB: t, Platform: f.Clone(), Clock: f.Clock}}
	if got := fresh.listed(List{}); got[0] != "400" || len(got) != 401 {
		t.Errorf("%s recommendations, %d on the page", got[0], len(got)-1)
	}
}

// chunks returns the partitions of the chunks that the head and the plans name, all of which must exist.
func (f *fixture) chunks() []string {
	f.Helper()
	page := apitest.Value(f.Table.Query(f.In(org), table.Query{PK: columnKey(org, "").PK, Limit: 1000}))(f)
	pks := apitest.Value(ChunkPartitions(org, page.Items))(f)
	for _, pk := range pks {
		f.Equal(pk, len(apitest.Rows[packed](f.Fixture, pk)), 1)
	}
	return pks
}

func TestFold_KilledAtAnyCallLosesNothing(t *testing.T) {
	killpoint.LosesNothing(t, 20, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		f := newFixture(t, 140)
		p := apitest.Value(f.store().Begin(f.In(org), org, f.pass("one")))(f)
		findings := f.findings()
		for i := range 139 { // a change each, and none of them folded yet
			var c Settled
			f.Must(p.writeSome(f.In(org), findings[i:i+1], &c))
		}
		want := f.listed(List{})
		lives.Run(f.In(org), t, func(ctx context.Context, proc *killpoint.Process) error {
			platform := f.Clone()
			platform.Table = proc.Store(f.Table)
			return New(platform).Fold(ctx, org)
		})
		f.Clock.Advance(2 * deadAge)
		for i := 139; i < 280; i++ { // the next folds end the plans of the dead ones
			var c Settled
			f.Must(p.writeSome(f.In(org), findings[i:i+1], &c))
		}
		f.Must(f.store().Fold(f.In(org), org))
		fresh := &fixture{Fixture: &apitest.Fixture{TB: t, Platform: f.Clone(), Clock: f.Clock}}
		return fmt.Sprint(want, fresh.listed(List{}), len(f.chunks()))
	})
}

func TestCloseGone_EndsTheRowsOfResourcesThatLeft(t *testing.T) {
	f := newFixture(t, 3)
	f.settle("one", f.findings()...)
	f.terminate(0)
	f.Clock.Advance(time.Hour)
	p := apitest.Value(f.store().Begin(f.In(org), org, f.pass("two")))(f)
	var got Settled
	for shard := range Shards {
		got.Add(apitest.Value(p.CloseGone(f.In(org), shard))(f))
	}
	f.Equal("ended", got.Optimised, 2)
	f.Equal("optimised", f.listed(List{Statuses: []string{"optimised"}, Search: "WEB-0"})[0], "2")
	row := apitest.Value(f.store().Read(f.In(org), org, IDOf(f.resources[0].ResourceID, "i-0", "aws-ec2-idle")))(f)
	f.Equal("why", row.Ended, EndedGone)
}

// terminate lets a scan find that an instance has ended.
func (f *fixture) terminate(i int) {
	f.Helper()
	f.Clock.Advance(time.Minute)
	part := inventory.Partition{
		AccountID: inventorytest.Account,
		Provider:  "aws",
		Region:    "eu-west-1",
		Kind:      "aws-ec2",
	}
	scan := inventory.Scan{Partition: part, ID: "job_2", Started: f.Clock.Now()}
	found := inventorytest.Instances(3)[i]
	found.Status = cloud.Terminated
	_, err := inventory.New(f.Platform).UpsertScanned(f.In(org), org,
		inventory.Batch{Scan: scan, At: f.Clock.Now(), Resources: []cloud.Resource{found}})
	f.Must(err)
}

func TestSettle_ARowThatExpiredBeginsAgainAndIsListed(t *testing.T) {
	f := newFixture(t, 1)
	one := f.findings()[:1]
	f.settle("one", one...)
	one[0].Outcome = False
	for n := range 3 {
		f.Clock.Advance(24 * time.Hour)
		f.settle(fmt.Sprint("false ", n), one...)
	}
	f.Equal("ended", f.listed(List{}), []string{"1", "i-0 idle optimised 1"})
	f.Clock.Advance(Keep + time.Hour)
	f.Equal("expired", f.listed(List{}), []string{"0"})
	one[0].Outcome = True
	f.settle("again", one...)
	f.Equal("again", f.listed(List{}), []string{"1", "i-0 idle open 1"})
}

func TestSettle_DemotesARuleThatPeopleCallWrong(t *testing.T) {
	f := newFixture(t, 30)
	f.settle("one", f.findings()...)
	for i, r := range f.resources[:leastCases] {
		d := Decision{Status: Dismissed, Reason: Intended, By: "ada@example.com", At: f.Clock.Now()}
		if i < 5 { // a quarter
			d.Reason = Wrong
		}
		_, _, err := f.store().Decide(f.In(org), org, IDOf(r.ResourceID, r.ResourceUID, "aws-ec2-size"), d)
		f.Must(err)
	}
	f.Clock.Advance(24 * time.Hour)
	f.settle("two", f.findings()...)
	f.Equal("wrong rule", f.listed(List{Severities: []string{"info"}, Statuses: []string{"open"}})[0], "10")
	f.Equal("right rule", f.listed(List{Severities: []string{"high"}, Statuses: []string{"open"}})[0], "30")
}

func TestSettle_RefusesFindingsThatCannotBeStored(t *testing.T) {
	f := newFixture(t, 1)
	p := apitest.Value(f.store().Begin(f.In(org), org, f.pass("one")))(f)
	for want, c := range map[string]func(*Finding){
		"native id":         func(f *Finding) { f.Resource.ResourceUID = "" },
		"id of a resource":  func(f *Finding) { f.Resource.ResourceID = "web" },
		"severity":          func(f *Finding) { f.Severity = "bad" },
		"101 claims":        func(f *Finding) { f.Savings.Claims = make([]Claim, MaxClaims+1) },
		"a saving is 0 or ": func(f *Finding) { f.Savings.Net = money.FromInt(-1) },
	} {
		if _, err := p.Settle(
			f.In(org),
			[]Finding{*change(idle(), c)},
		); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestCounts_AreAddedUpOverTheShards(t *testing.T) {
	f := newFixture(t, 1)
	denied := Missing{Fact: "res.env", Permission: "ec2:DescribeTags", Reason: "denied"}
	for shard := range 2 {
		one := RuleCount{RuleID: "aws-ec2-idle", AccountID: "ca_1", Evaluated: 10, True: 1, False: 6, Unknown: 3}
		one.Miss(denied, 2)
		one.Miss(Missing{Fact: "m.cpu", Reason: "few_points"}, 1)
		f.Must(f.store().WriteCounts(f.In(org), org, shard, []RuleCount{one}))
	}
	got := apitest.Value(f.store().ReadCounts(f.In(org), org))(f)
	f.Equal("counts", len(got), 1)
	c := got[0]
	if c.Evaluated != 20 || c.True != 2 || c.False != 12 || c.Unknown != 6 ||
		c.Missing[0] != (MissingCount{denied, 4}) {
		t.Errorf("%+v", c)
	}
	again := f.Meter(func(ctx context.Context) {
		one := RuleCount{RuleID: "aws-ec2-idle", AccountID: "ca_1", Evaluated: 10, True: 1, False: 6, Unknown: 3}
		one.Miss(Missing{Fact: "m.cpu", Reason: "few_points"}, 1)
		one.Miss(denied, 2)
		f.Must(f.store().WriteCounts(table.WithOrg(ctx, org), org, 1, []RuleCount{one}))
	})
	f.Equal("writes of equal counts", again.WriteUnits, 0)
	f.Must(f.store().WriteCounts(f.In(org), org, 1, nil))
	f.Equal("after a shard without rules", apitest.Value(f.store().ReadCounts(f.In(org), org))(f)[0].Evaluated, 10)
}

func TestRefresh_ASecondRequestJoinsTheRunningOne(t *testing.T) {
	f := newFixture(t, 0)
	f.Workflow = apitest.Idle{}
	start := func() Refresh { return apitest.Value(StartRefresh(f.In(org), f.Platform, org))(f) }
	one := start()
	f.Equal("joined", start().JobID, one.JobID)
	in := RefreshInput{Org: org, JobID: one.JobID}
	f.Must(FinishRefresh(f.In(org), f.Platform, in, Settled{Opened: 2}, ""))
	f.Must(FinishRefresh(f.In(org), f.Platform, in, Settled{}, "a second end"))
	got := apitest.Value(ReadRefresh(f.In(org), f.Table, org, one.JobID))(f)
	if got.StatusAt(f.Clock.Now()) != RefreshCompleted || got.Settled.Opened != 2 || got.Error != "" {
		t.Errorf("%+v", got)
	}
	f.Clock.Advance(time.Second)
	two := start()
	if two.JobID == one.JobID {
		t.Error("an ended refresh was joined")
	}
	f.Clock.Advance(LostRefresh)
	if three := start(); three.JobID == two.JobID {
		t.Error("a lost refresh was joined")
	}
}

func TestRow_IsReadAsItWasWritten(t *testing.T) {
	r := reach(t, Dismissed).row
	var got Row
	if err := json.Unmarshal([]byte(apitest.JSON(r)), &got); err != nil || apitest.JSON(got) != apitest.JSON(r) {
		t.Error(err)
	}
	if got.fingerprint() != r.fingerprint() {
		t.Error("the fingerprint of the stored evidence differs")
	}
}
