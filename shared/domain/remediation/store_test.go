package remediation

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

const org = apitest.Org

// fixture is a store with the test's clock.
type fixture struct {
	*apitest.Fixture
	store *Store
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := apitest.New(t)
	return &fixture{f, NewStore(f.Table, f.Clock)}
}

func (f *fixture) person(name string) Person {
	return Person{User: "usr_" + name, Email: name + "@example.com", At: f.Clock.Now()}
}

// target returns a target that stops an instance.
func target(n int) Target {
	t := Target{
		RecID: fmt.Sprintf("rec_%d", n), RuleID: "aws-ec2-idle", RuleVersion: 1, Title: "Instance does nothing",
		ResourceID: fmt.Sprintf("res_%d", n), ResourceUID: fmt.Sprintf("i-%d", n), ResourceType: "aws-ec2",
		Verb: rule.VerbStop, SavingUSD: money.FromInt(10), State: Waiting,
	}
	t.SetPlan(Plan{Calls: []string{"stop"}, Before: map[string]string{"status": "running"}})
	return t
}

// proposed stores a workflow of n targets that ada has requested.
func (f *fixture) proposed(n int) Workflow {
	f.Helper()
	w := Workflow{Org: org, Requester: f.person("ada")}
	for i := range n {
		w.Targets = append(w.Targets, target(i))
	}
	return apitest.Value(f.store.Create(f.In(org), w))(f)
}

// in stores a workflow that has a status, without the transitions before it.
func (f *fixture) in(s Status) Workflow {
	f.Helper()
	w := Workflow{ID: "rem_01k6v0e4y0c2b7m9q8r5t3w1xz", Org: org, Status: s, CreatedAt: f.Clock.Now()}
	if got, err := f.store.Get(f.In(org), org, w.ID); err == nil {
		w.Version = got.Version
	}
	f.Must(f.store.write(f.In(org), &w, nil))
	return w
}

// The table of design section 9, as text.
const wanted = `pending awaiting_approval
pending running
pending failed
pending cancelled
awaiting_approval running
awaiting_approval cancelled
awaiting_approval expired
running succeeded
running failed
running cancelled
running rolled_back
succeeded rolled_back
failed rolled_back
`

func TestStore_Move_AllPairsUnderTwoCallers(t *testing.T) {
	f := newFixture(t)
	allowed := ""
	for _, from := range Statuses {
		for _, to := range Statuses {
			w := f.in(from)
			var wins, conflicts int
			var mu sync.Mutex
			var wg sync.WaitGroup
			for _, by := range []string{"ada", "eve"} {
				wg.Go(func() {
					_, err := f.store.Move(f.In(org), w, Change{To: to, By: by})
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						wins++
					} else if fault.Is(err, fault.Conflict) {
						conflicts++
					}
				})
			}
			wg.Wait()
			got := apitest.Value(f.store.Get(f.In(org), org, w.ID))(t)
			switch {
			case wins == 1 && conflicts == 1 && got.Status == to:
				allowed += fmt.Sprintf("%s %s\n", from, to)
			case wins != 0 || conflicts != 2 || got.Status != from || got.Version != w.Version:
				t.Errorf("%s to %s: %d wins, %d conflicts, it is %s", from, to, wins, conflicts, got.Status)
			}
		}
	}
	f.Equal("the permitted transitions", allowed, wanted)
}

func TestStore_Create_HoldsItsResourcesAndExpires(t *testing.T) {
	f := newFixture(t)
	w := f.proposed(2)
	f.Equal("status", w.Status, AwaitingApproval)
	f.Equal("steps", fmt.Sprint(stepsOf(&w)), "[succeeded running pending pending]")
	_, err := f.store.Create(f.In(org), Workflow{Org: org, Requester: f.person("eve"), Targets: []Target{target(1)}})
	if !fault.Is(err, fault.Conflict) || !errorHas(err, w.ID) {
		t.Errorf("a second workflow on a resource: %v", err)
	}
	work := apitest.Value(table.Read[workqueue.Work](table.Within(f.In(org), workqueue.Prefix), f.Table,
		workqueue.WorkKey(w.ID)))(t)
	if !work.Due.After(w.ExpiresAt) || work.Machine != Machine {
		t.Errorf("its work is due at %s", work.Due)
	}
	f.Clock.Advance(ApprovalTime)
	if _, err = f.store.Approve(f.In(org), w, f.person("eve")); !fault.Is(err, fault.Conflict) ||
		!errorHas(err, "expired") {
		t.Errorf("approved too late: %v", err)
	}
	f.Equal("shown as", w.StatusAt(f.Clock.Now()), Expired)
	other := apitest.Value(f.store.Create(f.In(org),
		Workflow{Org: org, Requester: f.person("eve"), Targets: []Target{target(1)}}))(t)
	apitest.Value(f.store.Move(f.In(org), w, Change{To: Expired, By: Executor}))(t)
	held := apitest.Value(f.store.Holders(f.In(org), org, "res_0", "res_1"))(t)
	f.Equal("held", fmt.Sprint(held), fmt.Sprint(map[string]string{"res_1": other.ID}))
}

func stepsOf(w *Workflow) []StepStatus {
	out := []StepStatus{}
	for _, s := range w.Steps.Named() {
		out = append(out, s.Status)
	}
	return out
}

func errorHas(err error, text string) bool {
	return err != nil && strings.Contains(err.Error(), text)
}

