package billingsync_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/functions/billing"
	"lamplighter.dev/functions/billingsync"
	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/functions/connector"
	"lamplighter.dev/functions/discovery"
	"lamplighter.dev/functions/links"
	"lamplighter.dev/functions/resources"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	domain "lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clocktest"
)

type fields = map[string]any

type settings = map[string]string

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

var (
	alice  = apitest.Caller("org_a", "alice", "*:*")
	bob    = apitest.Caller("org_b", "bob", "*:*")
	native = "100000000002"
)

// fixture is the operations in front of a simulated cloud that bills, with the machines of discovery and of bills
// behind them.
type fixture struct {
	*apitest.Fixture
	clk     *clock.Manual
	leaping *clocktest.Leaping // clk as the clock of the engine
	racer   *costRacer
	store   *table.FaultyStore
	worker  workflow.Handler
	engine  *workflow.Embedded
	inbox   *archive.FolderInbox
	gate    sync.RWMutex // held by a test to hold up the tasks of the machine
}

// gated is the worker behind the gate.
func (s *fixture) gated(ctx context.Context, input json.RawMessage) (any, error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	return s.worker(ctx, input)
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureWith(t, nil)
}

// newFixtureWith is newFixture with additional providers.
func newFixtureWith(t *testing.T, more cloud.Providers) *fixture {
	t.Helper()
	clk := clock.NewManual(noon)
	s := &fixture{Fixture: apitest.On(t, apitest.PlatformAt(t, clk)), clk: clk, leaping: clocktest.NewLeaping(clk)}
	s.Clock = clk
	s.racer = &costRacer{Store: s.Table}
	s.store = table.NewFaultyStore(s.racer, clock.System{})
	s.Table = s.store
	s.Settings = platform.Settings{Simulated: true, CustomEndpoints: true, Pepper: s.Settings.Pepper}
	s.inbox = archive.NewFolderInbox(t.TempDir(), "http://upload.test", []byte("a key"), clk)
	s.Inbox = s.inbox
	s.Lines = archive.NewFolder(t.TempDir())
	providers := cloud.Providers{simulated.Name: simulated.New(s.Table, clk)}
	maps.Copy(providers, more)
	s.worker = billingsync.Handler(s.Platform, providers)
	s.Workers = lambdacall.Local{
		inventory.Connector: connector.Handler(s.Platform, providers),
		archive.LinkWorker:  lambdacall.Handler(links.Handler(s.Platform)),
	}
	s.run(map[string]workflow.Handler{"discovery": discovery.Handler(s.Platform, providers), "billingsync": s.gated})
	s.Mount(cloudaccounts.Operations, billing.Operations, resources.Operations)
	s.Put(identity.AccessKey("org_a"), identity.Access{})
	return s
}

func (s *fixture) run(handlers map[string]workflow.Handler) {
	s.Helper()
	names := map[string]string{"DiscoveryFunctionArn": "discovery", "BillingsyncFunctionArn": "billingsync"}
	machines, err := workflow.LoadMachines(
		apitest.Machines(s, "discovery", domain.Machine, domain.AccountMachine, domain.UploadMachine),
		names)
	s.Must(err)
	s.engine, err = workflow.NewEmbedded(workflow.Parts{
		Store: s.Table, Clock: s.leaping, Machines: machines, Log: s.Platform.Log,
		Handlers: clocktest.Watch(s.leaping, handlers),
	})
	s.Must(err)
	s.Workflow = s.engine
	s.Cleanup(func() { s.Must(s.engine.Close()) })
}

func (s *fixture) idle() {
	s.Helper()
	s.Must(s.engine.Idle(s.Context()))
}

// connect connects a small account with these additional settings, and waits until the work it starts has ended.
func (s *fixture) connect(more ...settings) connection.Account {
	s.Helper()
	a := apitest.Data[connection.Account](s.Call(alice, "POST /cloud-accounts", fields{
		"provider": "simulated", "cloudAccountID": native, "name": "Sim", "authMethod": "simulated",
		"permissionLevel": "read_only",
		"credentials":     small(more...),
	}))
	s.idle()
	return a
}

