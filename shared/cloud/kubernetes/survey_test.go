package kubernetes_test

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// listFacts lists all kinds over a new connection and returns the facts of each object, by its uid without the
// cluster's. Denied listings are left out.
func (f *fixture) listFacts() map[string]cloud.Facts {
	f.Helper()
	conn := f.connect(f.account(kubernetestwin.Token))
	out := map[string]cloud.Facts{}
	for _, k := range f.provider.Kinds() {
		for page, first := "", true; first || page != ""; first = false {
			got, err := conn.List(f.Context(), k.Type, "cluster", page)
			if err != nil && cloud.ClassOf(err) != cloud.Denied {
				f.Fatalf("%s: %v", k.Type, err)
			}
			for _, r := range got.Resources {
				out[strings.TrimPrefix(r.UID, kubernetestwin.UID+"/")] = r.Facts
			}
			page = got.Next
		}
	}
	return out
}

// atHour is an hour of 1 March 2026, the day on which the planted objects were made.
func atHour(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }

func TestSurvey_FactsOfObjectsThatDependOnOthers(t *testing.T) {
	f := newFixture(t)
	f.Plant(morning)
	facts := f.listFacts()
	for _, tt := range []struct {
		at, fact string
		want     any
	}{
		{"good/deployments/web", "hpa", true},
		{"waste/deployments/alone", "hpa", false},
		{"good/deployments/web", "hpa_resource", []string{"cpu"}},
		{"waste/deployments/alone", "hpa_resource", []string{}},
		{"good/deployments/web", "pdb", true},
		{"waste/deployments/unguarded", "pdb", false},
		{"good/deployments/web", "service_count", 2.0},
		{"waste/deployments/alone", "service_count", 0.0},
		{"good/deployments/web", "vpa_auto", false},
		{"good/statefulsets/db", "vpa_auto", true},
		{"good/deployments/web", "restart_reason_oom", 0.0},
		{"waste/deployments/killed", "restart_reason_oom", 1.0},
		{"waste/statefulsets/heap", "restart_reason_oom", 1.0},
		{"good/daemonsets/agent", "node_cpu_share", 0.0125},
		{"waste/daemonsets/heavy", "node_cpu_share", 0.25},
		{"waste/daemonsets/heavy", "has_requests", true},
		{"waste/daemonsets/greedy", "has_requests", false},
		{"good/daemonsets/agent", "desired", 3.0},
		{"good", "quota", true},
		{"waste", "quota", false},
		{"good", "network_policy", true},
		{"waste", "network_policy", false},
		{"good", "pod_count", 2.0},
		{"good", "last_deploy_at", atHour(8)},
		{"/nodes/node-good", "workload_pods", 1.0},
		{"/nodes/node-empty", "workload_pods", 0.0},
		{"/nodes/node-good", "scale_down_blocked", true},
		{"/nodes/node-empty", "scale_down_blocked", false},
		{"/nodes/node-good", "gpu_allocatable", 1.0},
		{"/nodes/node-good", "kubelet_lag", 0.0},
		{"/nodes/node-old", "kubelet_lag", 3.0},
		{"/nodes/node-good", "not_ready_since", cloud.Epoch},
		{"/nodes/node-away", "not_ready_since", atHour(10)},
		{"/nodes/node-good", "pressure", []string{}},
		{"/nodes/node-full", "pressure", []string{"DiskPressure"}},
		{"/nodes/node-good", "unschedulable_since", cloud.Never},
		{"/nodes/node-cordoned", "unschedulable_since", atHour(9)},
		{"good/services/web", "selector_matches", 1.0},
		{"good/services/asleep", "selector_matches", 1.0},
		{"waste/services/nowhere", "selector_matches", 0.0},
		{"default/services/kubernetes", "selector_matches", 1.0},
		{"waste/services/open", "endpoint_count", 2.0},
		{"waste/services/edge", "endpoint_count", 0.0},
		{"waste/services/edge", "internal_lb", true},
		{"waste/services/open", "internal_lb", false},
		{"waste/services/open", "external_ip", true},
		{"good/services/web", "external_ip", false},
		{"good/services/inside", "source_ranges", 1.0},
		{"waste/services/edge", "namespace_lb_count", 2.0},
		{"good/services/web", "namespace_lb_count", 0.0},
		{"waste/services/edge", "first_of_group", true},
		{"waste/services/open", "first_of_group", false},
		{"good/ingresses/web", "tls", true},
		{"good/ingresses/balanced", "tls", true},
		{"waste/ingresses/plain", "tls", false},
		{"waste/ingresses/broken", "backend_missing", 1.0},
		{"good/ingresses/web", "backend_missing", 0.0},
		{"good/horizontalpodautoscalers/web", "target_exists", true},
		{"waste/horizontalpodautoscalers/lost", "target_exists", false},
		{"waste/horizontalpodautoscalers/fixed", "target_exists", true},
		{"waste/horizontalpodautoscalers/blind", "target_exists", true},
		{"waste/horizontalpodautoscalers/blind", "able", false},
		{"waste/horizontalpodautoscalers/lone", "min_replicas", 1.0},
		{"waste/poddisruptionbudgets/stuck", "blocked_since", atHour(8)},
		{"waste/poddisruptionbudgets/unused", "blocked_since", cloud.Since{}},
		{"good/poddisruptionbudgets/all", "blocked_since", cloud.Never},
		{"/persistentvolumes/pv-released", "released_at", atHour(8)},
		{"/persistentvolumes/pv-good", "released_at", cloud.Never},
		{"good/persistentvolumeclaims/data", "mounted_by", 1.0},
		{"good/persistentvolumeclaims/web-1-cache", "mounted_by", 1.0},
		{"waste/persistentvolumeclaims/orphan", "mounted_by", 0.0},
		{"good/persistentvolumeclaims/data", "unmounted_since", cloud.Never},
		{"waste/persistentvolumeclaims/orphan", "unmounted_since", cloud.Since{}},
		{"waste/persistentvolumeclaims/data-ring-3", "owner_scaled_down", true},
		{"waste/persistentvolumeclaims/orphan", "owner_scaled_down", false},
		{"good/persistentvolumeclaims/data", "size_gb", 10.0},
		{"waste/jobs/failed", "finished_at", time.Date(2026, 3, 1, 8, 5, 0, 0, time.UTC)},
		{"waste/jobs/endless", "finished_at", cloud.Epoch},
		{"good/jobs/nightly-29000000", "owner_cronjob", true},
		{"/clusterrolebindings/everything", "wildcard_role", true},
		{"/clusterrolebindings/viewer", "wildcard_role", false},
		{"good/rolebindings/deployer", "wildcard_role", false},
		{"good/rolebindings/deployer", "subject_missing", false},
		{"waste/rolebindings/left", "subject_missing", true},
		{"/clusterrolebindings/system:controller:switched-off", "subject_missing", false},
		{"/clusterrolebindings/everybody", "subjects", []string{"Group:system:unauthenticated"}},
		{"good/rolebindings/deployer", "subjects", []string{"ServiceAccount:good/deployer"}},
		{"good/rolebindings/deployer", "cluster_wide", false},
		{"waste/pods/no-image", "waiting_reason", "ImagePullBackOff"},
		{"waste/pods/waits", "pending_since", atHour(8)},
		{"waste/pods/bare", "pending_since", cloud.Never},
		{"/nodes/node-control", "workload_pods", 1.0},
		{"/persistentvolumes/pv-released", "disk", "vol-released"},
		{"/persistentvolumes/pv-good", "disk", ""},
		{"waste/persistentvolumeclaims/orphan", "disk", "vol-orphan"},
		{"good/persistentvolumeclaims/data", "disk", ""},
		{"/clusters/cluster", "node_count", 7.0},
		{"/clusters/cluster", "metrics_api", true},
		{"/clusters/cluster", "default_storage_expensive", true},
		{"/clusters/cluster", "autoscaler", false},
	} {
		if got := facts[tt.at][tt.fact]; !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s of %s is %v, want %v", tt.fact, tt.at, got, tt.want)
		}
	}
}

