package executor

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

// newGroup makes a resource group of the instances that can be acted on, in tiers 1 to 3 with two orders each.
func (w *fixture) newGroup(size int, policy string) (inventory.Group, []inventory.GroupPlacement) {
	w.Helper()
	var places []inventory.GroupPlacement
	for _, r := range w.resources {
		if r.Type == "aws-ec2" && r.Unschedulable == "" && len(places) < size {
			n := len(places)
			places = append(places, inventory.GroupPlacement{ResourceID: r.ID, Tier: 1 + n%3, Order: 1 + n/3%2})
		}
	}
	if len(places) < size {
		w.Fatalf("the cloud has only %d instances", len(places))
	}
	g, err := w.e.inventory.CreateGroup(w.ctx, org, inventory.Group{
		ID: id.New("grp", noon), Name: id.New("grp", noon), FailurePolicy: policy,
	}, places)
	w.Must(err)
	return g, places
}

// submitBulk commits a bulk action as POST /actions/bulk does.
func (w *fixture) submitBulk(g inventory.Group, verb cloud.Verb) execution.BulkInput {
	now := w.e.p.Clock.Now()
	b := execution.Bulk{
		ID: id.New("bulk", now), GroupID: g.ID, Type: verb, Status: execution.BulkQueued, Total: g.Size, CreatedAt: now,
		Plan: &execution.BulkPlan{FailurePolicy: g.FailurePolicy},
	}
	b.Plan.ChangedBy = execution.ChangedBy("bulk", "ada@example.com", b.ID)
	w.Put(execution.BulkKey(org, b.ID), b)
	return execution.BulkInput{Org: org, BulkID: b.ID}
}

// driveBulk runs a bulk action as its machine does. A task that fails because the store does is tried again, as the
// machine does too.
func (w *fixture) driveBulk(in execution.BulkInput) execution.Bulk {
	w.Helper()
	for s := persist(w, func() (StepResult, error) { return w.e.beginBulk(w.ctx, in) }); ; {
		for _, c := range s.Chunks {
			w.driveChunk(c)
		}
		if s.Last {
			break
		}
		in.Step, in.From = s.Next, s.From
		s = persist(w, func() (StepResult, error) { return w.e.nextStep(w.ctx, in) })
	}
	persist(w, func() (Ready, error) { return w.e.finishBulk(w.ctx, in) })
	return w.bulk(in.BulkID)
}

func (w *fixture) driveChunk(c execution.RunInput) {
	w.Helper()
	for range 300 {
		got := persist(w, func() (RunResult, error) { return w.e.RunActions(w.ctx, c) })
		if got.Done {
			return
		}
		w.Clock.Advance(time.Duration(got.WaitSeconds) * time.Second)
	}
	w.Fatalf("chunk %s is not done after 300 runs", c.Chunk)
}

func persist[T any](w *fixture, task func() (T, error)) T {
	w.Helper()
	for range 5 {
		got, err := task()
		if err == nil {
			return got
		}
		if !errors.Is(err, table.ErrDown) && !errors.Is(err, table.ErrLost) {
			w.Fatal(err)
		}
	}
	w.Fatal("failed five times")
	var zero T
	return zero
}

func (w *fixture) bulk(bulkID string) execution.Bulk {
	w.Helper()
	return apitest.Value(execution.ReadBulk(w.ctx, w.Table, org, bulkID))(w)
}