func small(more ...settings) settings {
	out := settings{"size": "20", "regions": "1"}
	for _, m := range more {
		maps.Copy(out, m)
	}
	return out
}

// change replaces the account's settings, as if the cloud had changed.
func (s *fixture) change(id string, more ...settings) {
	s.Helper()
	sealed, err := inventory.SealCredentials(s.Context(), s.Sealer, inventory.SecretPlace("org_a", id), small(more...))
	s.Must(err)
	s.Change(inventory.AccountKey("org_a", id), table.Set("sealed", sealed))
}

func (s *fixture) plan(more ...settings) simulated.Plan {
	s.Helper()
	return apitest.Value(simulated.Planted(cloud.Account{
		Provider: "simulated", NativeID: native,
		Credentials: small(more...),
	}, s.clk.Now()))(s)
}

func (s *fixture) verify() {
	s.Helper()
	apitest.Data[rest.Job](s.Call(alice, "POST /billing/verify", nil), 202)
	s.idle()
}

func (s *fixture) status() billing.SyncEntry {
	s.Helper()
	all := apitest.Data[[]billing.SyncEntry](s.Call(alice, "GET /billing/sync-status", nil))
	if len(all) != 1 {
		s.Fatalf("%d entries", len(all))
	}
	return all[0]
}

// periods returns the imported periods by month.
func (s *fixture) periods() map[string]billing.Period {
	s.Helper()
	out := map[string]billing.Period{}
	for _, p := range apitest.Data[rest.List[billing.Period]](s.Call(alice, "GET /billing/periods?limit=100",
		nil)).Items {
		out[p.Period] = p
	}
	return out
}

// wantPlanted compares the imported periods with the planted ones.
func (s *fixture) wantPlanted(plan simulated.Plan) {
	s.Helper()
	have := s.periods()
	if len(have) != len(plan.Months) {
		s.Errorf("%d periods are in; want %d", len(have), len(plan.Months))
	}
	for _, m := range plan.Months {
		p := have[m.Period.Format("2006-01")]
		if len(p.Totals) != 1 || p.Totals[0].Billed != m.Billed || p.Totals[0].Effective != m.Effective ||
			p.Final != m.Final {
			s.Errorf("%s: %+v; want %s, %s", m.Period.Format("2006-01"), p, m.Billed, m.Effective)
		}
	}
}

// hours runs the schedule n times, an hour apart.
func (s *fixture) hours(n int) (started int) {
	s.Helper()
	for range n {
		s.clk.Advance(time.Hour)
		out, err := s.worker(s.Context(), json.RawMessage(`{}`))
		s.Must(err)
		started += out.(billingsync.Started).Started //nolint:forcetypeassert // it answers that
		s.idle()
	}
	return started
}

// ask returns the costs of the organization over all time.
func (s *fixture) ask(dims ...string) cost.Answer {
	s.Helper()
	return apitest.Value(cost.New(s.Platform).Ask(s.In("org_a"), "org_a", cost.Question{
		From: noon.Truncate(24*time.Hour).AddDate(0, 0, -500), To: noon.Truncate(24*time.Hour).AddDate(0, 0, 60),
		Metric: cost.Billed, Dims: dims,
	}))(s)
}

// upload requests an upload address and puts the content there.
func (s *fixture) upload(body fields, content string) billing.ImportedFile {
	s.Helper()
	body["bytes"], body["fileName"] = len(content), "bill.csv"
	got := apitest.Data[billing.StartedImport](s.Call(alice, "POST /billing/imports", body), 202)
	w := httptest.NewRecorder()
	s.gate.Lock() // a task sees the file from its beginning, or not at all
	s.inbox.ServeHTTP(w,
		httptest.NewRequestWithContext(s.Context(), "PUT", strings.TrimPrefix(got.UploadURL, "http://upload.test"),
			strings.NewReader(content)))
	s.gate.Unlock()
	if w.Code != 200 {
		s.Fatalf("%d %s", w.Code, w.Body)
	}
	s.idle()
	return apitest.Data[billing.ImportedFile](s.Call(alice, "GET "+got.StatusURL, nil))
}
