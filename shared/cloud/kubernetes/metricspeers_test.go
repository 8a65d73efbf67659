package kubernetes_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
	"lamplighter.dev/shared/testkit/clouds/prometheusengine"
)

// scrapes returns the samples of a scrape each minute from an hour before the measured day to six hours into it.
func scrapes(at func(minutes float64) float64, labels ...string) prometheusengine.Series {
	s := prometheusengine.Series{Labels: map[string]string{"job": "scrape", "instance": "10.0.0.1"}}
	for i := 0; i < len(labels); i += 2 {
		s.Labels[labels[i]] = labels[i+1]
	}
	for minute := -60.0; minute <= 6*60; minute++ {
		if v := at(minute); !math.IsNaN(v) {
			s.Samples = append(s.Samples, [2]float64{float64(midnight.Unix()) + minute*60, v})
		}
	}
	return s
}

func one(float64) float64 { return 1 }

// value returns a function of a gauge with one value.
func value(v float64) func(float64) float64 { return func(float64) float64 { return v } }

// rate returns a function of a counter that grows by v a second.
func rate(v float64) func(float64) float64 {
	return func(minutes float64) float64 { return (minutes + 60) * 60 * v }
}

// from returns a function that has values from a minute on.
func from(minute float64, of func(float64) float64) func(float64) float64 {
	return func(at float64) float64 {
		if at < minute {
			return math.NaN()
		}
		return of(at)
	}
}

// podSamples returns the series of a pod of the shop with two containers: an app with the use, and a sidecar with a
// tenth of it. Both scrapes of a kubelet report the app.
func podSamples(name string, cores, bytes float64) []prometheusengine.Series {
	var out []prometheusengine.Series
	for _, c := range []struct {
		name  string
		share float64
	}{{"app", 1}, {"sidecar", 0.1}} {
		on := []string{"namespace", "shop", "pod", name, "container", c.name, "node", "n-1"}
		out = append(out,
			scrapes(rate(cores*c.share), append(on, "__name__", "container_cpu_usage_seconds_total")...),
			scrapes(value(bytes*c.share), append(on, "__name__", "container_memory_working_set_bytes")...),
			scrapes(value(0.5*c.share), append(on, "__name__", "kube_pod_container_resource_requests", "resource",
				"cpu", "unit", "core")...),
			scrapes(value(1<<30*c.share), append(on, "__name__", "kube_pod_container_resource_requests", "resource",
				"memory", "unit", "byte")...),
			scrapes(rate(1), append(on, "__name__", "container_cpu_cfs_periods_total")...),
			scrapes(rate(0.25), append(on, "__name__", "container_cpu_cfs_throttled_periods_total")...),
			scrapes(rate(2.0/3600), append(on, "__name__", "kube_pod_container_status_restarts_total")...),
		)
	}
	again := scrapes(rate(cores), "__name__", "container_cpu_usage_seconds_total", "namespace", "shop", "pod", name,
		"container", "app", "node", "n-1")
	again.Labels["job"] = "second-scrape"
	whole := scrapes(rate(cores*9), "__name__", "container_cpu_usage_seconds_total", "namespace", "shop", "pod", name)
	out = append(out, again, whole)
	for _, direction := range []string{"receive", "transmit"} {
		out = append(out, scrapes(rate(1000), "__name__", "container_network_"+direction+"_bytes_total", "namespace",
			"shop", "pod", name, "interface", "eth0"))
	}
	return append(out, scrapes(one, "__name__", "kube_pod_status_phase", "namespace", "shop", "pod", name, "phase",
		"Running"))
}

// owned returns the series that say whose pod of the shop it is.
func owned(name, kind, by string) prometheusengine.Series {
	return scrapes(one, "__name__", "kube_pod_owner", "namespace", "shop", "pod", name, "owner_kind", kind,
		"owner_name", by, "owner_is_controller", "true")
}

