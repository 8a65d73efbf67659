package executor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clocktest"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

var errDead = errors.New("the process is dead")

// mortal is the connection to Azure of a process that dies at its n-th change. That change takes effect (except for n
// = 0), and later requests do not leave the process.
type mortal struct {
	azure   http.RoundTripper
	changes int
	dead    *atomic.Bool
}

func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.dead.Load() {
		return nil, errDead
	}
	if r.Method != http.MethodPut && r.Method != http.MethodPatch {
		return m.azure.RoundTrip(r)
	}
	if m.changes == 0 {
		m.dead.Store(true)
		return nil, errDead
	}
	resp, err := m.azure.RoundTrip(r)
	if m.changes--; m.changes == 0 {
		m.dead.Store(true)
		return nil, errDead
	}
	return resp, err
}

// deadStore is the store as a dead process has it.
type deadStore struct {
	table.Store
	dead *atomic.Bool
}

func (s deadStore) Write(ctx context.Context, w table.Write) (table.Item, error) {
	if s.dead.Load() {
		return table.Item{}, errDead
	}
	return s.Store.Write(ctx, w)
}

func (s deadStore) Transact(ctx context.Context, ws ...table.Write) error {
	if s.dead.Load() {
		return errDead
	}
	return s.Store.Transact(ctx, ws...)
}

// onAzure is a fixture with a scale set of three at Azure, which an autoscaler keeps between two and nine.
func onAzure(t *testing.T, tw *azuretwin.Cloud) (w *fixture, set *azuretwin.Resource) {
	t.Helper()
	c := clocktest.Skipping{Manual: clock.NewManual(noon)}
	w = openFixture(t, apitest.PlatformAt(t, c))
	w.Clock = c.Manual
	set = tw.AddScaleSet("web", "westeurope", 3, nil)
	tw.AddSetting(set, "westeurope", 2, 9)
	w.account = inventory.Account{
		ID: id.New("ca", noon), Provider: "azure", CloudAccountID: azuretwin.Subscription, Name: "az",
		AuthMethod:      "service_principal",
		PermissionLevel: "read_write", Status: "connected", CreatedAt: noon,
	}
	w.sealCredentials(map[string]string{
		"tenantID": azuretwin.Tenant, "clientID": azuretwin.Client,
		"clientSecret": azuretwin.Secret,
	})
	w.e = processOn(w, tw)
	w.conn = apitest.Value(w.e.newClouds().Connect(w.ctx, org, w.account))(w)
	w.listResources("azure-vmss", "westeurope")
	return w, set
}

// processOn is another process on the same store.
func processOn(w *fixture, way http.RoundTripper) *Executor {
	return New(w.e.p, cloud.Providers{"azure": azure.New(azure.Options{
		Clock: w.e.p.Clock, Transport: way, Attempts: 1, Backoff: time.Microsecond,
		Limits: map[string]azure.Limit{"": {}},
	})})
}

// Azure's operations are not resumed by their handles: the resource itself shows their result. So a process may die
// at any point between storing the snapshot and verifying.
func TestExecutor_Azure_AProcessThatDiesOnTheWayLosesNothing(t *testing.T) {
	for changes := range 3 {
		t.Run(fmt.Sprintf("after %d changes", changes), func(t *testing.T) {
			tw := &azuretwin.Cloud{}
			w, set := onAzure(t, tw)
			a := w.submit(w.pick("azure-vmss", cloud.Running), cloud.Stop)
			in := execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled}
			dead := new(atomic.Bool)
			first := processOn(w, &mortal{tw, changes, dead})
			first.p = w.e.p.Clone()
			first.p.Table = deadStore{w.e.p.Table, dead}
			if _, err := first.RunActions(w.ctx, in); err == nil || !dead.Load() {
				t.Fatalf("the first process lived: %v", err)
			}
			w.driveSettling(tw, in)
			if got := w.action(a.ID); got.Status != execution.Succeeded {
				t.Fatalf("the action ended %s: %+v", got.Status, got.Logs)
			}
			start := w.submit(w.pick("azure-vmss", cloud.Running), cloud.Start)
			w.driveSettling(tw,
				execution.RunInput{Org: org, Actions: []string{start.ID}, Until: execution.UntilSettled})
			sku, _ := set.Body["sku"].(map[string]any)
			if sku["capacity"] != 3.0 || autoscaled(t, tw) != true {
				t.Errorf("it came back with capacity %v, autoscaled: %v; want 3, as it was", sku["capacity"],
					autoscaled(t, tw))
			}
		})
	}
}

// driveSettling drives actions while Azure moves on.
func (w *fixture) driveSettling(tw *azuretwin.Cloud, in execution.RunInput) {
	w.Helper()
	w.e = processOn(w, tw)
	for range 50 {
		got := apitest.Value(w.e.RunActions(w.ctx, in))(w)
		if got.Done {
			return
		}
		tw.SettleAll()
		w.Clock.Advance(time.Duration(got.WaitSeconds) * time.Second)
	}
	w.Fatal("not done after 50 runs")
}

func autoscaled(t *testing.T, tw *azuretwin.Cloud) any {
	t.Helper()
	last := tw.Calls("Microsoft.Insights/autoscaleSettings/write")
	if len(last) == 0 {
		t.Fatal("the autoscale setting was never written")
	}
	p, _ := last[len(last)-1].Body["properties"].(map[string]any)
	return p["enabled"]
}
