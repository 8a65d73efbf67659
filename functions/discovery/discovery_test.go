package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/testkit/apitest"
)

type settings = map[string]string

func TestADiscoveryFindsEverythingWithOneCallForEachPage(t *testing.T) {
	s := newFixture(t, settings{"size": "500", "regions": "3", "pageSize": "20", "stopped": "0"})
	j, sum := s.runPass(discovery.Succeeded)
	records := s.readRecords()
	if len(records) != 500 || sum.Created != 500 {
		t.Errorf("%d records, %d created; want 500", len(records), sum.Created)
	}
	_, parts, err := discovery.ReadJob(s.ctx, s.Table, org, j.ID)
	s.Must(err)
	pages := s.countPages(j)
	if j.Partitions != 21 || len(parts) != 21 || s.countCalls("List") != pages || s.countCalls("Regions") != 1 {
		t.Errorf("%d partitions, %d parts, %d calls for %d pages; want 21, 21 and no more calls than pages",
			j.Partitions, len(parts), s.countCalls("List"), pages)
	}
	for _, r := range records {
		if r.Status != cloud.Running || r.CloudAccountID != s.account.ID || r.Region == "" || r.Name == "" {
			t.Fatalf("%+v", r)
		}
	}
	a := s.storedAccount()
	if a.Status != inventory.AccountConnected || a.ResourceCount != 500 || a.JobID != "" ||
		a.LastDiscoveredAt.IsZero() {
		t.Errorf("%+v", a)
	}
}

func TestASecondDiscoveryChangesNothing(t *testing.T) {
	s := newFixture(t, settings{"size": "300"})
	s.runPass(discovery.Succeeded)
	before := s.readRecords()
	s.clk.Advance(time.Hour)
	_, sum := s.runPass(discovery.Succeeded)
	if sum.Created != 0 || sum.Updated != 0 || sum.Vanished != 0 || sum.Unchanged != len(before) {
		t.Errorf("%+v; want %d unchanged", sum, len(before))
	}
	after := s.readRecords()
	if !slices.Equal(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after))) {
		t.Error("the resources are other ones")
	}
	for uid, r := range after {
		if r.ID != before[uid].ID {
			t.Errorf("%s has got another id", uid)
		}
	}
}

func TestWhatVanishedIsTerminatedAndComesBack(t *testing.T) {
	s := newFixture(t, settings{"size": "400"})
	s.runPass(discovery.Succeeded)
	before := s.countLive()
	s.clk.Advance(time.Hour)
	s.account = s.storedAccount()
	s.setSettings(settings{"size": "400", "vanish": "0.25"})
	_, sum := s.runPass(discovery.Succeeded)
	if sum.Vanished < 60 || sum.Vanished > 140 || s.countLive() != before-sum.Vanished ||
		s.storedAccount().ResourceCount != s.countLive() {
		t.Errorf("%d vanished, %d of %d live, account counts %d", sum.Vanished, s.countLive(), before,
			s.storedAccount().ResourceCount)
	}
	s.clk.Advance(time.Hour)
	s.account = s.storedAccount()
	s.setSettings(settings{"size": "400"})
	if s.runPass(discovery.Succeeded); s.countLive() != before {
		t.Errorf("%d live after all came back; want %d", s.countLive(), before)
	}
}

// TestAFailedPartitionDeletesNothing removes all resources except those that cannot be read.
func TestAFailedPartitionDeletesNothing(t *testing.T) {
	faults := map[string]struct {
		fault, value string
		status       discovery.PartStatus
	}{
		"denied":    {"denied", "aws-rds", discovery.PartDenied},
		"throttled": {"throttle", "1", discovery.PartThrottled},
		"hanging":   {"slow", "1", discovery.PartFailed},
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, settings{"size": "200", "regions": "2"})
			s.runPass(discovery.Succeeded)
			before := s.countLive()
			s.clk.Advance(time.Hour)
			share := s.newShare("us-east-1", "aws-rds")
			s.setSettings(settings{
				"size": "200", "regions": "2", "vanish": "1", f.fault: f.value,
				"slowMillis": "60000",
			})
			w := s.newWorker()
			for range 50 {
				var err error
				if share, err = w.scanShare(s.ctx, share); share.Done || err != nil {
					s.Must(err)
					break
				}
				s.clk.Advance(time.Duration(share.WaitSeconds) * time.Second)
			}
			parts := apitest.Value(discovery.ListParts(s.ctx, s.Table, org, "job_x"))(s)
			if len(parts) != 1 || parts[0].Status != f.status || parts[0].Error == "" {
				t.Errorf("%+v; want it %s", parts, f.status)
			}
			if s.countLive() != before {
				t.Errorf("%d live; want all %d", s.countLive(), before)
			}
		})
	}
}