// clusterSamples returns the samples of a cluster: a Deployment with two pods, one of them busier, a StatefulSet, a
// DaemonSet, a CronJob, an autoscaler, a claim and two nodes.
func clusterSamples() []prometheusengine.Series {
	var out []prometheusengine.Series
	add := func(s ...prometheusengine.Series) { out = append(out, s...) }
	add(podSamples("web-7d4b9c6f5d-x2x7q", 0.2, 200<<20)...)
	add(podSamples("web-7d4b9c6f5d-zzzzz", 0.4, 400<<20)...)
	add(podSamples("db-0", 0.1, 100<<20)...)
	add(podSamples("agent-bcdfg", 0.05, 50<<20)...)
	for _, pod := range []string{"web-7d4b9c6f5d-x2x7q", "web-7d4b9c6f5d-zzzzz"} {
		add(owned(pod, "ReplicaSet", "web-7d4b9c6f5d"))
	}
	add(owned("db-0", "StatefulSet", "db"), owned("agent-bcdfg", "DaemonSet", "agent"),
		scrapes(one, "__name__", "kube_replicaset_owner", "namespace", "shop", "replicaset", "web-7d4b9c6f5d",
			"owner_kind", "Deployment", "owner_name", "web"),
		scrapes(value(60), "__name__", "DCGM_FI_DEV_GPU_UTIL", "exported_namespace", "shop", "exported_pod",
			"web-7d4b9c6f5d-x2x7q", "namespace", "gpu", "pod", "exporter-1"))
	hpa := []string{"namespace", "shop", "horizontalpodautoscaler", "web"}
	add(scrapes(func(at float64) float64 { return 2 + math.Floor(max(at, 0)/30) }, // at its minimum for half an hour
		append(hpa, "__name__", "kube_horizontalpodautoscaler_status_current_replicas")...),
		scrapes(value(2), append(hpa, "__name__", "kube_horizontalpodautoscaler_spec_min_replicas")...),
		scrapes(value(5), append(hpa, "__name__", "kube_horizontalpodautoscaler_spec_max_replicas")...),
		scrapes(one, append(hpa, "__name__", "kube_horizontalpodautoscaler_info", "scaletargetref_kind", "Deployment",
			"scaletargetref_name", "web")...))
	for job, failedFrom := range map[string]float64{"nightly-1": 90, "nightly-2": math.Inf(1)} {
		on := []string{"namespace", "shop", "job_name", job}
		add(scrapes(from(30, one), append(on, "__name__", "kube_job_owner", "owner_kind", "CronJob", "owner_name",
			"nightly")...),
			scrapes(from(30, func(at float64) float64 {
				if at >= failedFrom {
					return 3
				}
				return 0
			}), append(on, "__name__", "kube_job_status_failed")...))
	}
	add(scrapes(one, "__name__", "kube_cronjob_info", "namespace", "shop", "cronjob", "nightly"),
		scrapes(from(60, value(1_000)), "__name__", "kube_job_status_start_time", "namespace", "shop", "job_name",
			"nightly-2"),
		scrapes(from(60, value(1_090)), "__name__", "kube_job_status_completion_time", "namespace", "shop", "job_name",
			"nightly-2"))
	claim := []string{"namespace", "shop", "persistentvolumeclaim", "data"}
	add(scrapes(value(30), append(claim, "__name__", "kubelet_volume_stats_used_bytes")...),
		scrapes(value(120), append(claim, "__name__", "kubelet_volume_stats_capacity_bytes")...))
	for _, node := range []string{"n-1", "n-2"} {
		add(scrapes(one, "__name__", "kube_node_info", "node", node),
			scrapes(value(4), "__name__", "kube_node_status_allocatable", "node", node, "resource", "cpu"),
			scrapes(value(16<<30), "__name__", "kube_node_status_allocatable", "node", node, "resource", "memory"))
	}
	return out
}

