package executor

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/tabletest"
)

const (
	transition = 30 * time.Second       // of a machine, at most
	callTime   = 100 * time.Millisecond // that a call takes
)

// allowance is the rate limit of a cloud for a group of calls.
type allowance interface{ allow(now time.Time) bool }

// tokens is a bucket, as Azure has it.
type tokens struct{ *rate.Limiter }

func (b tokens) allow(now time.Time) bool { return b.AllowN(now, 1) }

// minutes is a number for each minute of the clock, as Google has it.
type minutes struct {
	most, used int
	minute     time.Time
}

func (m *minutes) allow(now time.Time) bool {
	if at := now.Truncate(time.Minute); !at.Equal(m.minute) {
		m.minute, m.used = at, 0
	}
	m.used++
	return m.used <= m.most
}

// enforcing is a connection to a twin that refuses calls above the documented limits.
type enforcing struct {
	twin    http.RoundTripper
	groups  func(*http.Request) []string
	refuse  func() *http.Response
	allowed map[string]allowance
	mu      sync.Mutex
	calls   int
	refused int
}

func (e *enforcing) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/token") { // a mutex is held until it comes, which bubbles cannot wait for
		time.Sleep(callTime)
	}
	e.mu.Lock()
	e.calls++
	ok := true
	for _, g := range e.groups(r) {
		ok = ok && (e.allowed[g] == nil || e.allowed[g].allow(time.Now()))
	}
	if !ok {
		e.refused++
	}
	e.mu.Unlock()
	if !ok {
		return e.refuse(), nil
	}
	return e.twin.RoundTrip(r)
}

func refusal(status int, header http.Header, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

// onEnforcingAzure has the limits of Azure: of one subscription and principal, and of Microsoft.Compute in a region.
func onEnforcingAzure(tw http.RoundTripper) *enforcing {
	bucket := func(perSecond float64, burst int) allowance {
		return tokens{rate.NewLimiter(rate.Limit(perSecond), burst)}
	}
	return &enforcing{
		twin: tw,
		allowed: map[string]allowance{
			"write": bucket(10, 200), "read": bucket(25, 250), "graph": bucket(3, 15),
			"deallocate": bucket(500.0/60, 1500),
		},
		groups: func(r *http.Request) []string {
			switch {
			case !strings.HasPrefix(r.URL.Path, "/subscriptions"):
				return []string{map[bool]string{true: "graph"}[strings.Contains(r.URL.Path, "ResourceGraph")]}
			case strings.HasSuffix(r.URL.Path, "/deallocate"):
				return []string{"write", "deallocate"}
			}
			return []string{"read"}
		},
		refuse: func() *http.Response {
			return refusal(http.StatusTooManyRequests, http.Header{"Retry-After": {"5"}},
				`{"error":{"code":"SubscriptionRequestsThrottled","message":"too many"}}`)
		},
	}
}

// onEnforcingGoogle has the limits of Compute Engine: of one project, 1,500 calls of a group in a minute.
func onEnforcingGoogle(tw http.RoundTripper) *enforcing {
	return &enforcing{
		twin: tw,
		allowed: map[string]allowance{
			"compute:POST": &minutes{most: 1500}, "compute:GET": &minutes{most: 1500},
		},
		groups: func(r *http.Request) []string {
			api, _, _ := strings.Cut(r.URL.Host, ".")
			return []string{api + ":" + r.Method}
		},
		refuse: func() *http.Response {
			return refusal(http.StatusForbidden, http.Header{},
				`{"error":{"code":403,"message":"too many","errors":[{"reason":"rateLimitExceeded"}]}}`)
		},
	}
}

// fleet is a cloud with machines, and how fast its limits let them be stopped.
type fleet struct {
	kind, region string
	fill         func(n int) (way *enforcing, settle func())
	provider     func(way *enforcing, w *fixture) cloud.Provider
	account      inventory.Account
	credentials  map[string]string
	least        func(n int) time.Duration
}

func limitedTime(n, burst int, perSecond float64) time.Duration {
	return time.Duration(float64(n-burst) / perSecond * float64(time.Second))
}

var fleets = map[string]fleet{
	"azure": {
		kind: cloud.AzureVM, region: "westeurope",
		fill: func(n int) (*enforcing, func()) {
			tw := &azuretwin.Cloud{}
			for i := range n {
				tw.AddVM(fmt.Sprint("vm-", i), "westeurope", nil)
			}
			return onEnforcingAzure(tw), tw.SettleAll
		},
		provider: func(way *enforcing, w *fixture) cloud.Provider {
			return azure.New(azure.Options{Clock: w.e.p.Clock, Transport: way, Store: w.Table})
		},
		account: inventory.Account{
			Provider: "azure", CloudAccountID: azuretwin.Subscription,
			AuthMethod: "service_principal",
		},
		credentials: map[string]string{
			"tenantID": azuretwin.Tenant, "clientID": azuretwin.Client,
			"clientSecret": azuretwin.Secret,
		},
		// Of each machine one read before the act, the act, and one read after it.
		least: func(n int) time.Duration {
			return max(limitedTime(n, 1500, 500.0/60), limitedTime(n, 200, 10), limitedTime(2*n, 250, 25)) + transition
		},
	},
	"gcp": {
		kind: cloud.GCPCompute, region: "europe-west1",
		fill: func(n int) (*enforcing, func()) {
			tw := &gcptwin.Cloud{}
			for i := range n {
				tw.AddInstance(gcptwin.Instance{Name: fmt.Sprint("vm-", i), Zone: "europe-west1-b"})
			}
			return onEnforcingGoogle(tw), tw.SettleAll
		},
		provider: func(way *enforcing, w *fixture) cloud.Provider {
			return gcp.New(gcp.Options{Clock: w.e.p.Clock, Transport: way, Store: w.Table})
		},
		account:     inventory.Account{Provider: "gcp", CloudAccountID: gcptwin.Project, AuthMethod: "service_account"},
		credentials: map[string]string{"serviceAccountKey": gcptwin.KeyFile()},
		least:       func(n int) time.Duration { return limitedTime(n, 0, 25) + transition },
	},
}

// TestBulk_OfManyMachinesIsNearlyAsFastAsAzureAndGoogleAllow is the counterpart of the EC2 test in floor_test.go for
// the clouds that act on one machine a call. It stops 4,000 machines, far more than every burst. LAMPLIGHTER_FLEET
// sets another size for measurements, for example "10000".
func TestBulk_OfManyMachinesIsNearlyAsFastAsAzureAndGoogleAllow(t *testing.T) {
	if testing.Short() || race.Enabled || tabletest.Limits() != nil {
		t.Skip("stops thousands of machines: not with -short, nor with the race detector, nor on a store that " +
			"limits itself")
	}
	shareOutsideBubbles(t)
	for name, f := range fleets {
		for _, size := range fleetSizes(t) {
			t.Run(fmt.Sprint(name, " ", size), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { f.stopFleet(t, size) })
			})
		}
	}
}

