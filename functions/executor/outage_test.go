package executor

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
	"lamplighter.dev/shared/testkit/tabletest"
)

// hanging is a connection to a cloud. One of the cloud's APIs never answers once it is down.
type hanging struct {
	cloud http.RoundTripper
	api   string // a part of its addresses
	down  bool
}

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.down && strings.Contains(strings.ToLower(r.URL.String()), h.api) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return h.cloud.RoundTrip(r)
}

// TestAction_OfAnotherAPIGoesOnWhereOneOfAzureOrGoogleHangs stops a machine while the database API hangs and the stop
// of a database is under way.
func TestAction_OfAnotherAPIGoesOnWhereOneOfAzureOrGoogleHangs(t *testing.T) {
	if tabletest.Limits() != nil {
		t.Skip("limits its store itself")
	}
	// outside: all bubbles share the index's compressor
	newFixture(t, map[string]string{"size": "1"})
	for name, at := range map[string]struct{ api, database string }{
		"azure": {"microsoft.dbforpostgresql", cloud.AzurePostgreSQL}, "gcp": {"sqladmin.", cloud.GCPCloudSQL},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { fleets[name].goesOn(t, at.api, at.database) })
		})
	}
}

// withDatabase returns a cloud with a machine and a database in the fleet's region, and the function that completes
// their transitions.
func (f fleet) withDatabase() (http.RoundTripper, func()) {
	if f.kind == cloud.AzureVM {
		tw := &azuretwin.Cloud{}
		tw.AddVM("web", f.region, nil)
		tw.AddServer("PostgreSQL", "orders", f.region)
		return tw, tw.SettleAll
	}
	tw := &gcptwin.Cloud{}
	tw.AddInstance(gcptwin.Instance{Name: "web", Zone: f.region + "-b"})
	tw.AddDatabase(gcptwin.Database{Name: "orders", Region: f.region})
	return tw, tw.SettleAll
}

func (f fleet) goesOn(t *testing.T, api, database string) {
	t.Helper()
	time.Sleep(time.Until(noon))
	w := openFixture(t, apitest.PlatformAt(t, clock.System{}))
	tw, settle := f.withDatabase()
	h := &hanging{cloud: tw, api: api}
	unlimited := &enforcing{twin: h, groups: func(*http.Request) []string { return nil }}
	w.e = New(w.e.p, cloud.Providers{f.account.Provider: f.provider(unlimited, w)})
	w.account = f.newAccount()
	w.sealCredentials(f.credentials)
	w.conn = apitest.Value(w.e.newClouds().Connect(w.ctx, org, w.account))(w)
	w.listResources(f.kind, f.region)
	w.listResources(database, f.region)
	defer doEvery(time.Second, settle)()
	h.down = true
	hung, done := w.submit(w.pick(database, cloud.Running), cloud.Stop), make(chan struct{})
	go func() {
		w.runToEnd(hung.ID)
		close(done)
	}()
	began, a := time.Now(), w.submit(w.pick(f.kind, cloud.Running), cloud.Stop)
	w.runToEnd(a.ID)
	if a, took := w.action(a.ID), time.Since(began); a.Status != execution.Succeeded || took > time.Minute {
		t.Errorf("the machine: %s after %s, %s", a.Status, took, a.ErrorMessage)
	}
	<-done
	if a := w.action(hung.ID); a.Status != execution.Failed || a.ErrorMessage == "" {
		t.Errorf("where it hangs: %s, %s", a.Status, a.ErrorMessage)
	}
	if got := apitest.Read[inventory.Account](w.Fixture,
		inventory.AccountKey(org, w.account.ID)); got.Status != inventory.AccountConnected {
		t.Errorf("the account is %s: %s", got.Status, got.Error)
	}
}

// runToEnd runs an action as its machine does, on the bubble's clock.
func (w *fixture) runToEnd(actionID string) {
	w.Helper()
	for range 300 {
		got := apitest.Value(w.e.RunActions(w.ctx,
			execution.RunInput{Org: org, Actions: []string{actionID}, Until: execution.UntilSettled}))(w)
		if got.Done {
			return
		}
		time.Sleep(time.Duration(got.WaitSeconds) * time.Second)
	}
	w.Error("not done after 300 runs")
}