// The values of each measure at Prometheus' own engine, in the second hour of the day.
func TestMetrics_AreThoseOfPrometheusOwnEngine(t *testing.T) {
	engine := prometheusengine.Start(t)
	engine.Store(clusterSamples())
	m := newMeasured(t)
	m.Behind["monitoring/stack-prometheus"] = engine.Handler()
	pods := 4 * 0.55 // cores that the pods request, sidecars included
	for _, tt := range []struct {
		kind, object, measure, statistic string
		want                             float64 // NaN for no value
	}{
		{deployment, "shop/deployments/web", "container_cpu_usage_seconds_total", "rate", 0.44},
		{deployment, "shop/deployments/web", "container_cpu_usage_seconds_total (highest)", "rate", 0.44},
		{deployment, "shop/deployments/web", "container_cpu_usage_seconds_total", "count", 12},
		{deployment, "shop/deployments/web", "container_memory_working_set_bytes", "max", 440 << 20},
		{deployment, "shop/deployments/web", "container_network_bytes_total", "rate", 2000},
		{deployment, "shop/deployments/web", "container_cpu_cfs_throttled_periods_total", "ratio", 0.25},
		{deployment, "shop/deployments/web", "kube_pod_container_status_restarts_total", "increase", 8},
		{deployment, "shop/deployments/web", "DCGM_FI_DEV_GPU_UTIL", "max", 60},
		{
			deployment, "shop/deployments/web", "kube_horizontalpodautoscaler_status_current_replicas (minimum)",
			"ratio", 0,
		},
		{ // 5 replicas from minute 90 on, 6 at the end
			deployment, "shop/deployments/web", "kube_horizontalpodautoscaler_status_current_replicas (maximum)",
			"ratio", 6.0 / 12,
		},
		{deployment, "shop/deployments/db", "container_cpu_usage_seconds_total", "avg", math.NaN()},
		{statefulSet, "shop/statefulsets/db", "container_cpu_usage_seconds_total", "avg", 0.11},
		{statefulSet, "shop/statefulsets/db", "container_memory_working_set_bytes", "max", 110 << 20},
		{"kubernetes-daemonset", "shop/daemonsets/agent", "container_cpu_usage_seconds_total", "avg", 0.055},
		{cronJobKind, "shop/cronjobs/nightly", "kube_job_status_failed", "increase", 3},
		{cronJobKind, "shop/cronjobs/nightly", "kube_job_status_completion_time", "gauge", 90},
		{namespace, "shop", "kube_pod_container_resource_requests (cpu)", "avg", pods},
		{namespace, "shop", "container_cpu_usage_seconds_total", "avg", (0.2 + 0.4 + 0.1 + 0.05) * 1.1},
		{"kubernetes-node", "/nodes/n-1", "kube_pod_container_resource_requests (cpu)", "avg", pods / 4},
		{"kubernetes-node", "/nodes/n-2", "kube_pod_container_resource_requests (cpu)", "avg", 0},
		{"kubernetes-node", "/nodes/n-1", "kube_pod_container_resource_requests (memory)", "avg", 4 * 1.1 / 16},
		{"kubernetes-node", "/nodes/n-1", "kube_pod_container_resource_requests (gpu)", "max", 0},
		{"kubernetes-cluster", "/clusters/cluster", "kube_pod_container_resource_requests (cpu)", "avg", pods / 8},
		{"kubernetes-cluster", "/clusters/cluster", "kube_pod_container_resource_requests (memory)", "avg", 4.4 / 32},
		{"kubernetes-cluster", "/clusters/cluster", "container_cpu_usage_seconds_total", "avg", 0.75 * 1.1 / 8},
		{"kubernetes-cluster", "/clusters/cluster", "kube_node_info", "max", 2},
		{
			"kubernetes-persistentvolumeclaim", "shop/persistentvolumeclaims/data", "kubelet_volume_stats_used_bytes",
			"max", 0.25,
		},
	} {
		for _, period := range []time.Duration{time.Hour, 5 * time.Minute} {
			got := m.valueOf(tt.kind, tt.object, cloud.Measure{
				Namespace: "Prometheus", Metric: tt.measure,
				Statistic: tt.statistic,
			}, period)
			want := tt.want
			if period < time.Hour && tt.statistic == "count" {
				want = 1
			}
			if period < time.Hour && (tt.statistic == "increase" || tt.statistic == "ratio" && want == 6.0/12) {
				continue // of other moments
			}
			if math.Abs(got-want) > 1e-3*math.Abs(want)+1e-9 || math.IsNaN(got) != math.IsNaN(want) {
				t.Errorf("%s %s %s by %s is %g, want %g", tt.object, tt.measure, tt.statistic, period, got, want)
			}
		}
	}
}