func TestSurvey_FactsThatAreDeniedSayWhichPermissionIsMissing(t *testing.T) {
	for _, tt := range []struct{ deny, at, facts string }{
		{"list horizontalpodautoscalers.autoscaling", "good/deployments/web", "hpa hpa_resource"},
		{"list poddisruptionbudgets.policy", "good/deployments/web", "pdb"},
		{"list verticalpodautoscalers.autoscaling.k8s.io", "good/statefulsets/db", "vpa_auto"},
		{"list services", "good/deployments/web", "service_count"},
		{"list services", "waste/ingresses/broken", "backend_missing"},
		{"list pods", "waste/statefulsets/heap", "restart_reason_oom"},
		{"list pods", "good/daemonsets/agent", "restart_reason_oom"},
		{"list nodes", "good/daemonsets/agent", "node_cpu_share"},
		{"list pods", "good", "pod_count"},
		{"list resourcequotas", "good", "quota"},
		{"list networkpolicies.networking.k8s.io", "good", "network_policy"},
		{"list pods", "good/persistentvolumeclaims/data", "mounted_by unmounted_since"},
		{"list statefulsets.apps", "good/persistentvolumeclaims/data", "owner_scaled_down"},
		{"list persistentvolumes", "good/persistentvolumeclaims/data", "disk"},
		{"list pods", "good/services/web", "selector_matches"},
		{"list statefulsets.apps", "waste/services/nowhere", "selector_matches"},
		{"list endpointslices.discovery.k8s.io", "waste/services/open", "endpoint_count"},
		{"list endpointslices.discovery.k8s.io", "default/services/kubernetes", "endpoint_count selector_matches"},
		{"list deployments.apps", "waste/horizontalpodautoscalers/lost", "target_exists"},
		{"list clusterroles.rbac.authorization.k8s.io", "/clusterrolebindings/viewer", "wildcard_role"},
		{"list serviceaccounts", "good/rolebindings/deployer", "subject_missing"},
		{"list nodes", "/clusters/cluster", "autoscaler node_count"},
		{"list deployments.apps", "/clusters/cluster", "autoscaler"},
		{"list storageclasses.storage.k8s.io", "/clusters/cluster", "default_storage_expensive"},
	} {
		t.Run(tt.at+" without "+tt.deny, func(t *testing.T) {
			f := newFixture(t)
			f.Plant(morning)
			f.Deny(tt.deny)
			facts := f.listFacts()[tt.at]
			var want []string
			for fact := range strings.FieldsSeq(tt.facts) {
				want = append(want, fact+": "+tt.deny+": Forbidden")
				if v, told := facts[fact]; told {
					t.Errorf("%s is %v", fact, v)
				}
			}
			if got := facts[cloud.Unread]; !reflect.DeepEqual(got, want) {
				t.Errorf("unread: %v, want %v", got, want)
			}
		})
	}
}

