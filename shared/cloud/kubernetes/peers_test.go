package kubernetes_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// realCluster is a provider in front of a real control plane, connected as the user of the ClusterRole that customers
// are told to make.
type realCluster struct {
	*plane
	clk      hasty
	provider *kubernetes.Provider
	conn     cloud.Conn
	uid      string
}

func newReal(t *testing.T) *realCluster {
	t.Helper()
	r := &realCluster{plane: controlPlane(t), clk: hasty{clock.NewManual(morning)}}
	r.provider = kubernetes.New(kubernetes.Options{Clock: r.clk, PrivateAddresses: true})
	c, err := r.provider.Connect(t.Context(), r.account(userToken))
	if err != nil {
		t.Fatal(err)
	}
	r.conn = c
	if r.uid, err = c.Identify(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *realCluster) account(token string) cloud.Account {
	return cloud.Account{
		ID: "ca_1", Provider: "kubernetes", AuthMethod: "kubeconfig",
		Credentials: map[string]string{"kubeconfig": r.kubeconfig(token)},
	}
}

// settle gives the controllers a moment to work; the provider's clock runs faster.
func (r *realCluster) settle() {
	r.markReady()
	time.Sleep(50 * time.Millisecond)
	r.clk.Advance(10 * time.Second)
}

// deploy makes a workload in a namespace, which is made too, and returns its uid.
func (r *realCluster) deploy(resource, ns, name string, replicas int, more fields) string {
	r.Helper()
	_ = r.try("POST", "/api/v1/namespaces", fields{"metadata": fields{"name": ns}}, nil) // it may be there
	labels := fields{"app": name}
	spec := fields{
		"replicas": replicas, "selector": fields{"matchLabels": labels}, "template": fields{
			"metadata": fields{"labels": labels}, "spec": fields{
				"terminationGracePeriodSeconds": 0, "automountServiceAccountToken": false,
				"containers": []fields{{"name": "main", "image": "example.invalid/none"}},
			},
		},
	}
	switch resource {
	case "statefulsets":
		spec["podManagementPolicy"] = "Parallel"
	case "daemonsets":
		delete(spec, "replicas")
	}
	meta := fields{"name": name, "labels": labels}
	for k, v := range more {
		if k == "annotations" {
			meta[k] = v
		} else {
			spec[k] = v
		}
	}
	r.call("POST", "/apis/apps/v1/namespaces/"+ns+"/"+resource, fields{"metadata": meta, "spec": spec}, nil)
	return r.uid + "/" + ns + "/" + resource + "/" + name
}

func (r *realCluster) suspendable(ns, name string) string {
	r.Helper()
	_ = r.try("POST", "/api/v1/namespaces", fields{"metadata": fields{"name": ns}}, nil) // it may be there
	r.call("POST", "/apis/batch/v1/namespaces/"+ns+"/cronjobs", fields{"metadata": fields{"name": name}, "spec": fields{
		"schedule": "0 3 * * *", "jobTemplate": fields{"spec": fields{"template": fields{"spec": fields{
			"restartPolicy": "Never", "containers": []fields{{"name": "main", "image": "example.invalid/none"}},
		}}}},
	}}, nil)
	return r.uid + "/" + ns + "/cronjobs/" + name
}

func claims(whenScaled string) fields {
	return fields{
		"serviceName":                          "x",
		"persistentVolumeClaimRetentionPolicy": fields{"whenScaled": whenScaled, "whenDeleted": "Retain"},
		"volumeClaimTemplates": []fields{{"metadata": fields{"name": "data"}, "spec": fields{
			"accessModes": []string{"ReadWriteOnce"}, "resources": fields{"requests": fields{"storage": "1Gi"}},
		}}},
	}
}

func TestKubernetesOverARealControlPlaneKeepsTheContractOfClouds(t *testing.T) {
	r := newReal(t)
	refused := r.account("token-of-nobody")
	deployments := cloudtest.Group{Kind: deployment, Region: "cluster", Missing: r.uid + "/shop/deployments/nothing"}
	for i, name := range []string{"web", "api", "worker"} {
		deployments.Free = append(deployments.Free, r.deploy("deployments", "shop", name, i+1, nil))
	}
	deployments.Free = append(deployments.Free,
		r.deploy("deployments", "shop", "managed", 2,
			fields{"annotations": fields{"argocd.argoproj.io/tracking-id": "shop:x"}}))
	deployments.Tied = map[string]string{r.deploy("deployments", "kube-system", "dns", 1,
		nil): "belongs to the cluster itself"}
	stateful := cloudtest.Group{
		Kind: statefulSet, Region: "cluster", Missing: r.uid + "/data/statefulsets/nothing",
		Free: []string{
			r.deploy("statefulsets", "data", "db", 2, nil),
			r.deploy("statefulsets", "data", "queue", 1, claims("Retain")),
		},
	}
	stateful.Tied = map[string]string{r.deploy("statefulsets", "data", "scratch", 1,
		claims("Delete")): "volume claims would be deleted"}
	jobs := cloudtest.Group{
		Kind: cronJobKind, Region: "cluster", Missing: r.uid + "/jobs/cronjobs/nothing",
		Free: []string{r.suspendable("jobs", "nightly"), r.suspendable("jobs", "hourly")},
	}
	whole := cloudtest.Group{
		Kind: namespace, Region: "cluster", Missing: r.uid + "/nowhere",
		Free: []string{r.uid + "/shop", r.uid + "/jobs"},
		Tied: map[string]string{
			r.uid + "/data":    "StatefulSet scratch: its volume claims would be deleted",
			r.uid + "/default": "nothing that can be stopped",
		},
	}
	for _, ns := range []string{"kube-system", "kube-public", "kube-node-lease"} {
		whole.Tied[r.uid+"/"+ns] = "belongs to the cluster itself"
	}
	cloudtest.Run(t, r.provider, cloudtest.Fixture{
		Account: r.account(userToken), NativeID: r.uid, Refused: &refused, Settle: r.settle,
		Groups: []cloudtest.Group{deployments, stateful, jobs, whole},
		Deny: func(on bool) {
			if on {
				r.grant("read_only")
			} else {
				r.grant("scale")
			}
		},
	})
}

// TestKubernetesTrapsOverARealControlPlane compares the behaviour of the twin with that of a real cluster.
func TestKubernetesTrapsOverARealControlPlane(t *testing.T) {
	r := newReal(t)
	t.Run("of twenty stops at once one changes it and all succeed", func(t *testing.T) { r.twentyStops(t) })
	t.Run("an autoscaler leaves 0 alone and raises what starts below its minimum", func(t *testing.T) {
		r.autoscaled(t)
	})
	t.Run("a policy that forbids a scale-down is told with the budget", func(t *testing.T) { r.forbidden(t) })
	t.Run("what no kind lists is found by its name and labels alone", func(t *testing.T) { r.listsOthers(t) })
	t.Run("a DaemonSet leaves all nodes and comes back with its selector", func(t *testing.T) { r.daemons(t) })
	t.Run("a namespace stops in order and wakes nothing that was off", func(t *testing.T) { r.wholeNamespace(t) })
}

// TestKubernetesOnboardingOverARealControlPlane applies the manifest that customers are told to apply, and connects
// with the token that the cluster then makes: all that it is asked for is granted, and no more is.
func TestKubernetesOnboardingOverARealControlPlane(t *testing.T) {
	r := newReal(t)
	paths := map[string]string{
		"Namespace": "/api/v1/namespaces", "ServiceAccount": "/api/v1/namespaces/lamplighter/serviceaccounts",
		"Secret":             "/api/v1/namespaces/lamplighter/secrets",
		"ClusterRole":        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
		"ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
	}
	for _, name := range []string{"clusterrolebindings", "clusterroles"} { // of the user of the other tests
		r.call("DELETE", "/apis/rbac.authorization.k8s.io/v1/"+name+"/lamplighter", fields{}, nil)
	}
	items, _ := r.onboarded("kubernetes.json")["items"].([]any)
	for _, item := range items {
		o, _ := item.(fields)
		r.call("POST", paths[fmt.Sprint(o["kind"])], o, nil)
	}
	var secret struct{ Data struct{ Token []byte } }
	r.await("the token", func() bool {
		return r.try("GET", paths["Secret"]+"/lamplighter", nil, &secret) == nil && len(secret.Data.Token) > 0
	})
	c, err := r.provider.Connect(t.Context(), r.account(string(secret.Data.Token)))
	if err != nil {
		t.Fatal(err)
	}
	var all []cloud.Permission
	r.await("the role", func() bool {
		if all, err = c.Permissions(t.Context()); err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(all, func(p cloud.Permission) bool {
			return p.Action == "patch deployments.apps" && p.Status == "granted"
		})
	})
	level := kubernetes.ListRequiredActions().StartStop
	for _, p := range all {
		granted := slices.Contains(level, p.Action)
		if want := map[bool]string{true: "granted", false: "denied"}[granted]; p.Status != want {
			t.Errorf("%s of %s is %s; want %s: the manifest is of level start_stop", p.Action, p.Capability, p.Status,
				want)
		}
	}
	u := r.deploy("deployments", "onboarded", "web", 1, nil)
	r.conn = c
	r.until(t, deployment, u, cloud.Running)
	if err := r.act(t, cloud.Stop, deployment, cloud.Target{UID: u}); err != nil {
		t.Error(err)
	}
	if err := r.mayReadSecrets(string(secret.Data.Token)); err == nil {
		t.Error("the credentials open the secrets of the cluster")
	}
}

// mayReadSecrets lists the secrets of the cluster with the token.
func (r *realCluster) mayReadSecrets(token string) error {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.url+"/api/v1/secrets", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}

func (r *realCluster) twentyStops(t *testing.T) {
	t.Helper()
	u := r.deploy("deployments", "twenty", "web", 3, nil)
	r.until(t, deployment, u, cloud.Running)
	before := r.generation("twenty", "web")
	errs := make([]error, 20)
	var g sync.WaitGroup
	for i := range errs {
		g.Go(func() {
			errs[i] = r.conn.Act(t.Context(), cloud.Stop, deployment, "cluster", []cloud.Target{{UID: u}})[0].Err
		})
	}
	g.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("stop %d: %v", i, err)
		}
	}
	if after := r.generation("twenty", "web"); after != before+1 {
		t.Errorf("generation went from %d to %d; want one change of what is wanted", before, after)
	}
	r.until(t, deployment, u, cloud.Stopped)
}