// auditBulk compares a finished bulk action with the expected result: each member is counted once, recorded once,
// released, and in the state that its record says.
func (w *fixture) auditBulk(b execution.Bulk, places []inventory.GroupPlacement) (failed int) {
	w.Helper()
	if b.Status != execution.BulkCompleted || b.Completed+b.Failed != b.Total || b.Total != len(places) {
		w.Errorf("bulk action: %+v", b)
	}
	recorded := map[string]int{}
	for _, h := range w.readHistory() {
		if h.ChangedBy == execution.ChangedBy("bulk", "ada@example.com", b.ID) {
			recorded[h.ResourceUID]++
		}
	}
	told := w.toldOf(b.ID)
	for _, p := range places {
		failed += w.auditOne(b, p, recorded)
		a := w.action(execution.MemberAction(b.ID, p.ResourceID))
		// an action that failed before it began sends no event
		if n := told[a.ResourceUID]; n > 1 || n != recorded[a.ResourceUID] && a.Status != execution.Failed {
			w.Errorf("%s (%s) is recorded %d times, and was told of %d times", a.ResourceUID, a.Status,
				recorded[a.ResourceUID], n)
		}
	}
	w.auditTotals()
	if failed != b.Failed {
		w.Errorf("%d actions failed, the bulk action counts %d", failed, b.Failed)
	}
	return failed
}

func (w *fixture) auditOne(b execution.Bulk, p inventory.GroupPlacement, recorded map[string]int) (failed int) {
	w.Helper()
	a := w.action(execution.MemberAction(b.ID, p.ResourceID))
	r := w.resource(a.ResourceUID)
	if a.Status == execution.Failed {
		failed = 1
	}
	if !a.Status.IsFinal() || r.ActionID != "" || a.Progress != nil {
		w.Errorf("%s is %s, in flight on its resource: %q", a.ID, a.Status, r.ActionID)
	}
	want := 1
	if a.Status == execution.Succeeded && a.Attempts == 0 {
		want = 0
	}
	if recorded[a.ResourceUID] != want {
		w.Errorf("%s (%s) is recorded %d times, want %d", a.ResourceUID, a.Status, recorded[a.ResourceUID], want)
	}
	if a.Status == execution.Succeeded && (w.state(r) != b.Type.WantedStatus() || r.Status != b.Type.WantedStatus()) {
		w.Errorf("%s is %s in the cloud and %s in the inventory after a %s", r.UID, w.state(r), r.Status, b.Type)
	}
	return failed
}

func TestABulkStopGoesDownTheTiersAndAStartUp(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "600", "stopped": "0.1", "kinds": "aws-ec2", "regions": "2"})
	g, places := w.newGroup(300, "continue")
	for _, verb := range []cloud.Verb{cloud.Stop, cloud.Start} {
		b := w.driveBulk(w.submitBulk(g, verb))
		if failed := w.auditBulk(b, places); failed != 0 {
			t.Errorf("%s: %d failed", verb, failed)
		}
		begun, ended := map[int]time.Time{}, map[int]time.Time{}
		for _, p := range places {
			a := w.action(execution.MemberAction(b.ID, p.ResourceID))
			if begun[p.Tier].IsZero() || a.StartedAt.Before(begun[p.Tier]) {
				begun[p.Tier] = a.StartedAt
			}
			if a.CompletedAt.After(ended[p.Tier]) {
				ended[p.Tier] = a.CompletedAt
			}
		}
		order := []int{1, 2, 3}
		if verb == cloud.Stop {
			order = []int{3, 2, 1}
		}
		for i := 1; i < len(order); i++ {
			if begun[order[i]].Before(ended[order[i-1]]) {
				t.Errorf("%s: tier %d began at %s, before tier %d had ended at %s", verb, order[i], begun[order[i]],
					order[i-1], ended[order[i-1]])
			}
		}
		w.Clock.Advance(time.Hour)
	}
}

func TestAFailureFailsItsMemberAndTheOthersGoOn(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "400", "stopped": "0", "kinds": "aws-ec2", "regions": "2"})
	g, places := w.newGroup(200, "continue")
	w.connectFaulty(map[string]string{"partialFailure": "0.4", "throttle": "0.05"})
	if failed := w.auditBulk(w.driveBulk(w.submitBulk(g, cloud.Stop)), places); failed == 0 || failed == len(places) {
		t.Errorf("%d of %d failed; the fault should hit some and leave some", failed, len(places))
	}
}