// A cluster that does not serve vertical autoscalers has none.
func TestSurvey_FactsOfAClusterThatServesLess(t *testing.T) {
	f := newFixture(t)
	f.Plant(morning)
	f.Without = []string{"autoscaling.k8s.io", "discovery.k8s.io", "metrics.k8s.io"}
	facts := f.listFacts()
	if got := facts["good/statefulsets/db"]["vpa_auto"]; got != false {
		t.Errorf("vpa_auto is %v without vertical autoscalers", got)
	}
	if got := facts["/clusters/cluster"]["metrics_api"]; got != false {
		t.Errorf("metrics_api is %v without a metrics server", got)
	}
	want := []string{"endpoint_count: list endpointslices.discovery.k8s.io: NotFound"}
	if got := facts["good/services/web"][cloud.Unread]; !reflect.DeepEqual(got, want) {
		t.Errorf("unread: %v, want %v", got, want)
	}
}

func TestSurvey_AClusterThatHidesItsVersionLeavesTheAgeOfKubeletsUnknown(t *testing.T) {
	f := newFixture(t)
	f.Plant(morning)
	f.record(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		f.ServeHTTP(w, r)
	}))
	got, _, err := f.listOthers()
	f.must(err)
	facts := got[kubernetestwin.UID+"//nodes/node-old"].Facts
	want := []string{"kubelet_lag: get /version: Forbidden"}
	if _, told := facts["kubelet_lag"]; told || !reflect.DeepEqual(facts[cloud.Unread], want) {
		t.Errorf("facts %v, want %v", facts, want)
	}
}

func TestSurvey_ListsEachResourceOnceForAllKinds(t *testing.T) {
	f := newFixture(t)
	f.Plant(morning)
	f.Page = 5
	f.ForgetCalls()
	f.listFacts()
	for op, want := range map[string]int{ // pages of five
		"list pods": 3, "list services": 4, "list endpointslices": 1, "list serviceaccounts": 1,
		"list clusterroles.": 1, "list horizontalpodautoscalers": 4,
	} {
		if got := len(f.Calls(op)); got != want {
			t.Errorf("%d calls of %s, want %d", got, op, want)
		}
	}
	t.Logf("%d calls", len(f.Calls("")))
}

// A failure that may pass is not taken for the absence of objects, and does not hide the namespaces. Claims have a time
// of our own, which must not begin anew because of it, so that their listing fails.
func TestSurvey_AFailureThatMayPassIsReadAgain(t *testing.T) {
	f := newFixture(t)
	f.Plant(morning)
	f.AddFault(kubernetestwin.Fault{Op: "list pods", Code: 503, Reason: "ServiceUnavailable", Times: 10})
	good := func() cloud.Facts {
		got, err := f.conn.List(t.Context(), namespace, "cluster", "")
		f.must(err)
		isGood := func(r cloud.Resource) bool { return r.Name == "good" }
		return got.Resources[slices.IndexFunc(got.Resources, isGood)].Facts
	}
	want := []string{"pod_count: list pods: ServiceUnavailable"}
	if facts := good(); !reflect.DeepEqual(facts[cloud.Unread], want) || facts["quota"] != true {
		t.Errorf("facts %v, want %v", facts, want)
	}
	_, _, err := f.listOthers()
	f.wantClass("the claims", err, cloud.Transient)
	if facts := good(); facts["pod_count"] != 2.0 {
		t.Errorf("facts %v, want two pods", facts)
	}
}

