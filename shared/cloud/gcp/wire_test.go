package gcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// wireRecorder writes down every request on its way to the twin: method, address, query, the headers that choose a
// version or a format, and the body.
type wireRecorder struct {
	next http.RoundTripper

	mu    sync.Mutex
	lines []string
}

// RoundTrip records the request and hands it on.
func (w *wireRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/token") {
		line, err := spellRequest(r)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		w.lines = append(w.lines, line)
		w.mu.Unlock()
	}
	return w.next.RoundTrip(r)
}

// takeRequests returns the requests since the last call, each once with its count. They are sorted, because some of
// them leave side by side.
func (w *wireRecorder) takeRequests() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := map[string]int{}
	for _, line := range w.lines {
		counts[line]++
	}
	w.lines = nil
	var b strings.Builder
	for _, line := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "%dx %s\n", counts[line], line)
	}
	return b.String()
}

func spellRequest(r *http.Request) (string, error) {
	body := ""
	if r.Body != nil && r.Body != http.NoBody {
		copied, err := r.GetBody()
		if err != nil {
			return "", err
		}
		raw, err := io.ReadAll(copied)
		if err != nil {
			return "", err
		}
		body = drawn.ReplaceAllString(strings.TrimSpace(string(raw)), `"requestId":"UUID"`)
	}
	q := r.URL.Query()
	if q.Has("requestId") {
		q.Set("requestId", "UUID")
	}
	query, err := url.QueryUnescape(q.Encode())
	if err != nil {
		return "", err
	}
	parts := []string{r.Method + " " + r.URL.Scheme + "://" + r.URL.Host + r.URL.EscapedPath() + "?" + query}
	for _, name := range []string{"Content-Type", "X-Goog-Api-Version", "X-Goog-User-Project", "If-Match"} {
		if v := r.Header.Get(name); v != "" {
			parts = append(parts, "["+name+": "+v+"]")
		}
	}
	return strings.TrimSpace(strings.Join(append(parts, body), " ")), nil
}

// wireCase is calls of a connection, with the cloud that answers them.
type wireCase struct {
	name    string
	twin    *gcptwin.Cloud
	account cloud.Account
	do      func(t *testing.T, tw *gcptwin.Cloud, c cloud.Conn) []any // returns the results of the connection's calls
}

// TestWire_RequestsAndResultsAreTheGoldenOnes holds the requests that leave, and the values that this package makes of
// the answers. The files were recorded with Google's generated clients, so that the package's own requests and structs
// are held to theirs.
func TestWire_RequestsAndResultsAreTheGoldenOnes(t *testing.T) {
	for _, tt := range wireCases() {
		t.Run(tt.name, func(t *testing.T) {
			record := &wireRecorder{next: tt.twin}
			c, err := gcp.New(options(record)).Connect(t.Context(), tt.account)
			if err != nil {
				t.Fatal(err)
			}
			results := tt.do(t, tt.twin, c)
			var b strings.Builder
			b.WriteString("# requests\n" + record.takeRequests() + "# results\n")
			for _, r := range results {
				text, err := json.MarshalIndent(r, "", " ")
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, "%s\n", text)
			}
			wantGolden(t, "wire-"+tt.name+".golden", b.String())
		})
	}
}

func wireCases() []wireCase {
	key := keyAccount(gcptwin.KeyFile())
	return []wireCase{
		{"listings", &gcptwin.Cloud{Page: 2}, key, wireListings},
		{"instances", &gcptwin.Cloud{}, key, wireInstances},
		{"autoscaling", &gcptwin.Cloud{}, key, wireAutoscaling},
		{"nodepools", &gcptwin.Cloud{}, key, wireNodepools},
		{"cloud-run", &gcptwin.Cloud{}, key, wireRunServices},
		{"metrics", &gcptwin.Cloud{Page: 1}, key, wireMetrics},
		{"project", &gcptwin.Cloud{Lacks: []string{"compute.instances.stop"}}, key, wireProject},
		{"organisation", organisationTwin(), ofParent("organizations/1"), wireOrganisation},
		{"folder", organisationTwin(), ofParent("folders/2"), wireOrganisation},
		{"bills", billedTwin(), key, wireBills},
	}
}