// valueOf returns the value of a measure in the second hour of the day, or NaN.
func (m *measured) valueOf(kind, object string, measure cloud.Measure, period time.Duration) float64 {
	m.Helper()
	r := m.request(kubernetestwin.UID + "/" + object)
	r.Type, r.Measures, r.Period = kind, []cloud.Measure{measure}, period
	r.From, r.To = midnight.Add(time.Hour), midnight.Add(2*time.Hour)
	got := m.mustAsk(r)
	if len(got.Unread) > 0 {
		m.Errorf("%s of %s is unread: %s", measure.Metric, object, got.UnreadReason)
	}
	if len(got.Points) == 0 {
		return math.NaN()
	}
	return got.Points[0].Values[len(got.Points[0].Values)-1]
}

// Without kube-state-metrics, pods belong to workloads by their names, and those measures are the same.
func TestMetrics_AreTheSameByNamesAtPrometheusOwnEngine(t *testing.T) {
	engine := prometheusengine.Start(t)
	var samples []prometheusengine.Series
	for _, s := range clusterSamples() {
		if !strings.HasPrefix(s.Labels["__name__"], "kube_") {
			samples = append(samples, s)
		}
	}
	engine.Store(samples)
	m := newMeasured(t)
	m.Behind["monitoring/stack-prometheus"] = engine.Handler()
	for kind, want := range map[string]float64{deployment: 0.44, statefulSet: 0.11, "kubernetes-daemonset": 0.055} {
		measure := cloud.Measure{
			Namespace: "Prometheus", Metric: "container_cpu_usage_seconds_total", Statistic: "max",
		}
		at := strings.TrimPrefix(uidOfKind(kind), kubernetestwin.UID+"/")
		if got := m.valueOf(kind, at, measure, time.Hour); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s by names is %g, want %g", at, got, want)
		}
	}
}

// A query about 1,000 pods for two weeks takes a Prometheus' default limits, and not long.
func TestMetrics_OfAThousandPodsAreWithinTheLimitsOfPrometheus(t *testing.T) {
	engine := prometheusengine.Start(t)
	var uids []string
	for n := range 100 {
		var all []prometheusengine.Series
		for p := range 10 {
			pod := fmt.Sprintf("web%d-7d4b9c6f5d-%s", n, []string{
				"bbbbb", "ccccc", "ddddd", "fffff", "ggggg", "hhhhh",
				"jjjjj", "kkkkk", "lllll", "mmmmm",
			}[p])
			all = append(all, scrapes(rate(0.01*float64(p+1)), "__name__", "container_cpu_usage_seconds_total",
				"namespace", "shop", "pod", pod, "container", "app"),
				owned(pod, "ReplicaSet", fmt.Sprintf("web%d-7d4b9c6f5d", n)))
		}
		all = append(all, scrapes(one, "__name__", "kube_replicaset_owner", "namespace", "shop", "replicaset",
			fmt.Sprintf("web%d-7d4b9c6f5d", n), "owner_kind", "Deployment", "owner_name", fmt.Sprint("web", n)))
		engine.Store(all)
		uids = append(uids, uid("deployments", fmt.Sprint("shop/web", n)))
	}
	m := newMeasured(t)
	m.Behind["monitoring/stack-prometheus"] = engine.Handler()
	r := m.request(uids...)
	r.From = r.To.AddDate(0, 0, -14)
	r.Measures = r.Measures[:2]
	began := time.Now()
	got := m.mustAsk(r)
	t.Logf("%d calls, %d series, %s", got.Calls, len(got.Points), time.Since(began))
	if len(got.Points) != 200 || len(got.Unread) != 0 {
		t.Errorf("%d series of 200, unread because %s", len(got.Points), got.UnreadReason)
	}
}