func TestAbortEndsTheRestWithTheReason(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "400", "stopped": "0", "kinds": "aws-ec2", "regions": "2"})
	g, places := w.newGroup(90, "abort")
	w.connectFaulty(map[string]string{"partialFailure": "1"})
	b := w.driveBulk(w.submitBulk(g, cloud.Stop))
	if failed := w.auditBulk(b, places); failed != len(places) {
		t.Errorf("%d of %d failed", failed, len(places))
	}
	last := w.action(execution.MemberAction(b.ID, places[0].ResourceID))
	if last.Attempts != 0 || last.ErrorMessage == "" {
		t.Errorf("a member of the last tier: %d attempts, %q", last.Attempts, last.ErrorMessage)
	}
}

// connectFaulty switches faults on in the cloud that newFixture made.
func (w *fixture) connectFaulty(faults map[string]string) {
	w.Helper()
	credentials := map[string]string{"size": "400", "stopped": "0", "kinds": "aws-ec2", "regions": "2"}
	maps.Copy(credentials, faults)
	w.sealCredentials(credentials)
}

func TestAMemberThatAnotherActionHoldsIsJoinedOrFailed(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "100", "stopped": "0", "kinds": "aws-ec2", "regions": "1"})
	g, places := w.newGroup(10, "continue")
	uid := func(p inventory.GroupPlacement) inventory.Resource {
		got := apitest.Value(w.e.inventory.ByID(w.ctx, org, p.ResourceID, inventory.SeeEverything()))(w)
		return got.Resource
	}
	same := w.submit(uid(places[0]), cloud.Stop)
	opposite := w.submit(uid(places[1]), cloud.Start)
	b := w.driveBulk(w.submitBulk(g, cloud.Stop))
	joined, refused := w.action(execution.MemberAction(b.ID, places[0].ResourceID)),
		w.action(execution.MemberAction(b.ID, places[1].ResourceID))
	if joined.Status != execution.Succeeded || refused.Status != execution.Failed || b.Completed != 9 || b.Failed != 1 {
		t.Errorf("joined %s, refused %s, %+v", joined.Status, refused.Status, b)
	}
	if r := w.resource(same.ResourceUID); r.ActionID != same.ID {
		t.Errorf("the claim of %s was taken by %q", same.ID, r.ActionID)
	}
	if r := w.resource(opposite.ResourceUID); r.ActionID != opposite.ID || w.state(r) != cloud.Running {
		t.Errorf("the resource of the opposite action: %+v", r)
	}
}

// TestEveryCallToTheStoreMayFail lets each store call of a bulk action fail in turn, once before and once after it
// took effect.
func TestEveryCallToTheStoreMayFail(t *testing.T) {
	race.SkipRepetition(t)
	for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
		for call := 1; ; call++ {
			if testing.Short() && call > 15 {
				break
			}
			if !endures(t, harm, call) {
				break
			}
		}
	}
}

// endures runs a bulk action and makes one store call fail. It reports whether the run made that call.
func endures(t *testing.T, harm table.Harm, call int) (reached bool) {
	t.Helper()
	w := newFixture(t,
		map[string]string{"size": "9", "stopped": "0", "kinds": "aws-ec2", "regions": "1", "transitionSeconds": "1"})
	g, places := w.newGroup(4, "continue")
	in := w.submitBulk(g, cloud.Stop)
	f := table.NewFaultyStore(w.Table, clock.System{}, table.Injection{Harm: harm, PK: "ORG#", Call: call})
	w.swapStore(f)
	b := w.driveBulk(in)
	f.RemoveFaults()
	if failed := w.auditBulk(b, places); failed != 0 || t.Failed() {
		t.Fatalf("harm %d at call %d: %d failed", harm, call, failed)
	}
	return f.CallCount() >= call
}