// result is a value or its error, as text.
func result(v any, err error) any {
	if err != nil {
		return err.Error()
	}
	return v
}

// wireListings lists a twin whose resources have every field that is read, and reads the states of the found
// resources.
func wireListings(t *testing.T, tw *gcptwin.Cloud, c cloud.Conn) []any {
	t.Helper()
	tellAll(tw)
	tw.AddWorkstation(region, "ada")
	tw.AddPolicy("nightly", true)
	tw.AddGroup(gcptwin.Group{
		Name: "regional", Region: region, Size: 2,
		Scaler: &gcptwin.Scaler{Min: 1, Max: 4, Mode: "ON", CPU: 0.6, Cooldown: 90},
	})
	found := cloudtest.ListAll(t, c, region, cloudtest.KindsOf("gcp")...)
	found = append(found, cloudtest.ListAll(t, c, cloud.Global, cloud.GCPOthers)...)
	var out []any
	for _, r := range found {
		out = append(out, r)
		if k, ok := cloud.KindOf(r.Type); ok && r.Type != cloud.GCPOthers && !k.Collected {
			got, err := c.Read(t.Context(), r.Type, region, []string{r.UID})
			out = append(out, result(got, err))
		}
	}
	return out
}

// wireInstances acts on instances that are off, on and suspended, and on one whose start failed.
func wireInstances(t *testing.T, tw *gcptwin.Cloud, c cloud.Conn) []any {
	t.Helper()
	on := tw.AddInstance(gcptwin.Instance{Name: "on", Zone: zone})
	off := tw.AddInstance(gcptwin.Instance{Name: "off", Zone: zone, Status: "TERMINATED"})
	asleep := tw.AddInstance(gcptwin.Instance{Name: "asleep", Zone: zone, Status: "SUSPENDED"})
	out := []any{
		fmt.Sprint(act(t, c, cloud.Stop, cloud.GCPCompute, cloud.Target{UID: on.UID()})),
		fmt.Sprint(act(t, c, cloud.Start, cloud.GCPCompute, cloud.Target{UID: off.UID()})),
		fmt.Sprint(act(t, c, cloud.Start, cloud.GCPCompute, cloud.Target{UID: asleep.UID()})),
	}
	tw.SettleAll()
	got, err := c.Read(t.Context(), cloud.GCPCompute, region, []string{on.UID(), off.UID(), asleep.UID()})
	tw.AddFault(deny("compute.instances.stop"))
	return append(out, result(got, err),
		fmt.Sprint(act(t, c, cloud.Stop, cloud.GCPCompute, cloud.Target{UID: off.UID()})))
}

// wireAutoscaling gives groups a rule and takes it back, where they have a scaler, where they have one without a rule
// for processors, and where they have none.
func wireAutoscaling(t *testing.T, tw *gcptwin.Cloud, c cloud.Conn) []any {
	t.Helper()
	var out []any
	a, cpu, cooldown := c.(cloud.Autoscaler), int64(55), int64(0)
	for _, g := range []gcptwin.Group{
		{Name: "plain", Zone: zone, Size: 3},
		{Name: "regional", Region: region, Size: 3},
		{
			Name: "ruled", Zone: zone, Size: 3,
			Scaler: &gcptwin.Scaler{Min: 1, Max: 4, Mode: "ON", CPU: 0.6, Cooldown: 90},
		},
		{Name: "unruled", Region: region, Size: 3, Scaler: &gcptwin.Scaler{Min: 2, Max: 9, Mode: "OFF"}},
	} {
		uid := tw.AddGroup(g).UID()
		before, err := a.ReadAutoscaling(t.Context(), cloud.GCPMIG, region, uid)
		out = append(out, result(before, err))
		want := cloud.Autoscaling{Min: 0, Max: 6, Desired: 4, TargetCPUPercent: &cpu, CooldownSeconds: &cooldown}
		for _, to := range []cloud.Autoscaling{want, before} {
			if err := a.SetAutoscaling(t.Context(), cloud.GCPMIG, region, uid, to); err != nil {
				t.Fatal(err)
			}
			tw.SettleAll()
			got, err := a.ReadAutoscaling(t.Context(), cloud.GCPMIG, region, uid)
			out = append(out, result(got, err))
		}
	}
	return out
}

