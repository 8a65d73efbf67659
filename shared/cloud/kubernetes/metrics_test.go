package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes/kubeconfig"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
	"lamplighter.dev/shared/testkit/clouds/prometheustwin"
)

// midnight is the first moment of the measured day.
var midnight = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// measured is a cluster with a Prometheus.
type measured struct {
	*fixture
	prom *prometheustwin.Server
}

func newMeasured(t *testing.T) *measured {
	t.Helper()
	m := &measured{newFixture(t), prometheustwin.New()}
	m.AddPrometheus(m.prom)
	return m
}

// cpu adds the use of a Deployment in cores.
func (m *measured) cpu(ns, name string, at func(time.Time) (float64, bool)) {
	m.prom.Add(prometheustwin.Series{
		In:     []string{"container_cpu_usage_seconds_total", `owner_kind="Deployment"`},
		Labels: map[string]string{"namespace": ns, "workload": name}, At: at,
	})
}

// request asks for all measures of Deployments on the measured day.
func (m *measured) request(uids ...string) cloud.MetricRequest {
	return cloud.MetricRequest{
		Type: deployment, Region: "cluster", UIDs: uids, Measures: cloud.MeasuresOf(deployment), Period: time.Hour,
		From: midnight, To: midnight.AddDate(0, 0, 1),
	}
}

func (m *measured) ask(r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	m.Helper()
	return m.conn.(cloud.Metered).Metrics(m.Context(), r)
}

func (m *measured) mustAsk(r cloud.MetricRequest) cloud.MetricAnswer {
	m.Helper()
	got, err := m.ask(r)
	m.must(err)
	return got
}

func TestMetrics_KeepTheContractOfMeteredClouds(t *testing.T) {
	m := newMeasured(t)
	m.cpu("shop", "web", func(at time.Time) (float64, bool) {
		return 0.25, at.Add(-time.Second).Hour() != 3 // the hour of the gap
	})
	f := cloudtest.Metered{
		Kind: deployment, Region: "cluster", Measured: []string{uid("deployments", "shop/web")},
		Quiet: []string{uid("deployments", "shop/quiet")}, Missing: uid("deployments", "shop/nothing"),
		PerCall: 100_000,
		Start:   midnight, Gap: 3 * time.Hour, Unmeasured: "kubernetes-ingress", Free: true,
		Calls: func() int { return len(m.prom.Calls()) },
		Deny: func(on bool) {
			if m.Deny(); on {
				m.Deny("get services/proxy")
			}
		},
	}
	for n := range 150 {
		f.Many = append(f.Many, uid("deployments", fmt.Sprint("shop/many-", n)))
	}
	m.Page = 2
	cloudtest.Run(t, m.provider, cloudtest.Fixture{
		Account: m.account(kubernetestwin.Token), NativeID: kubernetestwin.UID, Metered: []cloudtest.Metered{f},
		Groups: []cloudtest.Group{m.deployments()}, Settle: func() { m.Settle(); m.clk.Advance(10 * time.Second) },
	})
}

func TestMetrics_OfAllWorkloadsOfAKindTakeAQueryForEachMeasure(t *testing.T) {
	m := newMeasured(t)
	var uids []string
	for n := range 400 {
		at := fmt.Sprintf("team-%d/web-%d", n%20, n)
		uids = append(uids, uid("deployments", at))
	}
	m.mustAsk(m.request(uids[0])) // which finds the server
	m.prom.ForgetCalls()
	got := m.mustAsk(m.request(uids...))
	measures := len(cloud.MeasuresOf(deployment))
	if calls := len(m.prom.Calls()); calls != measures+1 || got.Calls != calls {
		t.Errorf("%d calls, %d of them are told, for 400 Deployments with %d measures; want one each and one for the "+
			"owners", calls, got.Calls, measures)
	}
}

func TestMetrics_OfManyWorkloadsAreDividedByNamespaces(t *testing.T) {
	m := newMeasured(t)
	var uids []string
	for n := range 1_200 {
		uids = append(uids, uid("deployments", fmt.Sprintf("team-%d/web-%d", n%10, n)))
	}
	for n := range 10 {
		m.cpu(fmt.Sprint("team-", n), fmt.Sprint("web-", n), prometheustwin.Always(0.5))
	}
	r := m.request(uids...)
	r.Measures = r.Measures[:1]
	r.From = r.To.AddDate(0, 0, -14)
	got := m.mustAsk(r)
	if len(got.Points) != 10 || len(got.Points[0].Times) != 14*24 {
		t.Fatalf("%d series, the first with %d points; want 10 with those of 14 days", len(got.Points),
			len(got.Points[0].Times))
	}
	for _, c := range m.prom.Calls() {
		if strings.Contains(c.Query, "container_") && strings.Count(c.Query, "|team")/3 > 5 {
			t.Errorf("a query about more than 500 Deployments: %s", c.Query)
		}
	}
	if got.Calls < 4 || got.Calls > 8 {
		t.Errorf("%d calls for 1,200 Deployments in 10 namespaces", got.Calls)
	}
}

