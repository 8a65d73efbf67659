package executor

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/table/tabletest"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/seal"
)

const org = "org_01k00000000000000000000000"

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// skipping is a clock on which waiting takes no time: it moves itself.
type skipping struct{ *clock.Manual }

// Sleep moves the clock by d.
func (s skipping) Sleep(ctx context.Context, d time.Duration) error {
	s.Advance(d)
	return ctx.Err()
}

// world is a simulated cloud account with its resources in the inventory, and an executor for it.
type world struct {
	t         testing.TB
	ctx       context.Context
	clock     skipping
	store     table.Store
	e         *Executor
	account   inventory.Account
	conn      cloud.Conn
	resources []inventory.Resource
}

// newWorld makes a world whose cloud is as credentials say.
func newWorld(t *testing.T, credentials map[string]string) *world {
	t.Helper()
	c := skipping{clock.NewManual(noon)}
	w := &world{t: t, clock: c}
	w.found(tabletest.NewAt(t, c), c, credentials)
	return w
}

// found founds the world on a store and a clock.
func (w *world) found(s table.Store, c clock.Clock, credentials map[string]string) {
	w.t.Helper()
	w.stand(s, c, filepath.Join(w.t.TempDir(), "kek"))
	w.connect(credentials)
	w.discover()
}

// stand puts the executor on its ground.
func (w *world) stand(s table.Store, c clock.Clock, keyFile string) {
	w.t.Helper()
	w.store, w.ctx = table.Fenced(s), table.WithTenant(w.t.Context(), org)
	kek, err := seal.OpenKeyFile(keyFile)
	w.must(err)
	p := &platform.Platform{Table: w.store, Clock: c, Sealer: seal.NewEnvelope(kek), Log: slog.New(slog.DiscardHandler)}
	w.e = New(p, cloud.Providers{"simulated": simulated.New(w.store, c)})
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put(k table.Key, v any) {
	w.t.Helper()
	it, err := table.Row(k, v)
	w.must(err)
	_, err = w.store.Write(w.ctx, table.Put(it))
	w.must(err)
}

// connect stores the account.
func (w *world) connect(credentials map[string]string) {
	w.account = inventory.Account{
		ID: id.New("ca", noon), Provider: "simulated", CloudAccountID: "100000000001", Name: "sim", AuthMethod: "simulated",
		PermissionLevel: "read_write", Status: "connected", CreatedAt: noon,
	}
	w.seal(credentials)
	var err error
	w.conn, err = w.e.clouds().Connect(w.ctx, org, w.account)
	w.must(err)
}

// seal stores the account with the credentials.
func (w *world) seal(credentials map[string]string) {
	w.t.Helper()
	sealed, err := inventory.SealCredentials(w.ctx, w.e.p.Sealer, inventory.SecretPlace(org, w.account.ID), credentials)
	w.must(err)
	w.account.Sealed = sealed
	w.put(inventory.AccountKey(org, w.account.ID), w.account)
}

// discover stores what the cloud has that can be acted on.
func (w *world) discover() {
	regions, err := w.conn.Regions(w.ctx)
	w.must(err)
	for _, k := range w.e.providers["simulated"].Kinds() {
		for _, region := range regions {
			w.list(k.Type, region)
		}
	}
}

func (w *world) list(kind, region string) {
	scan := inventory.Scan{
		Partition: inventory.Partition{AccountID: w.account.ID, Provider: "simulated", Region: region, Kind: kind}, ID: "first", Started: noon,
	}
	for page := ""; ; {
		got, err := w.conn.List(w.ctx, kind, region, page)
		w.must(err)
		_, err = w.e.inventory.Upsert(w.ctx, org, inventory.Batch{Scan: scan, At: noon.Add(-time.Minute), Resources: got.Resources})
		w.must(err)
		uids := make([]string, len(got.Resources))
		for i, r := range got.Resources {
			uids[i] = r.UID
		}
		listed, err := w.e.inventory.ByUIDs(w.ctx, org, uids, inventory.Everything())
		w.must(err)
		for _, l := range listed {
			w.resources = append(w.resources, l.Resource)
		}
		if page = got.Next; page == "" {
			return
		}
	}
}

// pick finds a resource of the kind in the status that can be acted on.
func (w *world) pick(kind string, status cloud.Status) inventory.Resource {
	w.t.Helper()
	for _, r := range w.resources {
		if r.Type == kind && r.Status == status && r.Unschedulable == "" {
			return r
		}
	}
	w.t.Fatalf("the cloud has no %s %s", status, kind)
	return inventory.Resource{}
}

// submit creates an action as POST /actions does, without its machine.
func (w *world) submit(r inventory.Resource, verb cloud.Verb) execution.Action {
	w.t.Helper()
	p := w.e.p.Clone()
	p.Workflow = unstarted{}
	a, err := execution.Submit(w.ctx, p, org, execution.Request{
		Verb: verb, ResourceUID: r.UID, Provider: r.Provider, ResourceType: r.Type, CloudAccountID: r.CloudAccountID,
		Region: r.Region, Reason: "manual", ChangedBy: "manual:ada@example.com",
	})
	w.must(err)
	return a
}

// drive runs an action as its machine does, on the manual clock, until it is done.
func (w *world) drive(in execution.RunInput) {
	w.t.Helper()
	for range 200 {
		got, err := w.e.Run(w.ctx, in)
		w.must(err)
		if got.Done {
			return
		}
		if got.WaitSeconds < 1 {
			w.t.Fatalf("run asks to wait %d seconds", got.WaitSeconds)
		}
		w.clock.Advance(time.Duration(got.WaitSeconds) * time.Second)
	}
	w.t.Fatal("not done after 200 runs")
}

// do submits and drives, and reads back the action.
func (w *world) do(r inventory.Resource, verb cloud.Verb) execution.Action {
	w.t.Helper()
	a := w.submit(r, verb)
	w.drive(execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled})
	return w.action(a.ID)
}

func (w *world) action(actionID string) execution.Action {
	w.t.Helper()
	a, err := table.Read[execution.Action](w.ctx, w.store, execution.ActionKey(org, actionID))
	w.must(err)
	return a
}

func (w *world) resource(uid string) inventory.Resource {
	w.t.Helper()
	r, err := table.Read[inventory.Resource](w.ctx, w.store, inventory.ResourceKey(org, uid))
	w.must(err)
	return r
}

// history are all state changes, oldest first.
func (w *world) history() []execution.StateChange {
	w.t.Helper()
	page, err := w.store.Query(w.ctx, table.Query{PK: execution.HistoryPK(org), Limit: 10_000})
	w.must(err)
	out, err := table.DecodeAll[execution.StateChange](page.Items)
	w.must(err)
	return out
}

func (w *world) state(r inventory.Resource) cloud.Status {
	w.t.Helper()
	got, err := w.conn.Read(w.ctx, r.Type, r.Region, []string{r.UID})
	w.must(err)
	if len(got) != 1 {
		w.t.Fatalf("%d states of %s", len(got), r.UID)
	}
	return got[0].Status
}