// wireNodepools stops and starts pools that are scaled by zone, in total and not at all, and describes their clusters.
func wireNodepools(t *testing.T, tw *gcptwin.Cloud, c cloud.Conn) []any {
	t.Helper()
	k := tw.AddCluster(gcptwin.Cluster{
		Name: "prod", Location: region, Endpoint: "192.0.2.7", Authority: "Y2E=",
		DNS: "gke-1.europe-west1.gke.goog", Version: "1.33",
	})
	byZone := map[string]any{"enabled": true, "minNodeCount": 0, "maxNodeCount": 5, "locationPolicy": "ANY"}
	total := map[string]any{"enabled": true, "totalMinNodeCount": 0, "totalMaxNodeCount": 5}
	var out []any
	for name, scaling := range map[string]map[string]any{"by-zone": byZone, "total": total, "fixed": nil} {
		tw.AddPool(k, gcptwin.Pool{Name: name, Zones: []string{zone}, Scaling: scaling}, 2)
	}
	for _, name := range []string{"by-zone", "total", "fixed"} {
		uid := k.UID() + "/nodePools/" + name
		before := state(t, c, cloud.GCPGKENodepool, uid)
		out = append(out, before)
		for _, verb := range []cloud.Verb{cloud.Stop, cloud.Start} {
			err := act(t, c, verb, cloud.GCPGKENodepool, cloud.Target{UID: uid, Snapshot: before.Snapshot})
			tw.SettleAll()
			out = append(out, fmt.Sprint(err), state(t, c, cloud.GCPGKENodepool, uid))
		}
	}
	least, most := int64(0), int64(3)
	err := c.Scale(t.Context(), cloud.GCPGKENodepool, region, k.UID()+"/nodePools/by-zone",
		cloud.Capacity{Min: &least, Max: &most})
	out = append(out, fmt.Sprint(err))
	names, err := c.(cloud.Clusters).ClusterNames(t.Context(), region)
	out = append(out, result(names, err))
	described, err := c.(cloud.Clusters).Cluster(t.Context(), region, "prod")
	out = append(out, result(described, err))
	entry, err := c.(cloud.ClusterAccess).EnterCluster(t.Context(), region, "prod")
	return append(out, result([]string{entry.UID, entry.Server, string(entry.Authority)}, err))
}