// A cluster with more pods than are read is listed without the facts that need them.
func TestSurvey_TooManyObjectsLeaveOutTheFactsThatNeedThem(t *testing.T) {
	f := newFixture(t)
	f.Plant(morning)
	f.record(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/pods" { // it never ends
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"kind":"PodList","metadata":{"continue":"more"},"items":[{}]}`)
			return
		}
		f.ServeHTTP(w, r)
	}))
	got, err := f.conn.List(t.Context(), statefulSet, "cluster", "")
	f.must(err)
	for _, r := range got.Resources {
		want := []string{"restart_reason_oom: list pods: TooMany"}
		if !reflect.DeepEqual(r.Facts[cloud.Unread], want) {
			t.Errorf("%s: facts %v, want %v", r.Name, r.Facts, want)
		}
	}
	if len(got.Resources) != 3 {
		t.Errorf("%d stateful sets, want three", len(got.Resources))
	}
	others, _, err := f.listOthers()
	f.must(err)
	if _, told := others[kubernetestwin.UID+"//nodes/node-good"].Facts["workload_pods"]; told {
		t.Error("a node has a number of pods that was not counted")
	}
}

func TestSurvey_IsReadAgainWhenItIsOld(t *testing.T) {
	f := newFixture(t)
	f.Plant(morning)
	count := func() (pods any) {
		got, err := f.conn.List(t.Context(), namespace, "cluster", "")
		f.must(err)
		for _, r := range got.Resources {
			if r.Name == "tests" {
				pods = r.Facts["pod_count"]
			}
		}
		return pods
	}
	before := count()
	f.Remove("pods", "tests/run-1")
	soon := count()
	f.clk.Advance(5 * time.Minute)
	if later := count(); before != 1.0 || soon != 1.0 || later != 0.0 {
		t.Errorf("%v pods, then %v, and %v five minutes later; want 1, 1 and 0", before, soon, later)
	}
}

// An account with 100,000 pods must not store 100,000 resources.
func TestSurvey_ListsPodsThatARuleConcernsAndABoundedNumberOfThem(t *testing.T) {
	f := newFixture(t)
	f.Plant(morning)
	pods := func() (out []string) {
		for at := range f.listFacts() {
			if ns, name, is := strings.Cut(at, "/pods/"); is {
				out = append(out, ns+"/"+name)
			}
		}
		slices.Sort(out)
		return out
	}
	if got := fmt.Sprint(pods()); got != "[waste/bare waste/evicted waste/no-image waste/waits]" {
		t.Errorf("pods %s", got)
	}
	for i := range kubernetes.MaxNotable + 10 {
		f.Add("pods", fields{
			"metadata": fields{"namespace": "waste", "name": fmt.Sprint("evicted-", i)},
			"status":   fields{"phase": "Failed", "reason": "Evicted"},
		})
	}
	if got := len(pods()); got != kubernetes.MaxNotable {
		t.Errorf("%d pods, want %d", got, kubernetes.MaxNotable)
	}
}

// A node autoscaler is seen by its Deployment or its nodes. AKS and GKE run theirs where nothing tells of it.
func TestSurvey_NodeAutoscalersAreSeenWhereTheyRun(t *testing.T) {
	for name, tt := range map[string]struct {
		node fields
		more string // a Deployment
		want any    // nil for an unknown fact
	}{
		"nothing":             {fields{"spec": fields{"providerID": "aws:///a/i-1"}}, "", false},
		"cluster-autoscaler":  {fields{"spec": fields{"providerID": "aws:///a/i-1"}}, "cluster-autoscaler-aws", true},
		"a cluster of Google": {fields{"spec": fields{"providerID": "gce://p/z/i"}}, "", nil},
		"a node of Karpenter": {fields{"labels": fields{"karpenter.sh/nodepool": "spot"}}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Add("nodes", fields{
				"metadata": fields{"name": "n-1", "labels": tt.node["labels"]}, "spec": tt.node["spec"],
			})
			if tt.more != "" {
				f.Add("deployments", kubernetestwin.Named("kube-system", tt.more, 1))
			}
			if got := f.listFacts()["/clusters/cluster"]["autoscaler"]; got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