func (r *realCluster) generation(ns, name string) int {
	r.Helper()
	var o struct{ Metadata struct{ Generation int } }
	r.call("GET", "/apis/apps/v1/namespaces/"+ns+"/deployments/"+name, nil, &o)
	return o.Metadata.Generation
}

func (r *realCluster) until(t *testing.T, kind, uid string, want cloud.Status) cloud.State {
	t.Helper()
	var last []cloud.State
	for range 300 {
		var err error
		if last, err = r.conn.Read(t.Context(), kind, "cluster", []string{uid}); err != nil {
			t.Fatal(err)
		}
		if len(last) == 1 && last[0].Status == want {
			return last[0]
		}
		r.settle()
	}
	t.Fatalf("%s did not become %s: %+v", uid, want, last)
	return cloud.State{}
}

func (r *realCluster) act(t *testing.T, v cloud.Verb, kind string, target cloud.Target) error {
	t.Helper()
	return r.conn.Act(t.Context(), v, kind, "cluster", []cloud.Target{target})[0].Err
}

func (r *realCluster) autoscaled(t *testing.T) {
	t.Helper()
	u := r.deploy("deployments", "scaled", "web", 1, nil)
	r.until(t, deployment, u, cloud.Running)
	if err := r.act(t, cloud.Stop, deployment, cloud.Target{UID: u}); err != nil {
		t.Fatal(err)
	}
	r.call("POST", "/apis/autoscaling/v2/namespaces/scaled/horizontalpodautoscalers",
		fields{"metadata": fields{"name": "web"}, "spec": fields{
			"scaleTargetRef": fields{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "minReplicas": 2,
			"maxReplicas": 4,
		}}, nil)
	for range 40 {
		r.settle()
	}
	r.until(t, deployment, u, cloud.Stopped)
	if err := r.act(t, cloud.Start, deployment, cloud.Target{UID: u}); err != nil {
		t.Fatal(err)
	}
	if s := r.until(t, deployment, u, cloud.Running); s.Native != "2 replicas" {
		t.Errorf("it started with %s; want the 2 that its autoscaler keeps", s.Native)
	}
}

func (r *realCluster) forbidden(t *testing.T) {
	t.Helper()
	u := r.deploy("deployments", "guarded", "web", 2, nil)
	r.call("POST", "/apis/policy/v1/namespaces/guarded/poddisruptionbudgets",
		fields{"metadata": fields{"name": "web"}, "spec": fields{
			"minAvailable": 2, "selector": fields{"matchLabels": fields{"app": "web"}},
		}}, nil)
	const admission = "/apis/admissionregistration.k8s.io/v1/"
	r.call("POST", admission+"validatingadmissionpolicies", fields{"metadata": fields{"name": "floor"}, "spec": fields{
		"failurePolicy": "Fail", "matchConstraints": fields{"resourceRules": []fields{{
			"apiGroups": []string{"apps"}, "apiVersions": []string{"v1"}, "operations": []string{"UPDATE"},
			"resources": []string{"deployments"},
		}}},
		"validations": []fields{{
			"expression": "object.metadata.namespace != 'guarded' || object.spec.replicas >= 2",
			"message":    "below the floor",
		}},
	}}, nil)
	r.call("POST", admission+"validatingadmissionpolicybindings",
		fields{"metadata": fields{"name": "floor"}, "spec": fields{
			"policyName": "floor", "validationActions": []string{"Deny"},
		}}, nil)
	r.await("the policy", func() bool {
		return r.try("PATCH", "/apis/apps/v1/namespaces/guarded/deployments/web?dryRun=All",
			fields{"spec": fields{"replicas": 0}}, nil) != nil
	})
	err := r.act(t, cloud.Stop, deployment, cloud.Target{UID: u})
	if err == nil || cloud.ClassOf(err) != cloud.Unsupported {
		t.Fatalf("stop: %v of class %d; want it refused as unsupported", err, cloud.ClassOf(err))
	}
	if s := err.Error(); !strings.Contains(s, "below the floor") ||
		!strings.Contains(s, "PodDisruptionBudget web (minAvailable 2)") {
		t.Errorf("%s; want the policy's words and the budget", s)
	}
}

func (r *realCluster) listsOthers(t *testing.T) {
	t.Helper()
	r.deploy("deployments", "others", "web", 0, nil)
	r.call("POST", "/api/v1/namespaces/others/services", fields{
		"metadata": fields{"name": "web", "labels": fields{"team": "shop"}},
		"spec":     fields{"ports": []fields{{"port": 80}}},
	}, nil)
	got, err := r.conn.List(t.Context(), cloud.KubernetesOthers, "cluster", "")
	if err != nil || got.Next != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	types := map[string]int{}
	for _, o := range got.Resources {
		types[o.Type]++
		if o.UID == r.uid+"/others/services/web" &&
			(o.Type != "kubernetes-service" || o.Tags["team"] != "shop" || o.CreatedAt.IsZero()) {
			t.Errorf("%+v", o)
		}
	}
	if types["kubernetes-service"] < 2 || types["kubernetes-priorityclass"] < 2 {
		t.Errorf("%v; want services and priority classes", types)
	}
}

// daemons has two nodes without kubelets, and a DaemonSet for one of them.
func (r *realCluster) daemons(t *testing.T) {
	t.Helper()
	for name, disk := range map[string]string{"node-1": "ssd", "node-2": "none"} {
		r.call("POST", "/api/v1/nodes", fields{"metadata": fields{"name": name, "labels": fields{"disk": disk}}}, nil)
		// that it is not ready, which a kubelet would end
		r.call("PATCH", "/api/v1/nodes/"+name, fields{"spec": fields{"taints": nil}}, nil)
	}
	u := r.deploy("daemonsets", "daemons", "agent", 0,
		fields{"annotations": fields{"lamplighter.dev/allow-stop": "true"}})
	path := "/apis/apps/v1/namespaces/daemons/daemonsets/agent"
	r.call("PATCH", path,
		fields{"spec": fields{"template": fields{"spec": fields{"nodeSelector": fields{"disk": "ssd"}}}}}, nil)
	before := r.until(t, daemonSet, u, cloud.Running)
	if err := r.act(t, cloud.Stop, daemonSet, cloud.Target{UID: u}); err != nil {
		t.Fatal(err)
	}
	r.until(t, daemonSet, u, cloud.Stopped)
	if err := r.act(t, cloud.Start, daemonSet, cloud.Target{UID: u, Snapshot: before.Snapshot}); err != nil {
		t.Fatal(err)
	}
	after := r.until(t, daemonSet, u, cloud.Running)
	var o fields
	r.call("GET", path, nil, &o)
	got := at(o, "spec", "template", "spec", "nodeSelector")
	if len(got) != 1 || got["disk"] != "ssd" || string(after.Snapshot) != string(before.Snapshot) ||
		after.Native != "on 1 nodes" {
		t.Errorf("it came back as %+v with the selector %v; want it as it was: %+v", after, got, before)
	}
}

func (r *realCluster) wholeNamespace(t *testing.T) {
	t.Helper()
	r.deploy("statefulsets", "whole", "db", 2, nil)
	r.deploy("deployments", "whole", "web", 3, nil)
	r.deploy("deployments", "whole", "asleep", 0, nil)
	r.suspendable("whole", "nightly")
	u := r.uid + "/whole"
	before := r.until(t, namespace, u, cloud.Running)
	r.finish(t, cloud.Stop, cloud.Target{UID: u})
	r.finish(t, cloud.Start, cloud.Target{UID: u, Snapshot: before.Snapshot})
	after := r.until(t, namespace, u, cloud.Running)
	if string(after.Snapshot) != string(before.Snapshot) {
		t.Errorf("it came back as %s; want %s", after.Snapshot, before.Snapshot)
	}
}

// finish does an act as the executor does.
func (r *realCluster) finish(t *testing.T, v cloud.Verb, target cloud.Target) {
	t.Helper()
	for range 300 {
		got, err := r.conn.Read(t.Context(), namespace, "cluster", []string{target.UID})
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		switch s := got[0]; {
		case s.Status == v.WantedStatus():
			t.Logf("%s: %s", v, fmt.Sprint(s.Steps))
			return
		case s.Status != cloud.Starting && s.Status != cloud.Stopping:
			if err := r.act(t, v, namespace, target); err != nil && cloud.ClassOf(err) != cloud.Moving {
				t.Fatal(err)
			}
		}
		r.settle()
	}
	t.Fatalf("%s did not end", v)
}

// A HorizontalPodAutoscaler controller runs beside, which keeps the replicas between the bounds that it reads.
func TestAutoscaling_OverARealControlPlaneKeepsTheContract(t *testing.T) {
	r := newReal(t)
	scaled := func(name string, spec fields) cloudtest.Autoscaled {
		u := r.deploy("deployments", "scaled", name, 2, nil)
		if spec != nil {
			spec["scaleTargetRef"] = fields{"kind": "Deployment", "name": name, "apiVersion": "apps/v1"}
			r.call("POST", "/apis/autoscaling/v2/namespaces/scaled/horizontalpodautoscalers",
				fields{"metadata": fields{"name": name}, "spec": spec}, nil)
		}
		path := "/apis/apps/v1/namespaces/scaled/deployments/" + name
		return cloudtest.Autoscaled{
			Kind: deployment, Region: "cluster", UID: u, Missing: u + "-not", Unscaled: statefulSet, Fixed: spec == nil,
			Other: func(*testing.T) {
				r.await("a change beside the controllers", func() bool {
					var o fields
					r.call("GET", path, nil, &o)
					at(o, "spec")["replicas"] = at(o, "spec")["replicas"].(float64) + 1
					return r.try("PUT", path, o, nil) == nil
				})
			},
			Custom: func(t *testing.T) string {
				t.Helper()
				var o fields
				if spec != nil {
					r.call("GET", "/apis/autoscaling/v2/namespaces/scaled/horizontalpodautoscalers/"+name, nil, &o)
				}
				return others(t, o)
			},
		}
	}
	cloudtest.Run(t, r.provider, cloudtest.Fixture{
		Account: r.account(userToken), NativeID: r.uid, Settle: r.settle,
		Autoscaled: []cloudtest.Autoscaled{
			scaled("bare", nil), scaled("plain", fields{"maxReplicas": 9}),
			scaled("rich", richHPA()),
		},
	})
}