// wireRunServices stops, starts and scales services of each way of scaling.
func wireRunServices(t *testing.T, tw *gcptwin.Cloud, c cloud.Conn) []any {
	t.Helper()
	var out []any
	zero, five := int64(0), int64(5)
	for name, bounds := range map[string][2]cloud.Capacity{
		"manual": {{Desired: &five}, {Desired: &zero}}, "auto": {{Min: &zero}, {Min: &five, Max: &five}},
	} {
		s := gcptwin.Service{Name: name, Region: region, Min: 2, Max: 9}
		if name == "manual" {
			s = gcptwin.Service{Name: name, Region: region, Mode: "MANUAL", Manual: 3}
		}
		tw.AddService(s)
		uid := s.UID()
		before := state(t, c, cloud.GCPCloudRun, uid)
		steps := []any{before}
		for _, verb := range []cloud.Verb{cloud.Stop, cloud.Start} {
			err := act(t, c, verb, cloud.GCPCloudRun, cloud.Target{UID: uid, Snapshot: before.Snapshot})
			tw.SettleAll()
			steps = append(steps, fmt.Sprint(err), state(t, c, cloud.GCPCloudRun, uid))
		}
		for _, want := range bounds {
			err := c.Scale(t.Context(), cloud.GCPCloudRun, region, uid, want)
			tw.SettleAll()
			steps = append(steps, fmt.Sprint(err), state(t, c, cloud.GCPCloudRun, uid))
		}
		out = append(out, map[string]any{name: steps})
	}
	slices.SortFunc(out, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return out
}

// wireMetrics reads measures of resources that are one series each, and of some that consist of parts.
func wireMetrics(t *testing.T, tw *gcptwin.Cloud, c cloud.Conn) []any {
	t.Helper()
	i := &gcptwin.Instance{Name: "web", Zone: zone}
	tw.AddSeries(cpu(i, 0.25, 0.5))
	tw.AddSeries(cpu(&gcptwin.Instance{Name: "api", Zone: zone}, 1, 2))
	group := &gcptwin.Group{Name: "web", Zone: zone}
	s := cpu(i, 0.2, 0.6)
	s.System = map[string]string{"instance_group": "web"}
	tw.AddSeries(s)
	pool := "//container.googleapis.com/projects/acme-prod/locations/europe-west1/clusters/prod/nodePools/batch"
	tw.AddSeries(gcptwin.Series{
		Metric: "kubernetes.io/node/cpu/allocatable_utilization", Resource: "k8s_node",
		Labels: map[string]string{"location": "europe-west1", "cluster_name": "prod"},
		User:   map[string]string{"cloud.google.com/gke-nodepool": "batch"}, At: s.At,
	})
	var out []any
	for _, r := range []cloud.MetricRequest{
		request(cloud.GCPCompute, i.UID(), (&gcptwin.Instance{Name: "api", Zone: zone}).UID()),
		request(cloud.GCPMIG, group.UID()), request(cloud.GCPGKENodepool, pool),
	} {
		got, err := c.(cloud.Metered).Metrics(t.Context(), r)
		out = append(out, result(got, err))
	}
	return out
}

// wireProject identifies the project, lists its regions and asks for the permissions of the credentials.
func wireProject(t *testing.T, _ *gcptwin.Cloud, c cloud.Conn) []any {
	t.Helper()
	id, err := c.Identify(t.Context())
	out := []any{result(id, err)}
	regions, err := c.Regions(t.Context())
	out = append(out, result(regions, err))
	all, err := c.Permissions(t.Context())
	out = append(out, result(all, err))
	one, err := c.(cloud.KindProber).KindPermissions(t.Context(), cloud.GCPMIG, region, "")
	return append(out, result(one, err))
}

// wireOrganisation walks through an organization or a folder.
func wireOrganisation(t *testing.T, _ *gcptwin.Cloud, c cloud.Conn) []any {
	t.Helper()
	name, err := c.(cloud.Organisations).Organisation(t.Context())
	out := []any{result(name, err)}
	found, err := c.(cloud.Organisations).Members(t.Context(), false)
	slices.SortFunc(found, func(a, b cloud.Member) int { return strings.Compare(a.NativeID, b.NativeID) })
	return append(out, result(found, err))
}

// wireBills finds the tables of an export, and reads a month of them in pages, of queries that take time.
func wireBills(t *testing.T, tw *gcptwin.Cloud, c cloud.Conn) []any {
	t.Helper()
	tw.Page, tw.Slow = 1, true
	bills := c.(cloud.Biller)
	found, err := bills.Deliveries(t.Context(), month(2))
	out := []any{result(found, err)}
	for _, d := range found {
		r, err := bills.OpenBill(t.Context(), d, d.Files[0])
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		out = append(out, result(string(text), err))
	}
	total, currency, ok, err := bills.ControlTotal(t.Context(), month(3))
	return append(out, result([]any{total, currency, ok}, err), bills.(cloud.BillSpender).Spent())
}
