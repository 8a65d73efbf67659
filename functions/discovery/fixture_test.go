package discovery

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clocktest"
)

const org = "org_1"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is an organization with a simulated account, and an engine that runs its discoveries.
type fixture struct {
	*apitest.Fixture
	ctx       context.Context
	clk       clocktest.Skipping
	leaping   *clocktest.Leaping // clk as the clock of the engine
	providers cloud.Providers
	account   inventory.Account
	engine    *workflow.Embedded
	states    *atomic.Int64 // transitions of machines so far
	usage     *usage        // of the store by the worker so far
}

// usage sums up the store usage of worker calls.
type usage struct {
	mu  sync.Mutex
	sum table.Usage
}

func (u *usage) add(used table.Usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sum.RoundTrips += used.RoundTrips
	u.sum.ReadUnits += used.ReadUnits
	u.sum.WriteUnits += used.WriteUnits
}

func newFixture(tb testing.TB, settings map[string]string) *fixture {
	tb.Helper()
	clk := clocktest.Skipping{Manual: clock.NewManual(noon)}
	s := &fixture{
		Fixture: apitest.On(tb, apitest.PlatformAt(tb, clk)), clk: clk, leaping: clocktest.NewLeaping(clk.Manual),
		ctx: table.WithOrg(context.Background(), org), states: &atomic.Int64{}, usage: &usage{},
	}
	s.providers = cloud.Providers{simulated.Name: simulated.New(s.Table, clk)}
	s.account = inventory.Account{
		ID: id.New("ca", noon), Provider: simulated.Name, CloudAccountID: "100000000001", Name: "sim",
		AuthMethod: simulated.AuthMethod, PermissionLevel: "read_write", Status: inventory.AccountConnecting,
		CreatedAt: noon,
	}
	s.setSettings(settings)
	s.openFixture()
	return s
}

// openFixture starts an engine, as a new process does.
func (s *fixture) openFixture() {
	s.Helper()
	definition := apitest.Value(os.ReadFile("../../statemachines/discovery.asl.json"))(s)
	machines, err := workflow.LoadMachines(fstest.MapFS{"discovery.asl.json": {Data: definition}},
		map[string]string{"DiscoveryFunctionArn": "discovery"})
	s.Must(err)
	worker := Handler(s.Clone(), s.providers) // it keeps the store that it was opened with
	handlers := map[string]workflow.Handler{"discovery": func(ctx context.Context, in json.RawMessage) (any, error) {
		ctx, m := table.WithMeter(ctx)
		defer func() { s.usage.add(m.Usage()) }()
		return worker(ctx, in)
	}}
	s.engine, err = workflow.NewEmbedded(workflow.Parts{
		Store: s.Table, Clock: s.leaping, Machines: machines, Log: s.Platform.Log,
		Transition: func(string) { s.states.Add(1) }, Handlers: clocktest.Watch(s.leaping, handlers),
	})
	s.Must(err)
	s.Workflow = s.engine
	e := s.engine
	s.Cleanup(func() { s.Must(e.Close()) })
}

// setSettings stores the account with these credentials.
func (s *fixture) setSettings(settings map[string]string) {
	s.Helper()
	s.account.Sealed = apitest.Value(inventory.SealCredentials(s.ctx, s.Sealer,
		inventory.SecretPlace(org, s.account.ID), settings))(s)
	s.Put(inventory.AccountKey(org, s.account.ID), s.account)
}

// noteCollection notes that the metrics were collected up to two days ago: the next pass collects one day, and not the
// fourteen of a new account, for which the hurried engine has too little time.
func (s *fixture) noteCollection() {
	s.Helper()
	s.Must(measurement.New(s.Platform).NoteCollection(s.ctx, org, s.account.ID, measurement.Collection{
		Day: measurement.DayOf(s.clk.Now().AddDate(0, 0, -2)),
	}))
}

// startPass begins a pass, and end waits for its outcome.
func (s *fixture) startPass() discovery.Job {
	s.Helper()
	j := apitest.Value(discovery.StartDiscovery(s.ctx, s.Platform, org, s.account.ID))(s)
	return j
}

func (s *fixture) endPass(j discovery.Job) (discovery.Job, []discovery.Part) {
	s.Helper()
	s.Must(s.engine.Idle(s.ctx))
	got, parts, err := discovery.ReadJob(s.ctx, s.Table, org, j.ID)
	s.Must(err)
	if got.Status == discovery.Running {
		s.Fatalf("discovery %s does not end", j.ID)
	}
	return got, parts
}

// runPass runs a pass that must have the given status, and sums up the changes of its partitions.
func (s *fixture) runPass(want discovery.Status) (discovery.Job, inventory.Changes) {
	s.Helper()
	j, parts := s.endPass(s.startPass())
	if j.Status != want {
		s.Fatalf("the discovery ended as %+v; want %s", j, want)
	}
	var sum inventory.Changes
	for _, part := range parts {
		sum = sum.Add(part.Changes)
	}
	return j, sum
}

func (s *fixture) storedAccount() inventory.Account {
	s.Helper()
	return apitest.Read[inventory.Account](s.Fixture, inventory.AccountKey(org, s.account.ID))
}

// readRecords returns the stored resources by uid.
func (s *fixture) readRecords() map[string]inventory.Resource {
	s.Helper()
	out := map[string]inventory.Resource{}
	for _, r := range apitest.Rows[inventory.Resource](s.Fixture, inventory.ResourcePKs(org)...) {
		out[r.UID] = r
	}
	return out
}

// countLive counts the records that are not terminated.
func (s *fixture) countLive() int {
	n := 0
	for _, r := range s.readRecords() {
		if r.Status != cloud.Terminated {
			n++
		}
	}
	return n
}

func (s *fixture) countCalls(method string) int {
	return simulated.CallsByMethod(s.providers[simulated.Name], s.account.ID)[method]
}

// newShare returns a share of the pass job_x that nothing was read of: some kinds in a region.
func (s *fixture) newShare(region string, kinds ...string) Share {
	sh := Share{Input: discovery.Input{Org: org, AccountID: s.account.ID, JobID: "job_x"}, Started: s.clk.Now()}
	for _, k := range kinds {
		sh.Parts = append(sh.Parts,
			Progress{Part: discovery.Part{Region: region, Kind: k, Status: discovery.PartRunning}})
	}
	return sh
}
