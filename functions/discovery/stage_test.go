package discovery

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/table/tabletest"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/seal"
)

const org = "org_1"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// skipping is a clock on which every wait is over at once, and has taken its time.
type skipping struct{ *clock.Manual }

func (s skipping) Sleep(ctx context.Context, d time.Duration) error {
	s.Advance(d)
	return ctx.Err()
}

// hurried is the engine's clock: a second of it is five milliseconds, so that a Wait is short and a time limit is not.
type hurried struct {
	clock.System
	began time.Time
}

const speed = 200

func (h hurried) Now() time.Time { return h.began.Add(speed * h.System.Now().Sub(h.began)) }

// Sleep is over a little sooner.
func (h hurried) Sleep(ctx context.Context, d time.Duration) error {
	return h.System.Sleep(ctx, d/speed)
}

// stage is an organization with a simulated account, and an engine that runs its discoveries.
type stage struct {
	tb        testing.TB
	ctx       context.Context
	clk       skipping
	p         *platform.Platform
	providers cloud.Providers
	account   inventory.Account
	engine    *workflow.Embedded
}

func newStage(tb testing.TB, settings map[string]string) *stage {
	tb.Helper()
	clk := skipping{clock.NewManual(noon)}
	s := &stage{tb: tb, clk: clk, ctx: table.WithTenant(context.Background(), org)}
	kek, err := seal.OpenKeyFile(filepath.Join(tb.TempDir(), "kek"))
	s.must(err)
	s.p = &platform.Platform{
		Table: table.Fenced(tabletest.NewAt(tb, clk)), Clock: clk, Sealer: seal.NewEnvelope(kek), Log: slog.New(slog.DiscardHandler),
	}
	s.providers = cloud.Providers{simulated.Name: simulated.New(s.p.Table, clk)}
	s.account = inventory.Account{
		ID: id.New("ca", noon), Provider: simulated.Name, CloudAccountID: "100000000001", Name: "sim",
		AuthMethod: simulated.AuthMethod, PermissionLevel: "read_write", Status: inventory.AccountConnecting, CreatedAt: noon,
	}
	s.settings(settings)
	s.open()
	return s
}

func (s *stage) must(err error) {
	s.tb.Helper()
	if err != nil {
		s.tb.Fatal(err)
	}
}

// open starts an engine, as a new process does.
func (s *stage) open() {
	s.tb.Helper()
	definition, err := os.ReadFile("../../statemachines/discovery.asl.json")
	s.must(err)
	machines, err := workflow.Machines(fstest.MapFS{"discovery.asl.json": {Data: definition}}, map[string]string{"DiscoveryFunctionArn": "discovery"})
	s.must(err)
	p := s.p.Clone() // the worker keeps the store that it was opened with
	s.engine, err = workflow.NewEmbedded(workflow.Parts{
		Store: s.p.Table, Clock: hurried{began: clock.System{}.Now()}, Machines: machines, Log: s.p.Log,
		Handlers: map[string]workflow.Handler{"discovery": Handler(p, s.providers)},
	})
	s.must(err)
	s.p.Workflow = s.engine
	e := s.engine
	s.tb.Cleanup(func() { s.must(e.Close()) })
}

// settings stores the account with these credentials.
func (s *stage) settings(settings map[string]string) {
	s.tb.Helper()
	var err error
	s.account.Sealed, err = inventory.SealCredentials(s.ctx, s.p.Sealer, inventory.SecretPlace(org, s.account.ID), settings)
	s.must(err)
	it, err := table.Row(inventory.AccountKey(org, s.account.ID), s.account)
	s.must(err)
	_, err = s.p.Table.Write(s.ctx, table.Put(it))
	s.must(err)
}

// start begins a pass, and end waits for its outcome.
func (s *stage) start() discovery.Job {
	s.tb.Helper()
	j, err := discovery.Start(s.ctx, s.p, org, s.account.ID)
	s.must(err)
	return j
}

func (s *stage) end(j discovery.Job) (discovery.Job, []discovery.Part) {
	s.tb.Helper()
	s.must(s.engine.Idle(s.ctx))
	got, parts, err := discovery.Read(s.ctx, s.p.Table, org, j.ID)
	s.must(err)
	if got.Status == discovery.Running {
		s.tb.Fatalf("discovery %s does not end", j.ID)
	}
	return got, parts
}

// pass runs a pass that must have this outcome, and sums up what its partitions changed.
func (s *stage) pass(want discovery.Status) (discovery.Job, inventory.Changes) {
	s.tb.Helper()
	j, parts := s.end(s.start())
	if j.Status != want {
		s.tb.Fatalf("the discovery ended as %+v; want %s", j, want)
	}
	var sum inventory.Changes
	for _, part := range parts {
		sum = sum.Add(part.Changes)
	}
	return j, sum
}

func (s *stage) stored() inventory.Account {
	s.tb.Helper()
	a, err := table.Read[inventory.Account](s.ctx, s.p.Table, inventory.AccountKey(org, s.account.ID))
	s.must(err)
	return a
}

// records are the stored resources by uid.
func (s *stage) records() map[string]inventory.Resource {
	s.tb.Helper()
	out := map[string]inventory.Resource{}
	q := table.Query{PK: inventory.ResourceKey(org, "").PK, Limit: 1000}
	for {
		page, err := s.p.Table.Query(s.ctx, q)
		s.must(err)
		rs, err := table.DecodeAll[inventory.Resource](page.Items)
		s.must(err)
		for _, r := range rs {
			out[r.UID] = r
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out
		}
	}
}

// live counts the records that are not terminated.
func (s *stage) live() int {
	n := 0
	for _, r := range s.records() {
		if r.Status != cloud.Terminated {
			n++
		}
	}
	return n
}

func (s *stage) calls(method string) int {
	return simulated.Calls(s.providers[simulated.Name], s.account.ID)[method]
}
