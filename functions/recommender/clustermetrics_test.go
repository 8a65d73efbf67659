package recommender

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
	"lamplighter.dev/shared/testkit/clouds/prometheustwin"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// plantedUse is a workload of the namespace "used": its requests, the use of its highest pod, and the rules that find
// it by its use.
type plantedUse struct {
	resource, name, cpu, memory string
	cores, mebibytes, bps       float64
	throttled, restarts         float64 // the share of throttled periods, and restarts in an hour
	rules                       string
}

// plantedUses are workloads whose use says that they are wasted or weak, and healthy ones like them.
var plantedUses = []plantedUse{
	{"deployments", "fits", "500m", "512Mi", 0.4, 400, 1e5, 0, 0, ""},
	{"deployments", "large", "2", "512Mi", 0.4, 400, 1e5, 0, 0, "deployment-cpu-overrequested"},
	{"deployments", "roomy", "500m", "4Gi", 0.4, 400, 1e5, 0, 0, "deployment-memory-overrequested"},
	{"deployments", "idle", "100m", "128Mi", 0.002, 60, 10, 0, 0, "deployment-idle"},
	{"deployments", "swollen", "500m", "128Mi", 0.4, 400, 1e5, 0, 0, "deployment-memory-near-limit"},
	{"deployments", "slowed", "500m", "512Mi", 0.4, 400, 1e5, 0.5, 0, "deployment-cpu-throttled"},
	{"deployments", "falling", "500m", "512Mi", 0.4, 400, 1e5, 0, 1, "deployment-crash-loop"},
	{"statefulsets", "store", "500m", "512Mi", 0.4, 400, 1e5, 0, 0, ""},
	{
		"statefulsets", "vast", "2", "4Gi", 0.4, 400, 1e5, 0, 0,
		"statefulset-cpu-overrequested statefulset-memory-overrequested",
	},
}

// ownerKinds are the kinds of workloads by their resources.
var ownerKinds = map[string]string{"deployments": "Deployment", "statefulsets": "StatefulSet"}

// plantUse adds the workloads to a cluster, and their use to a Prometheus in it.
func plantUse(c *kubernetestwin.Cluster) (planted []kubernetestwin.Planted) {
	prom := prometheustwin.New()
	c.AddPrometheus(prom)
	for _, u := range plantedUses {
		at := c.PlantWorkload(u.resource, "used", u.name, u.cpu, u.memory)
		planted = append(planted, kubernetestwin.Planted{Resource: u.resource, At: at, Rules: u.rules})
		for metric, v := range map[string]float64{
			"container_cpu_usage_seconds_total": u.cores, "container_memory_working_set_bytes": u.mebibytes * (1 << 20),
			"container_network_receive_bytes_total": u.bps, "container_cpu_cfs_throttled_periods_total": u.throttled,
			"kube_pod_container_status_restarts_total": u.restarts,
		} {
			prom.Add(prometheustwin.Series{
				In: []string{metric, `owner_kind="` + ownerKinds[u.resource] + `"`}, At: prometheustwin.Always(v),
				Labels: map[string]string{"namespace": "used", "workload": u.name},
			})
		}
	}
	return planted
}