func TestMetrics_OfTwoWeeksInPointsOfFiveMinutesAreBounded(t *testing.T) {
	m := newMeasured(t)
	m.cpu("shop", "web", prometheustwin.Always(0.5))
	r := m.request(uid("deployments", "shop/web"))
	r.Measures = []cloud.Measure{cpuOf("")}
	r.Period, r.From = 5*time.Minute, r.To.AddDate(0, 0, -60)
	got := m.mustAsk(r)
	if n := len(got.Points[0].Times); n != 60*288 || !got.Points[0].Times[0].Equal(r.From) ||
		!got.Points[0].Times[n-1].Equal(r.To.Add(-r.Period)) {
		t.Errorf("%d points from %s to %s", n, got.Points[0].Times[0], got.Points[0].Times[n-1])
	}
	for _, c := range m.prom.Calls() {
		if points := c.End.Sub(c.Start)/c.Step + 1; points > 11_000 {
			t.Errorf("a query of %d points", points)
		}
	}
}

// What is not read is not 0: it is unread, with the reason and the way out.
func TestMetrics_ThatCannotBeReadAreUnread(t *testing.T) {
	web := uid("deployments", "shop/web")
	allUnread := len(cloud.MeasuresOf(deployment))
	for _, tt := range []struct {
		name   string
		set    func(*measured)
		unread int
		class  cloud.Class // of the error, if there is one
		fails  bool
		words  string
	}{
		{
			"a part of the data alone", func(m *measured) { m.prom.Warn("store-1 does not answer") }, 0,
			cloud.Unsupported, true, "store-1 does not answer",
		},
		{
			"no Prometheus", func(m *measured) { m.Remove("services", "monitoring/stack-prometheus") }, 0,
			cloud.Unsupported, true, "prometheusURL",
		},
		{
			"no permission", func(m *measured) { m.Deny("get services/proxy") }, 0, cloud.Denied, true,
			`allow "get services/proxy"`,
		},
		{
			"no permission to find it", func(m *measured) { m.Deny("list services") }, 0, cloud.Denied, true,
			"list services",
		},
		{"nobody behind the Service", func(m *measured) { m.Behind = nil }, 0, cloud.Transient, true, "no endpoints"},
		{
			"no kube-state-metrics", func(m *measured) { m.prom.NoStateMetrics = true }, 4, 0, false,
			"kube-state-metrics",
		},
		{"another namespace's name", func(*measured) {}, allUnread, 0, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMeasured(t)
			tt.set(m)
			r := m.request(web)
			if tt.unread == allUnread {
				r.UIDs = []string{`` + kubernetestwin.UID + `/a"}/deployments/web`}
			}
			got, err := m.ask(r)
			switch {
			case tt.fails && (cloud.ClassOf(err) != tt.class || !strings.Contains(err.Error(), tt.words)):
				t.Errorf("the error is %v, want class %v with %q", err, tt.class, tt.words)
			case !tt.fails && (err != nil || len(got.Unread) != tt.unread ||
				!strings.Contains(got.UnreadReason, tt.words)):
				t.Errorf("%d unread because %q, %v; want %d with %q", len(got.Unread), got.UnreadReason, err, tt.unread,
					tt.words)
			}
			if len(got.Points) != 0 {
				t.Errorf("points %+v", got.Points)
			}
		})
	}
}

func TestMetrics_ABusyServerIsAskedAgainAndARefusedQueryLeavesTheOthers(t *testing.T) {
	m := newMeasured(t)
	m.cpu("shop", "web", prometheustwin.Always(0.5))
	r := m.request(uid("deployments", "shop/web"))
	r.Measures = []cloud.Measure{cpuOf("(highest)"), cpuOf("")}
	m.mustAsk(r)
	m.prom.Fail(503, 429) // the query for the owners is repeated
	if got := m.mustAsk(r); len(got.Points) != 2 || len(got.Unread) != 0 {
		t.Errorf("%d series and %d unread after two refusals that pass", len(got.Points), len(got.Unread))
	}
	m.prom.Refuse("max_over_time")
	got := m.mustAsk(r)
	if len(got.Points) != 1 || len(got.Unread) != 1 || !strings.Contains(got.UnreadReason, "the twin fails") {
		t.Errorf("%d series, unread %+v because %s", len(got.Points), got.Unread, got.UnreadReason)
	}
}

