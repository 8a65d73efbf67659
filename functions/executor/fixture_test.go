package executor

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/seal"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clocktest"
)

const org = "org_01k00000000000000000000000"

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// fixture is a simulated cloud account with its resources in the inventory, and an executor for it.
type fixture struct {
	*apitest.Fixture
	ctx       context.Context
	e         *Executor
	account   inventory.Account
	conn      cloud.Conn
	resources []inventory.Resource
	states    *atomic.Int64 // that its engine has begun
	written   *atomic.Int64 // units
}

// shareOutsideBubbles creates the compressors of the index and of events, and the decompressor of events. All bubbles
// of testing/synctest share them, and no bubble may create them.
func shareOutsideBubbles(t *testing.T) {
	t.Helper()
	newFixture(t, map[string]string{"size": "40"})
	told, err := event.PutAll(org, []event.Event{{ID: "evt_1"}})
	if err == nil {
		_, err = event.Decode(told.Item)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// newFixture makes one whose cloud is as credentials say.
func newFixture(t *testing.T, credentials map[string]string) *fixture {
	t.Helper()
	c := clocktest.Skipping{Manual: clock.NewManual(noon)}
	w := newFixtureOn(t, apitest.PlatformAt(t, c), credentials)
	w.Clock = c.Manual
	return w
}

func newFixtureOn(t testing.TB, p *platform.Platform, credentials map[string]string) *fixture {
	t.Helper()
	w := openFixture(t, p)
	w.connectAccount(credentials)
	w.discoverAll()
	return w
}

// openFixture returns a fixture on existing data.
func openFixture(t testing.TB, p *platform.Platform) *fixture {
	t.Helper()
	e := New(p, cloud.Providers{"simulated": simulated.New(p.Table, p.Clock)})
	return &fixture{
		Fixture: apitest.On(t, p), ctx: table.WithOrg(t.Context(), org), e: e, states: new(atomic.Int64),
		written: new(atomic.Int64),
	}
}

// onDisk returns a platform on the machine's clock, a store and a key of a folder.
func onDisk(t testing.TB, s table.Store, dir string) *platform.Platform {
	t.Helper()
	p := apitest.PlatformAt(t, clock.System{})
	kek := apitest.Value(seal.OpenKeyFile(filepath.Join(dir, "kek")))(t)
	p.Table, p.Sealer = table.Fenced(s), seal.NewEnvelope(kek)
	return p
}

// connectAccount stores the account.
func (w *fixture) connectAccount(credentials map[string]string) {
	w.account = inventory.Account{
		ID: id.New("ca", noon), Provider: "simulated", CloudAccountID: "100000000001", Name: "sim",
		AuthMethod:      "simulated",
		PermissionLevel: "read_write", Status: "connected", CreatedAt: noon,
	}
	w.sealCredentials(credentials)
	w.conn = apitest.Value(w.e.newClouds().Connect(w.ctx, org, w.account))(w)
}

// sealCredentials stores the account with the credentials.
func (w *fixture) sealCredentials(credentials map[string]string) {
	w.Helper()
	sealed := apitest.Value(inventory.SealCredentials(w.ctx, w.e.p.Sealer, inventory.SecretPlace(org, w.account.ID),
		credentials))(w)
	w.account.Sealed = sealed
	w.Put(inventory.AccountKey(org, w.account.ID), w.account)
}

// discoverAll stores the cloud's resources that can be started or stopped.
func (w *fixture) discoverAll() {
	regions := apitest.Value(w.conn.Regions(w.ctx))(w)
	for _, k := range w.e.providers["simulated"].Kinds() {
		for _, region := range regions {
			w.listResources(k.Type, region)
		}
	}
}

func (w *fixture) listResources(kind, region string) { w.listAs(w.account.Provider, kind, region) }

func (w *fixture) listAs(provider, kind, region string) {
	scan := inventory.Scan{
		Partition: inventory.Partition{AccountID: w.account.ID, Provider: provider, Region: region, Kind: kind},
		ID:        "first", Started: noon,
	}
	for page := ""; ; {
		got, err := w.conn.List(w.ctx, kind, region, page)
		w.Must(err)
		apitest.Value(w.e.inventory.UpsertScanned(w.ctx, org,
			inventory.Batch{Scan: scan, At: noon.Add(-time.Minute), Resources: got.Resources}))(w)
		uids := make([]string, len(got.Resources))
		for i, r := range got.Resources {
			uids[i] = r.UID
		}
		listed := apitest.Value(w.e.inventory.ByUIDs(w.ctx, org, uids, inventory.SeeEverything()))(w)
		for _, l := range listed {
			w.resources = append(w.resources, l.Resource)
		}
		if page = got.Next; page == "" {
			return
		}
	}
}

// pick finds a resource of the kind in the status that can be acted on.
func (w *fixture) pick(kind string, status cloud.Status) inventory.Resource {
	w.Helper()
	for _, r := range w.resources {
		if r.Type == kind && r.Status == status && r.Unschedulable == "" {
			return r
		}
	}
	w.Fatalf("the cloud has no %s %s", status, kind)
	return inventory.Resource{}
}

// submit creates an action as POST /actions does, without its machine.
func (w *fixture) submit(r inventory.Resource, verb cloud.Verb) execution.Action {
	w.Helper()
	p := w.e.p.Clone()
	p.Workflow = apitest.Idle{}
	a, err := execution.SubmitAction(w.ctx, p, org, execution.Request{
		Verb: verb, ResourceUID: r.UID, Provider: r.Provider, ResourceType: r.Type, CloudAccountID: r.CloudAccountID,
		Region: r.Region, Reason: "manual", ChangedBy: "manual:ada@example.com",
	})
	w.Must(err)
	return a
}

// driveRun runs an action as its machine does, on the manual clock, until it is done.
func (w *fixture) driveRun(in execution.RunInput) {
	w.Helper()
	for range 200 {
		got := apitest.Value(w.e.RunActions(w.ctx, in))(w)
		if got.Done {
			return
		}
		if got.WaitSeconds < 1 {
			w.Fatalf("run asks to wait %d seconds", got.WaitSeconds)
		}
		w.Clock.Advance(time.Duration(got.WaitSeconds) * time.Second)
	}
	w.Fatal("not done after 200 runs")
}

// do submits and drives, and reads back the action.
func (w *fixture) do(r inventory.Resource, verb cloud.Verb) execution.Action {
	w.Helper()
	a := w.submit(r, verb)
	w.driveRun(execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled})
	return w.action(a.ID)
}

func (w *fixture) action(actionID string) execution.Action {
	w.Helper()
	return apitest.Read[execution.Action](w.Fixture, execution.ActionKey(org, actionID))
}

func (w *fixture) resource(uid string) inventory.Resource {
	w.Helper()
	return apitest.Read[inventory.Resource](w.Fixture, inventory.ResourceKey(org, uid))
}

// readHistory returns all state changes, oldest first.
func (w *fixture) readHistory() []execution.StateChange {
	w.Helper()
	return apitest.Rows[execution.StateChange](w.Fixture, execution.HistoryPKs(org)...)
}

func (w *fixture) state(r inventory.Resource) cloud.Status {
	w.Helper()
	got := apitest.Value(w.conn.Read(w.ctx, r.Type, r.Region, []string{r.UID}))(w)
	if len(got) != 1 {
		w.Fatalf("%d states of %s", len(got), r.UID)
	}
	return got[0].Status
}