func TestThrottlingThatPassesIsWaitedOut(t *testing.T) {
	s := newFixture(t, settings{"size": "400", "throttle": "0.6", "pageSize": "10"})
	if _, sum := s.runPass(discovery.Succeeded); sum.Created < 350 {
		t.Errorf("%+v; want everything", sum)
	}
}

func TestRefusedCredentialsDisconnectTheAccount(t *testing.T) {
	s := newFixture(t, settings{"refuse": "true"})
	j, _ := s.runPass(discovery.Failed)
	if a := s.storedAccount(); a.Status != inventory.AccountDisconnected ||
		!strings.Contains(a.Error, "security token") ||
		a.JobID != "" {
		t.Errorf("account %+v", a)
	}
	page, err := s.Table.Query(table.Within(s.ctx, workqueue.Prefix),
		table.Query{PK: workqueue.WorkKey(j.ID).PK, Limit: 10})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("the pass is still pending: %v, %v", page.Items, err)
	}
	s.account = s.storedAccount()
	s.setSettings(settings{"size": "20"})
	if s.runPass(discovery.Succeeded); s.storedAccount().Status != inventory.AccountConnected ||
		s.storedAccount().Error != "" {
		t.Errorf("after new credentials: %+v", s.storedAccount())
	}
}

func TestOnlyTheNamedRegionsAreRead(t *testing.T) {
	s := newFixture(t, settings{"size": "200"})
	s.account.Regions = []string{"us-east-2"}
	s.setSettings(settings{"size": "200"})
	s.runPass(discovery.Succeeded)
	for _, r := range s.readRecords() {
		if r.Region != "us-east-2" {
			t.Fatalf("%s is in %s", r.UID, r.Region)
		}
	}
}

// TestAnActionsStatusIsNewerThanAListingThatLags stops a resource while a pass is under way.
func TestAnActionsStatusIsNewerThanAListingThatLags(t *testing.T) {
	s := newFixture(t, settings{"size": "100", "kinds": "aws-ec2", "regions": "1", "stopped": "0"})
	s.runPass(discovery.Succeeded)
	s.clk.Advance(time.Hour)
	uid := slices.Sorted(maps.Keys(s.readRecords()))[0]
	at := s.clk.Now()
	seen := apitest.Value(inventory.NoteStatuses(org, at,
		[]inventory.Seen{{UID: uid, Status: cloud.Stopped, At: at}}))(s)
	s.Must(s.Table.Transact(s.ctx, inventory.ClaimResource(org, uid, "act_1", cloud.Stop)))
	s.Must(s.Table.Transact(s.ctx,
		inventory.SettleResource(org, "act_1", inventory.Seen{UID: uid, Status: cloud.Stopped, At: at}), seen))
	s.clk.Advance(10 * time.Second)
	s.runPass(discovery.Succeeded) // the cloud was never told: its listing is that of before
	if got := s.readRecords()[uid].Status; got != cloud.Stopped {
		t.Errorf("ten seconds later: %s; want stopped", got)
	}
	s.clk.Advance(time.Minute)
	s.runPass(discovery.Succeeded)
	if got := s.readRecords()[uid].Status; got != cloud.Running {
		t.Errorf("a minute later: %s; want what the cloud says", got)
	}
}

func TestAnAccountThatIsDeletedMeanwhileLeavesNothing(t *testing.T) {
	s := newFixture(t, settings{"size": "300"})
	s.runPass(discovery.Succeeded)
	s.Workflow = beforeStart{s.Workflow, func() { s.Write(table.Delete(inventory.AccountKey(org, s.account.ID))) }}
	s.endPass(s.startPass())
	if s.countLive() != 0 {
		t.Errorf("%d resources are left", s.countLive())
	}
}

// beforeStart is an engine on which something happens just before a machine is started.
type beforeStart struct {
	workflow.Engine
	happen func()
}

func (b beforeStart) Start(ctx context.Context, machine, name string, input any) error {
	b.happen()
	return b.Engine.Start(ctx, machine, name, input)
}

// noted is a store that tells of each write.
type noted struct {
	table.Store
	written chan struct{}
}

func (n noted) Write(ctx context.Context, w table.Write) (table.Item, error) {
	n.tell()
	return n.Store.Write(ctx, w)
}

