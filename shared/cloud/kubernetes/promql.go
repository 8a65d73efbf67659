package kubernetes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// This file has the queries of measures in PromQL. Each names the metrics of cAdvisor (container_*), of the kubelet
// (kubelet_*), of kube-state-metrics 2 (kube_*) and of NVIDIA's exporter (DCGM_*). A query is about all objects of a
// type in some namespaces. Metrics that several scrapes report are taken once, by a max over the scrapes.

// fine is the step at which a bucket is looked at, and the window of a rate: five minutes, as krr and Kubernetes' own
// rules have them.
const fine = 5 * time.Minute

// stateMetrics is the exporter that most measures need. Without it, pods belong to workloads by their names.
const stateMetrics = "kube-state-metrics"

// promScope is what a query is about: namespaces as a regular expression, and the length of a bucket.
type promScope struct {
	namespaces string
	period     time.Duration
	byName     bool // pods belong to workloads by their names, because nothing else says it
}

// promSeries is the time series of a measure in PromQL.
type promSeries struct {
	// expr returns the expression. Its result has the labels namespace and workload, or those of the type.
	expr func(promScope) string
	// fold is how the moments of a bucket become one value; "" is their average. The statistics max, min and count
	// of a measure go before it.
	fold string
	// whole is set for an expression that describes a whole bucket, and not a moment in it.
	whole bool
	// nameless is set if the expression can do without kube-state-metrics.
	nameless bool
}

// promTypes are the measured types, with the labels that name an object, the namespace first if it has one.
var promTypes = map[string]struct {
	resource string
	labels   []string
	series   map[string]promSeries // by the measure's metric
}{
	cloud.KubernetesDeployment:  {deploymentsOf.Resource, workloadLabels, deploymentSeries},
	cloud.KubernetesStatefulSet: {statefulOf.Resource, workloadLabels, podSeries("StatefulSet")},
	cloud.KubernetesDaemonSet:   {daemonSetsOf.Resource, workloadLabels, podSeries("DaemonSet")},
	cloud.KubernetesCronJob:     {cronJobsOf.Resource, workloadLabels, cronJobSeries},
	cloud.KubernetesNamespace:   {namespacesOf.Resource, []string{"namespace"}, namespaceSeries},
	cloud.KubernetesNode:        {nodesOf.Resource, []string{"node"}, nodeSeries},
	"kubernetes-cluster":        {clusters, nil, clusterSeries},
	"kubernetes-persistentvolumeclaim": {
		"persistentvolumeclaims", []string{"namespace", "persistentvolumeclaim"}, claimSeries,
	},
}

var workloadLabels = []string{"namespace", "workload"}

// queryOf returns the query whose value at the end of a bucket is the value of the bucket. The window of the subquery
// is a second shorter than the bucket: Prometheus 2 counts both of its ends.
func queryOf(s promSeries, statistic string, in promScope) string {
	expr, fold := s.expr(in), cmp.Or(s.fold, "avg")
	if slices.Contains([]string{"max", "min", "count"}, statistic) {
		fold = statistic
	}
	switch {
	case s.whole:
		return expr
	case in.period <= fine && fold == "count":
		return "(" + expr + ") * 0 + 1"
	case in.period <= fine:
		return expr
	}
	return fmt.Sprintf("%s_over_time((%s)[%ds:%ds])", fold, expr, seconds(in.period)-1, seconds(fine))
}

func seconds(d time.Duration) int { return int(d / time.Second) }

// expand replaces the names of parts in a template: $in is the matcher of the namespaces.
func expand(template string, in promScope, parts ...string) string {
	return strings.NewReplacer(append([]string{
		"$in", `namespace=~"` + in.namespaces + `"`, "$period", fmt.Sprintf("%ds", seconds(in.period)),
	}, parts...)...).Replace(template)
}

// plainSeries returns the series of an expression that needs no parts.
func plainSeries(text string) promSeries {
	return promSeries{expr: func(in promScope) string { return expand(text, in) }}
}

// highest returns the series of an expression of which a bucket has the highest value.
func highest(text string) promSeries {
	s := plainSeries(text)
	s.fold = "max"
	return s
}