// swapStore has the executor, but not the cloud, work on another store.
func (w *fixture) swapStore(s table.Store) {
	p := w.e.p.Clone()
	p.Table = s
	w.e = New(p, w.e.providers)
}

func TestAStepOfManyChunksIsHandedOutInParts(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "0"})
	in := w.submitBulk(inventory.Group{}, cloud.Stop)
	const steps, each = 3, stepSize + 300
	var ws []table.Write
	for i := range steps * each {
		it := apitest.Value(table.NewItem(execution.ChunkKey(org, in.BulkID, i/each, i),
			execution.Chunk{Tier: 1, FirstStep: 0, LastStep: steps - 1}))(w)
		ws = append(ws, table.Put(it))
	}
	w.Must(w.Table.BatchWrite(w.ctx, ws...))
	seen := map[string]int{}
	for {
		s := apitest.Value(w.e.nextStep(w.ctx, in))(w)
		if b, err := json.Marshal(s); err != nil || len(b) > 200_000 {
			t.Fatalf("%d chunks take %d bytes of a state's 262,144: %v", len(s.Chunks), len(b), err)
		}
		for _, c := range s.Chunks {
			seen[c.Chunk+c.Until]++
		}
		if s.Last {
			break
		}
		in.Step, in.From = s.Next, s.From
	}
	// all but the last step are waited for twice: until accepted, then until settled
	if want := (2*steps - 1) * each; len(seen) != want {
		t.Errorf("%d parts were handed out, want %d", len(seen), want)
	}
	for part, n := range seen {
		if n != 1 {
			t.Fatalf("%s was handed out %d times", part, n)
		}
	}
}

func TestADynamicGroupStandsForWhatCanBeActedOn(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "120", "stopped": "0"})
	able := 0
	for _, r := range w.resources {
		if r.Type == "aws-ec2" && r.Unschedulable == "" {
			able++
		}
	}
	g, err := w.e.inventory.CreateGroup(w.ctx, org, inventory.Group{
		ID: id.New("grp", noon), Name: "instances", FailurePolicy: "abort",
		Selector: &inventory.Selector{Type: "aws-ec2"},
	}, nil)
	w.Must(err)
	b := w.driveBulk(w.submitBulk(g, cloud.Stop))
	if able == 0 || b.Total != able || b.Completed != able || b.Failed != 0 {
		t.Errorf("%d can be acted on: %+v", able, b)
	}
}

func TestTheTasksOfTheMachinesAreAnswered(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "30", "stopped": "0", "kinds": "aws-ec2", "regions": "1"})
	g, _ := w.newGroup(3, "continue")
	in := w.submitBulk(g, cloud.Stop)
	for _, c := range []struct{ call, want string }{
		{
			`{"task":"expand","input":{"org":"` + org + `","bulkID":"` + in.BulkID + `","step":0}}`,
			`{"last":false,"chunks":[{"org":"` + org + `","bulkID":"` + in.BulkID +
				`","chunk":"C#000000#000000","until":"settled"}],"delaySeconds":0,"next":1,"from":""}`,
		},
		{
			`{"task":"step","input":{"org":"` + org + `","bulkID":"` + in.BulkID + `","step":9}}`,
			`{"last":true,"chunks":[],"delaySeconds":0,"next":0,"from":""}`,
		},
	} {
		out := apitest.Value(w.e.HandleTask(t.Context(), json.RawMessage(c.call)))(w)
		if b, _ := json.Marshal(out); string(b) != c.want {
			t.Errorf("%s: %s", c.call, b)
		}
	}
	for _, call := range []string{
		`{}`, `{"task":"dance"}`, `{"task":"run","input":{}}`, `{"task":"run","input":[]}`,
		`nonsense`,
	} {
		if out, err := w.e.HandleTask(t.Context(), json.RawMessage(call)); err == nil {
			t.Errorf("%s was answered: %v", call, out)
		}
	}
}