func fleetSizes(t *testing.T) (sizes []int) {
	t.Helper()
	names := os.Getenv("LAMPLIGHTER_FLEET")
	if names == "" {
		return []int{4_000}
	}
	for name := range strings.SplitSeq(names, ",") {
		sizes = append(sizes, apitest.Value(strconv.Atoi(name))(t))
	}
	return sizes
}

// openFleet returns a fixture with the fleet in its inventory, the connection to its cloud, and the function that
// completes its transitions.
func (f fleet) openFleet(t *testing.T, size int) (w *fixture, way *enforcing, settle func()) {
	t.Helper()
	time.Sleep(time.Until(noon))
	w = openFixture(t, apitest.PlatformAt(t, clock.System{}))
	way, settle = f.fill(size)
	w.e = New(w.e.p, cloud.Providers{f.account.Provider: f.provider(way, w)})
	w.account = f.newAccount()
	w.sealCredentials(f.credentials)
	w.conn = apitest.Value(w.e.newClouds().Connect(w.ctx, org, w.account))(w)
	w.listResources(f.kind, f.region)
	time.Sleep(time.Minute) // the buckets are full again after the listing
	return w, way, settle
}

func (f fleet) newAccount() inventory.Account {
	a := f.account
	a.ID, a.Name, a.PermissionLevel, a.Status, a.CreatedAt = id.New("ca", time.Now()), "fleet", "read_write",
		"connected", noon
	return a
}

// doEvery does something each d, until the function that it returns is called.
func doEvery(d time.Duration, do func()) (end func()) {
	done := make(chan struct{})
	var doing sync.WaitGroup
	doing.Go(func() {
		for tick := time.NewTicker(d); ; {
			select {
			case <-tick.C:
				do()
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		doing.Wait()
	}
}

func (f fleet) stopFleet(t *testing.T, size int) {
	t.Helper()
	w, way, settle := f.openFleet(t, size)
	defer doEvery(transition, settle)()
	in := w.submitBulk(w.newFlatGroup(size), cloud.Stop)
	engine, before := w.engine(), way.calls
	began := time.Now()
	w.Must(engine.Start(w.ctx, execution.BulkMachine, in.BulkID, in))
	w.awaitExecution(engine, in.BulkID)
	took, least := time.Since(began), f.least(size)
	w.Must(engine.Close())
	t.Logf("%d took %s, %.2f of the least %s; %d calls, of which %d refused; %d states", size, took,
		took.Seconds()/least.Seconds(), least,
		way.calls-before, way.refused, w.states.Load())
	if took > least*12/10 {
		t.Errorf("took %s; the limits allow %s, and 1.2 times that is wanted", took, least)
	}
	if b := w.bulk(in.BulkID); b.Completed != size || b.Failed != 0 {
		t.Errorf("%+v", b)
	}
	if way.refused > way.calls/20 {
		t.Errorf("%d of %d calls were refused", way.refused, way.calls)
	}
}