// The use of a pod, by namespace and pod.
const (
	podCPU = `sum by (namespace, pod) (max by (namespace, pod, container) ` +
		`(rate(container_cpu_usage_seconds_total{$in, container!="", container!="POD"}[5m])))`
	podMemory = `sum by (namespace, pod) (max by (namespace, pod, container) ` +
		`(container_memory_working_set_bytes{$in, container!="", container!="POD"}))`
	podNetwork = `sum by (namespace, pod) (max by (namespace, pod, interface) ` +
		`(rate(container_network_receive_bytes_total{$in, pod!=""}[5m]))) + ` +
		`sum by (namespace, pod) (max by (namespace, pod, interface) ` +
		`(rate(container_network_transmit_bytes_total{$in, pod!=""}[5m])))`
	podThrottled = `sum by (namespace, pod) (max by (namespace, pod, container) ` +
		`(rate(container_cpu_cfs_throttled_periods_total{$in, container!="", container!="POD"}[5m])))`
	podPeriods = `sum by (namespace, pod) (max by (namespace, pod, container) ` +
		`(rate(container_cpu_cfs_periods_total{$in, container!="", container!="POD"}[5m])))`
	podRestarts = `sum by (namespace, pod) (max by (namespace, pod, container) ` +
		`(increase(kube_pod_container_status_restarts_total{$in}[$period])))`
	// The exporter's own pod is in namespace and pod where Prometheus does not honour its labels.
	podGPU = `max by (namespace, pod) (label_replace(label_replace(DCGM_FI_DEV_GPU_UTIL{exported_pod!=""}, ` +
		`"pod", "$1", "exported_pod", "(.+)"), "namespace", "$1", "exported_namespace", "(.+)") ` +
		`or DCGM_FI_DEV_GPU_UTIL{$in, exported_pod="", pod!=""})`
)

// The owners of pods, as series of the value 1 by namespace, pod and workload.
const (
	owner = `max by (namespace, pod, workload) (label_replace(kube_pod_owner{$in, owner_kind="$kind"}, ` +
		`"workload", "$1", "owner_name", "(.+)"))`
	deploymentOwner = `max by (namespace, pod, workload) (max by (namespace, pod, replicaset) ` +
		`(label_replace(kube_pod_owner{$in, owner_kind="ReplicaSet"}, "replicaset", "$1", "owner_name", "(.+)")) ` +
		`* on (namespace, replicaset) group_left (workload) max by (namespace, replicaset, workload) ` +
		`(label_replace(kube_replicaset_owner{$in, owner_kind="Deployment"}, "workload", "$1", "owner_name", "(.+)")))`
)

// podNames are the names of the pods of workloads, by kind. Hashes in names have letters that form no words.
var podNames = map[string]string{
	"Deployment":  `(.+)-[bcdfghjklmnpqrstvwxz2456789]{1,10}-[bcdfghjklmnpqrstvwxz2456789]{5}`,
	"StatefulSet": `(.+)-[0-9]+`,
	"DaemonSet":   `(.+)-[bcdfghjklmnpqrstvwxz2456789]{5}`,
}

// ofWorkload returns an expression of pods by their workloads, folded by an aggregation.
func ofWorkload(fold, kind, pods string, in promScope) string {
	if in.byName {
		return expand(fold+` by (namespace, workload) (label_replace(`+pods+`, "workload", "$1", "pod", "$names"))`, in,
			"$names", podNames[kind])
	}
	owners := owner
	if kind == "Deployment" {
		owners = deploymentOwner
	}
	return expand(fold+` by (namespace, workload) ((`+pods+`) * on (namespace, pod) group_left (workload) `+owners+`)`,
		in, "$kind", kind)
}

// podSeries returns the measures of a kind of workload that its pods have.
func podSeries(kind string) map[string]promSeries {
	of := func(fold, pods string) func(promScope) string {
		return func(in promScope) string { return ofWorkload(fold, kind, pods, in) }
	}
	return map[string]promSeries{
		"container_cpu_usage_seconds_total":           {expr: of("max", podCPU), nameless: true},
		"container_memory_working_set_bytes":          {expr: of("max", podMemory), nameless: true},
		"container_network_bytes_total":               {expr: of("max", podNetwork), nameless: true, fold: "max"},
		"container_cpu_usage_seconds_total (highest)": {expr: of("max", podCPU), nameless: true, fold: "max"},
		"container_cpu_cfs_throttled_periods_total": {nameless: true, expr: func(in promScope) string {
			return of("sum", podThrottled)(in) + " / " + of("sum", podPeriods)(in)
		}},
		"kube_pod_container_status_restarts_total": {expr: of("sum", podRestarts), whole: true},
		"DCGM_FI_DEV_GPU_UTIL":                     {expr: of("max", podGPU)},
	}
}

// atBound is the share of a bucket that autoscalers are at a bound of theirs, of those that have replicas.
const atBound = `max by (namespace, workload) (((` +
	`max by (namespace, horizontalpodautoscaler) (kube_horizontalpodautoscaler_status_current_replicas{$in}) == bool ` +
	`max by (namespace, horizontalpodautoscaler) (kube_horizontalpodautoscaler_spec_$bound_replicas{$in})) and ` +
	`max by (namespace, horizontalpodautoscaler) (kube_horizontalpodautoscaler_status_current_replicas{$in}) > 0) ` +
	`* on (namespace, horizontalpodautoscaler) group_left (workload) ` +
	`max by (namespace, horizontalpodautoscaler, workload) (label_replace(kube_horizontalpodautoscaler_info` +
	`{$in, scaletargetref_kind="Deployment"}, "workload", "$1", "scaletargetref_name", "(.+)")))`