// collectMetrics reads the metrics of two weeks from the cluster and stores them, as a discovery does: hourly, and in
// points of 5 minutes for the confirmation.
func (f *fixture) collectMetrics(c *kubernetestwin.Cluster, planted []kubernetestwin.Planted) {
	f.Helper()
	p := kubernetes.New(kubernetes.Options{Clock: f.Clock, PrivateAddresses: true})
	conn := apitest.Value(p.Connect(f.In(org), cloud.Account{
		Org: org, ID: inventorytest.Account, Provider: kubernetes.Name, AuthMethod: "kubeconfig",
		Credentials: map[string]string{"kubeconfig": c.Kubeconfig(kubernetestwin.Token)},
	}))(f).(cloud.Metered)
	until := f.Clock.Now().UTC().Truncate(day)
	store := measurement.New(f.Platform)
	days := map[time.Time][]measurement.Series{}
	var confirmed []measurement.Confirmed
	for _, kind := range []string{cloud.KubernetesDeployment, cloud.KubernetesStatefulSet} {
		r := cloud.NewMetricRequest(cloud.MetricsOf(kind), uidsOfKind(kind, planted), until)
		r.Type, r.Region, r.Period = kind, kubernetes.Region, time.Hour
		got := apitest.Value(conn.Metrics(f.In(org), r))(f)
		got.EachRead(r, func(uid string, measure int, p cloud.Points) {
			for at := r.From; at.Before(r.To); at = at.Add(day) {
				days[at] = append(days[at], measurement.NewSeries(uid, r.Measures[measure], at, p))
			}
		})
		confirmed = append(confirmed, f.confirmUse(conn, r)...)
	}
	for at, all := range days {
		f.Must(store.WriteDay(f.In(org), org, inventorytest.Account, measurement.Day{Start: at}, all))
	}
	f.Must(store.Confirm(f.In(org), org, inventorytest.Account,
		measurement.Collection{Day: measurement.DayOf(until.AddDate(0, 0, -1))}, confirmed))
}

// confirmUse computes the metrics of a request from points of 5 minutes.
func (f *fixture) confirmUse(conn cloud.Metered, r cloud.MetricRequest) (out []measurement.Confirmed) {
	f.Helper()
	r.Period = measurement.FinePeriod
	got := apitest.Value(conn.Metrics(f.In(org), r))(f)
	fine := map[string]*measurement.Fine{}
	for _, uid := range r.UIDs {
		fine[uid] = &measurement.Fine{From: r.From, To: r.To}
	}
	got.EachRead(r, func(uid string, measure int, p cloud.Points) { fine[uid].Add(r.Measures[measure], p) })
	for _, uid := range r.UIDs {
		values := map[string]float64{}
		for _, m := range cloud.MetricsOf(r.Type) {
			if v, known := fine[uid].Answer(m); known && measurement.CanConfirm(m) {
				values[m.Name] = v
			}
		}
		out = append(out, measurement.Confirmed{
			UID: uid, Values: values, Day: measurement.DayOf(r.To.AddDate(0, 0, -1)),
		})
	}
	return out
}

func uidsOfKind(kind string, planted []kubernetestwin.Planted) (out []string) {
	for _, p := range planted {
		if "kubernetes-"+strings.TrimSuffix(p.Resource, "s") == kind {
			out = append(out, uidOf(p))
		}
	}
	return out
}

// isOfUse reports whether workloads are planted for a rule here.
func isOfUse(rule string) bool {
	return slices.ContainsFunc(plantedUses, func(u plantedUse) bool {
		return slices.Contains(strings.Fields(u.rules), rule)
	})
}

// The metrics of a cluster's own Prometheus open the recommendations that its workloads are planted for, and none of
// their healthy neighbours.
func TestEvaluate_FindsTheWasteThatTheUseOfAClusterShows(t *testing.T) {
	f := newFixture(t)
	inventorytest.Connect(f.Fixture, org, inventorytest.Account)
	c := kubernetestwin.New()
	t.Cleanup(c.Close)
	planted := plantUse(c)
	f.Clock.Advance(40 * 24 * time.Hour)
	f.discoverCluster(c)
	f.billPlanted(planted)
	for range 2 { // rules of metrics want two days
		f.Clock.Advance(day)
		f.discoverCluster(c)
		f.collectMetrics(c, planted)
		f.evaluate()
	}
	open := f.openRules()
	for _, p := range planted {
		got := slices.DeleteFunc(strings.Fields(open[uidOf(p)]), func(rule string) bool { return !isOfUse(rule) })
		if want := strings.Fields(p.Rules); !slices.Equal(got, want) {
			t.Errorf("%s is found by %q, want %q", p.At, got, want)
		}
	}
}