func TestStore_Approve_TakesAnotherPersonOnce(t *testing.T) {
	f := newFixture(t)
	w := f.proposed(1)
	if _, err := f.store.Approve(f.In(org), w, f.person("ada")); !fault.Is(err, fault.Denied) {
		t.Errorf("approved by its requester: %v", err)
	}
	if _, err := f.store.Reject(f.In(org), w, f.person("ada"), ""); !fault.Is(err, fault.Denied) {
		t.Errorf("rejected by its requester: %v", err)
	}
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i, name := range []string{"eve", "bob"} {
		wg.Go(func() { _, errs[i] = f.store.Approve(f.In(org), w, f.person(name)) })
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !fault.Is(errors.Join(errs...), fault.Conflict) {
		t.Errorf("two approvers at once: %v", errs)
	}
	w = apitest.Value(f.store.Get(f.In(org), org, w.ID))(t)
	f.Equal("status", w.Status, Running)
	if _, err := f.store.Approve(f.In(org), w, f.person("bob")); !fault.Is(err, fault.Conflict) {
		t.Errorf("approved again: %v", err)
	}
	f.Clock.Advance(ApprovalTime + time.Hour)
	held := apitest.Value(f.store.Holders(f.In(org), org, "res_0"))(t)
	f.Equal("still held by the running workflow", held["res_0"], w.ID)
}

func TestStore_Approve_KeepsTheLimitOfTheDay(t *testing.T) {
	f := newFixture(t)
	for n := range MaxDayChanges - 1 {
		if err := f.Table.Transact(f.In(org), CountChange(org, f.Clock.Now())); err != nil {
			t.Fatal(n, err)
		}
	}
	w := f.proposed(2)
	if _, err := f.store.Approve(f.In(org), w, f.person("eve")); !IsDayLimit(err) || !fault.Is(err, fault.Conflict) {
		t.Errorf("51 changes a day: %v", err)
	}
	f.Clock.Advance(20 * time.Hour)
	w = apitest.Value(f.store.Approve(f.In(org), w, f.person("eve")))(t)
	for range MaxDayChanges {
		f.Must(f.store.Save(f.In(org), &w, CountChange(org, f.Clock.Now())))
	}
	if err := f.store.Save(f.In(org), &w, CountChange(org, f.Clock.Now())); !IsDayLimit(err) {
		t.Errorf("another change of a full day: %v", err)
	}
}

func TestStore_Cancel_WaitsForWhatHasBegun(t *testing.T) {
	f := newFixture(t)
	w := apitest.Value(f.store.Cancel(f.In(org), f.proposed(1), f.person("ada"), "not now"))(t)
	f.Equal("withdrawn", w.Status, Cancelled)
	f.Equal("why", w.Message, "cancelled by ada@example.com: not now")
	if _, err := f.store.Cancel(f.In(org), w, f.person("ada"), ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("cancelled again: %v", err)
	}
	w = apitest.Value(f.store.Approve(f.In(org), f.proposed(1), f.person("eve")))(t)
	w.Targets[0].State, w.Targets[0].Changed = Calling, true
	f.Must(f.store.Save(f.In(org), &w))
	w = apitest.Value(f.store.Cancel(f.In(org), w, f.person("bob"), ""))(t)
	f.Equal("begun", w.Status, Running)
	f.Equal("by", w.Canceller.Email, "bob@example.com")
}

func TestStore_RequestRollback_IsForEndedWorkflowsWithinAWeek(t *testing.T) {
	f := newFixture(t)
	w := apitest.Value(f.store.Approve(f.In(org), f.proposed(1), f.person("eve")))(t)
	if _, err := f.store.RequestRollback(f.In(org), w, f.person("bob")); !fault.Is(err, fault.Conflict) {
		t.Errorf("while it runs: %v", err)
	}
	w.Targets[0].State, w.Targets[0].Changed = Done, true
	w = apitest.Value(f.store.Move(f.In(org), w, Change{To: Succeeded, By: Executor}))(t)
	f.Equal("no hold", len(apitest.Value(f.store.Holders(f.In(org), org, "res_0"))(t)), 0)
	back := apitest.Value(f.store.RequestRollback(f.In(org), w, f.person("bob")))(t)
	f.Equal("state", back.Targets[0].State, Undoing)
	f.Equal("status meanwhile", back.Status, Succeeded)
	again := apitest.Value(f.store.RequestRollback(f.In(org), back, f.person("eve")))(t)
	f.Equal("a second request joins", again.Rollback.Email, "bob@example.com")
	ended := apitest.Value(f.store.EndRollback(f.In(org), back, "it was changed by hand"))(t)
	f.Clock.Advance(RollbackTime)
	if _, err := f.store.RequestRollback(f.In(org), ended, f.person("bob")); !fault.Is(err, fault.Conflict) {
		t.Errorf("after a week: %v", err)
	}
}

func TestStore_WriteCapture_KeepsTheFirstValues(t *testing.T) {
	f := newFixture(t)
	c := Capture{WorkflowID: "rem_1", Before: map[string]string{"min": "4"}, At: f.Clock.Now()}
	f.Must(f.store.WriteCapture(f.In(org), org, c))
	c.Before = map[string]string{"min": "1"}
	f.Must(f.store.WriteCapture(f.In(org), org, c))
	got := apitest.Value(f.store.ReadCapture(f.In(org), org, "rem_1", 0))(t)
	f.Equal("min", got.Before["min"], "4")
}

func TestStore_List_IsNewestFirst(t *testing.T) {
	f := newFixture(t)
	first := f.proposed(1)
	apitest.Value(f.store.Cancel(f.In(org), first, f.person("ada"), ""))(t)
	f.Clock.Advance(time.Minute)
	second := f.proposed(2)
	all := apitest.Value(f.store.List(f.In(org), org))(t)
	f.Equal("lines", fmt.Sprint(len(all), all[0].ID == second.ID, all[0].RecIDs, all[0].SavingUSD.Fixed(2)),
		"2 true [rec_0 rec_1]20.00")
	f.Equal("status", all[1].Status, Cancelled)
}