// deploymentSeries are the measures of Deployments: those of their pods, and of their autoscalers.
var deploymentSeries = func() map[string]promSeries {
	out := podSeries("Deployment")
	for bound, note := range map[string]string{"max": "maximum", "min": "minimum"} {
		out["kube_horizontalpodautoscaler_status_current_replicas ("+note+")"] = plainSeries(
			strings.ReplaceAll(atBound, "$bound", bound))
	}
	return out
}()

// jobOwner are the CronJobs of jobs, as series of the value 1 by namespace, job_name and workload.
const jobOwner = `max by (namespace, job_name, workload) (label_replace(kube_job_owner{$in, owner_kind="CronJob"}, ` +
	`"workload", "$1", "owner_name", "(.+)"))`

// cronJobSeries are the measures of CronJobs. A job that appears with failures has them in its first bucket.
var cronJobSeries = map[string]promSeries{
	"kube_job_status_failed": {whole: true, expr: func(in promScope) string {
		return expand(`sum by (namespace, workload) (clamp_min(max by (namespace, job_name) `+
			`(kube_job_status_failed{$in}) - (max by (namespace, job_name) `+
			`(kube_job_status_failed{$in} offset $period) or max by (namespace, job_name) `+
			`(kube_job_status_failed{$in}) * 0), 0) * on (namespace, job_name) group_left (workload) `+jobOwner+`) `+
			`or max by (namespace, workload) (label_replace(kube_cronjob_info{$in}, "workload", "$1", "cronjob", `+
			`"(.+)")) * 0`, in)
	}},
	"kube_job_status_completion_time": highest(`max by (namespace, workload) ((max by (namespace, job_name) ` +
		`(kube_job_status_completion_time{$in}) - max by (namespace, job_name) (kube_job_status_start_time{$in})) ` +
		`* on (namespace, job_name) group_left (workload) ` + jobOwner + `)`),
}

// requested are the requests of pods that run or wait for a node, by namespace, pod, container and node; containers
// that run before the others do not count.
const requested = `(max by (namespace, pod, container, node) ` +
	`(kube_pod_container_resource_requests{$all, resource=~"$resource", node!=""}) ` +
	`* on (namespace, pod) group_left () max by (namespace, pod) ` +
	`(kube_pod_status_phase{$all, phase=~"Pending|Running"} == 1))`

// allocatable is what nodes offer to pods, by node.
const allocatable = `max by (node) (kube_node_status_allocatable{resource="$resource"})`

// gpus are the names of accelerators at kube-state-metrics.
const gpus = `.*_com_gpu.*|.*_com_tpu`

// resourceQuery returns a query about one resource: in the namespaces of the request, or in all of them.
func resourceQuery(text, resource string) promSeries {
	text = strings.NewReplacer("$requested", requested, "$allocatable", allocatable).Replace(text)
	if strings.Contains(text, "by (namespace) (") {
		text = strings.ReplaceAll(text, "$all", "$in")
	}
	return plainSeries(strings.NewReplacer("$all, ", "", "$resource", resource).Replace(text))
}

// allCPU is the use of all containers in cores.
const allCPU = `max by (namespace, pod, container) ` +
	`(rate(container_cpu_usage_seconds_total{$all, container!="", container!="POD"}[5m]))`

// The measures of namespaces, nodes, the cluster and claims. A node without pods has requests of 0.
var (
	namespaceSeries = map[string]promSeries{
		"kube_pod_container_resource_requests (cpu)": resourceQuery("sum by (namespace) ($requested)", "cpu"),
		"container_cpu_usage_seconds_total": func() promSeries {
			s := resourceQuery("sum by (namespace) ("+allCPU+")", "")
			s.nameless = true
			return s
		}(),
	}
	nodeSeries = map[string]promSeries{
		"kube_pod_container_resource_requests (cpu)": resourceQuery(
			"(sum by (node) ($requested) or $allocatable * 0) / $allocatable", "cpu"),
		"kube_pod_container_resource_requests (memory)": resourceQuery(
			"(sum by (node) ($requested) or $allocatable * 0) / $allocatable", "memory"),
		"kube_pod_container_resource_requests (gpu)": resourceQuery(
			`sum by (node) ($requested) or max by (node) (kube_node_info) * 0`, gpus),
	}
	clusterSeries = map[string]promSeries{
		"kube_pod_container_resource_requests (cpu)": resourceQuery("sum($requested) / sum($allocatable)", "cpu"),
		"kube_pod_container_resource_requests (memory)": resourceQuery(
			"sum($requested) / sum($allocatable)", "memory"),
		"container_cpu_usage_seconds_total": resourceQuery("sum("+allCPU+") / sum($allocatable)", "cpu"),
		"kube_node_info":                    plainSeries("count(max by (node) (kube_node_info))"),
	}
	claimSeries = map[string]promSeries{
		"kubelet_volume_stats_used_bytes": {nameless: true, expr: func(in promScope) string {
			return expand("max by (namespace, persistentvolumeclaim) (kubelet_volume_stats_used_bytes{$in}) / "+
				"max by (namespace, persistentvolumeclaim) (kubelet_volume_stats_capacity_bytes{$in} > 0)", in)
		}},
	}
)