func (n noted) BatchWrite(ctx context.Context, ws ...table.Write) error {
	n.tell()
	return n.Store.BatchWrite(ctx, ws...)
}

func (n noted) Transact(ctx context.Context, ws ...table.Write) error {
	n.tell()
	return n.Store.Transact(ctx, ws...)
}

func (n noted) tell() {
	select {
	case n.written <- struct{}{}:
	default: // the counter is full
	}
}

// TestARestartCarriesOn ends the process in the middle of a pass, again and again.
func TestARestartCarriesOn(t *testing.T) {
	s := newFixture(t, settings{"size": "2000", "pageSize": "20"})
	s.Must(s.engine.Close())
	store := noted{s.Table, make(chan struct{}, 1000)}
	s.Table = store
	s.openFixture()
	j := s.startPass()
	for range 5 {
		for range 10 {
			<-store.written
		}
		s.Must(s.engine.Close())
		s.openFixture()
		s.Must(s.engine.Resume(s.ctx))
	}
	if got, _ := s.endPass(j); got.Status != discovery.Succeeded || len(s.readRecords()) < 1900 {
		t.Errorf("%+v with %d resources", got, len(s.readRecords()))
	}
}

func TestManyStartsAtOnceBeginOnePass(t *testing.T) {
	s := newFixture(t, settings{"size": "50"})
	s.Must(s.engine.Close()) // so that the pass does not end meanwhile
	ids := make(chan string, 8)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			j, err := discovery.StartDiscovery(s.ctx, s.Platform, org, s.account.ID)
			if err != nil {
				t.Error(err)
			}
			ids <- j.ID
		})
	}
	wg.Wait()
	close(ids)
	first := <-ids
	for id := range ids {
		if id != first {
			t.Errorf("passes %s and %s", first, id)
		}
	}
}

func TestALostPassIsTakenOverAfterItsDeadline(t *testing.T) {
	s := newFixture(t, settings{"size": "20"})
	lost := discovery.Input{Org: org, AccountID: s.account.ID, JobID: "job_lost"}
	s.Put(discovery.JobKey(org, lost.JobID),
		discovery.Job{ID: lost.JobID, AccountID: s.account.ID, Status: discovery.Running, StartedAt: s.clk.Now()})
	s.account.JobID = lost.JobID
	s.setSettings(settings{"size": "20"})
	if j := s.startPass(); j.ID != lost.JobID {
		t.Errorf("pass %s began beside %s", j.ID, lost.JobID)
	}
	s.clk.Advance(discovery.Deadline)
	s.runPass(discovery.Succeeded)
}

// TestAStoreThatFailsIsTriedAgain loses one call in nine of the worker, before or after it took effect.
// A task gives up at its fifth failure, and four faults never give it as many, in whatever order the tasks run.
func TestAStoreThatFailsIsTriedAgain(t *testing.T) {
	for first := 5; first < 300; first += 36 {
		t.Run(fmt.Sprintf("from call %d", first), func(t *testing.T) {
			s := newFixture(t, settings{"size": "300"})
			j := s.startPass()
			s.Must(s.engine.Close())
			sound := s.Table
			s.Table = table.NewFaultyStore(sound, s.clk, everyNinth(first, 4)...)
			s.openFixture()
			s.Must(s.engine.Resume(s.ctx))
			s.Table = sound // the handler keeps the faulty one
			if got, _ := s.endPass(j); got.Status != discovery.Succeeded || s.countLive() < 280 {
				t.Errorf("%+v with %d live resources; want everything", got, s.countLive())
			}
		})
	}
}

// everyNinth returns n faults for every ninth call: a call without effect and one whose reply is lost, in turns.
func everyNinth(first, n int) (faults []table.Injection) {
	for i := range n {
		harm := table.FailBefore
		if i%2 == 0 {
			harm = table.FailAfter
		}
		faults = append(faults, table.Injection{Harm: harm, PK: table.OrgPK(org), Call: first + 9*i})
	}
	return faults
}

func TestACallThatMakesNoSenseIsRefused(t *testing.T) {
	s := newFixture(t, settings{})
	h := Handler(s.Platform, s.providers)
	for name, call := range map[string]string{
		"no JSON": "{", "no task": "{}", "an unknown task": `{"task":"dance","input":{"org":"org_1"}}`,
		"no organization": `{"task":"plan","input":{}}`, "an input of another kind": `{"task":"scan","input":[]}`,
	} {
		if out, err := h(s.ctx, json.RawMessage(call)); err == nil {
			t.Errorf("%s: %v", name, out)
		}
	}
}