func TestMetrics_AreReadFromTheAddressOfTheAccount(t *testing.T) {
	m := newMeasured(t)
	m.Remove("services", "monitoring/stack-prometheus")
	m.cpu("shop", "web", prometheustwin.Always(0.5))
	a := m.account(kubernetestwin.Token)
	a.Credentials["prometheusURL"] = m.prom.Start(t.Cleanup).URL + "/tenant"
	m.conn = m.connect(a)
	got := m.mustAsk(m.request(uid("deployments", "shop/web")))
	if len(got.Points) == 0 || math.Abs(got.Points[0].Values[0]-0.5) > 1e-9 {
		t.Errorf("%+v", got)
	}
	for _, c := range m.prom.Calls() {
		if c.Method != http.MethodPost || c.Path != "/tenant/api/v1/query_range" || c.Token != "" {
			t.Errorf("%s %s with the token %q", c.Method, c.Path, c.Token)
		}
	}
	a.Credentials["prometheusToken"] = "token-of-prometheus"
	if _, err := m.provider.Connect(t.Context(), a); err == nil || !strings.Contains(err.Error(), "https://") {
		t.Errorf("a token for an address without TLS: %v", err)
	}
	a.Credentials["prometheusURL"] = "https://169.254.169.254/"
	if _, err := m.provider.Connect(t.Context(), a); cloud.ClassOf(err) != cloud.Invalid {
		t.Errorf("the address of a cloud's own data: %v", err)
	}
}

// cpuOf returns the measure of the CPU with a note.
func cpuOf(note string) cloud.Measure {
	return cloud.Measure{
		Namespace: "Prometheus", Metric: strings.TrimSpace("container_cpu_usage_seconds_total " + note),
		Statistic: "rate",
	}
}

// registeredWith returns the registration of the cluster with its kubeconfig.
func registeredWith(m *measured) cloud.RegisteredCluster {
	m.Helper()
	access, err := kubeconfig.ParseKubeconfig(m.Kubeconfig(kubernetestwin.Token), morning)
	m.must(err)
	text, err := json.Marshal(access)
	m.must(err)
	return cloud.RegisteredCluster{Region: "eu-west-1", Name: "main", Kubeconfig: text}
}

func TestMetrics_GoToTheClusterOfTheUID(t *testing.T) {
	m := newMeasured(t)
	m.cpu("shop", "web", prometheustwin.Always(0.5))
	inside := m.provider.WithClusters(nil, []cloud.RegisteredCluster{registeredWith(m)})
	r := m.request(uid("deployments", "shop/web"), "another-cluster/shop/deployments/web")
	r.Region = "eu-west-1"
	got, err := inside.(cloud.Metered).Metrics(t.Context(), r)
	m.must(err)
	if len(got.Points) == 0 || len(got.Unread) != len(r.Measures) || got.Unread[0].UID != r.UIDs[1] {
		t.Errorf("%d points, unread %+v", len(got.Points), got.Unread)
	}
}

func TestMetrics_HaveAQueryForEachMeasure(t *testing.T) {
	for _, kind := range []string{
		deployment, statefulSet, "kubernetes-daemonset", cronJobKind, namespace, "kubernetes-node",
		"kubernetes-cluster", "kubernetes-persistentvolumeclaim",
	} {
		m := newMeasured(t)
		r := m.request(kubernetestwin.UID + "/shop/any/name")
		r.Type, r.Measures = kind, cloud.MeasuresOf(kind)
		if r.UIDs = []string{uidOfKind(kind)}; len(r.Measures) == 0 {
			t.Errorf("%s has no measures", kind)
		}
		if got := m.mustAsk(r); len(got.Unread) != 0 {
			t.Errorf("%s: %+v: %s", kind, got.Unread, got.UnreadReason)
		}
		for _, c := range m.prom.Calls() {
			if i := slices.Index([]byte(strings.ReplaceAll(c.Query, "$1", "")), '$'); i >= 0 {
				t.Errorf("%s: a part of the query is not replaced: %s", kind, c.Query)
			}
		}
	}
}

// uidOfKind returns a uid of an object of a kind.
func uidOfKind(kind string) string {
	of := map[string]string{
		deployment: "/shop/deployments/web", statefulSet: "/shop/statefulsets/db",
		"kubernetes-daemonset": "/shop/daemonsets/agent", cronJobKind: "/shop/cronjobs/nightly", namespace: "/shop",
		"kubernetes-node": "//nodes/n-1", "kubernetes-cluster": "//clusters/cluster",
		"kubernetes-persistentvolumeclaim": "/shop/persistentvolumeclaims/data",
	}
	return kubernetestwin.UID + of[kind]
}
