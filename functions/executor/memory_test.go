package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clocktest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// doBeside submits and drives an action beside the controllers of a cluster, and demands that it succeeds.
func (w *fixture) doBeside(tw *kubernetestwin.Cluster, r inventory.Resource, verb cloud.Verb) execution.Action {
	w.Helper()
	a := w.driveBeside(tw, w.submit(r, verb))
	if a.Status != execution.Succeeded {
		w.Fatalf("%s of %s: %s %s", verb, r.UID, a.Status, a.ErrorMessage)
	}
	return a
}

// newOwned returns a cluster and a Deployment of 2 replicas in it.
func newOwned(t *testing.T) (*fixture, *kubernetestwin.Cluster, inventory.Resource) {
	t.Helper()
	w, tw := newNamespace(t)
	w.resources = nil
	w.listResources(cloud.KubernetesDeployment, kubernetes.Region)
	return w, tw, w.pick(cloud.KubernetesDeployment, cloud.Running)
}

func scaleByHand(tw *kubernetestwin.Cluster, at string, replicas ...int) {
	for _, n := range replicas {
		tw.Change("deployments", at, func(o map[string]any) { o["spec"].(map[string]any)["replicas"] = n })
		tw.Settle()
		tw.Settle()
	}
}

func (w *fixture) wantReplicas(tw *kubernetestwin.Cluster, at string, want int64) {
	w.Helper()
	if got := kubernetestwin.Replicas(tw.Get("deployments", at)); got != want {
		w.Errorf("%s has %d replicas; want %d", at, got, want)
	}
}

func TestMemory_OfAWorkloadEndsWithItsStart(t *testing.T) {
	for name, byHand := range map[string][]int{
		"nobody touches it":                             nil,
		"its owner starts it before us":                 {3},
		"its owner starts it and switches it off again": {3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, tw, web := newOwned(t)
			w.doBeside(tw, web, cloud.Stop)
			scaleByHand(tw, "shop/web", byHand...)
			w.doBeside(tw, web, cloud.Start)
			want := int64(2)
			if n := len(byHand); n > 0 {
				want = int64(byHand[n-1])
			}
			w.wantReplicas(tw, "shop/web", want)
			if a := kubernetestwin.Annotations(tw.Get("deployments", "shop/web")); len(a) != 0 {
				t.Errorf("started, it carries %v", a)
			}
			scaleByHand(tw, "shop/web", 5, 0) // for good
			w.doBeside(tw, web, cloud.Stop)
			w.doBeside(tw, web, cloud.Start)
			w.wantReplicas(tw, "shop/web", 0)
		})
	}
}

func TestMemory_OfTwoStopsIsThatOfTheFirst(t *testing.T) {
	w, tw, web := newOwned(t)
	for _, verb := range []cloud.Verb{cloud.Stop, cloud.Stop, cloud.Start} {
		w.doBeside(tw, web, verb)
	}
	w.wantReplicas(tw, "shop/web", 2)
}

// A namespace with everything off could be stopped and not started.
func TestMemory_ANamespaceWithEverythingOffIsStoppedAndStarted(t *testing.T) {
	w, tw := newNamespace(t)
	tw.Add("namespaces", map[string]any{"metadata": map[string]any{"name": "idle"}})
	tw.Add("deployments", kubernetestwin.Named("idle", "asleep", 0))
	w.resources = nil
	w.listResources(cloud.KubernetesNamespace, kubernetes.Region)
	idle := w.resources[slices.IndexFunc(w.resources, func(r inventory.Resource) bool { return r.Name == "idle" })]
	w.doBeside(tw, idle, cloud.Stop)
	left := func(l execution.Log) bool { return l.Message == "the resource is left off: "+offBefore }
	if a := w.doBeside(tw, idle, cloud.Start); !slices.ContainsFunc(a.Logs, left) {
		t.Errorf("its log is %+v; want that it is left off", a.Logs)
	}
	w.wantReplicas(tw, "idle/asleep", 0)
	if n := len(tw.Calls("patch")); n != 0 {
		t.Errorf("%d changes were made", n)
	}
}

// The sizes of the clouds' own groups are remembered in the same way.
func TestMemory_OfAGroupEndsWithItsStart(t *testing.T) {
	for _, kind := range []string{cloud.AWSASG, cloud.AWSECS, cloud.AWSEKSNodegroup} {
		t.Run(kind, func(t *testing.T) {
			w := newFixture(t, map[string]string{"size": "400", "stopped": "0.3"})
			w.stopsAndStarts(w.pick(kind, cloud.Stopped), cloud.Stopped) // it has never been run
			g := w.pick(kind, cloud.Running)
			w.stopsAndStarts(g, cloud.Running)
			none := int64(0)
			w.Must(w.conn.Scale(w.ctx, g.Type, g.Region, g.UID, cloud.Capacity{Min: &none, Desired: &none})) // for good
			w.Clock.Advance(time.Hour)
			w.stopsAndStarts(g, cloud.Stopped)
		})
	}
}

// stopsAndStarts stops a resource and starts it, and demands how it is then.
func (w *fixture) stopsAndStarts(r inventory.Resource, want cloud.Status) {
	w.Helper()
	for _, verb := range []cloud.Verb{cloud.Stop, cloud.Start} {
		if a := w.do(r, verb); a.Status != execution.Succeeded {
			w.Fatalf("%s: %s %s", verb, a.Status, a.ErrorMessage)
		}
	}
	if got := w.state(r); got != want {
		w.Errorf("it is %s after a stop and a start; want %s", got, want)
	}
}

// A start that dies after it marked the snapshot and before its own end leaves the resource off when it is resumed.
func TestMemory_AStartThatDiesBeforeItsEndLeavesItOffAllTheSame(t *testing.T) {
	w, tw, web := newOwned(t)
	scaleByHand(tw, "shop/web", 0)
	w.doBeside(tw, web, cloud.Stop)
	a := w.submit(web, cloud.Start)
	w.Put(snapshotKey(org, web.UID), snapshot{ActionID: "act_1", Snapshot: cloud.WasOff, UsedBy: a.ID})
	if a = w.driveBeside(tw, a); a.Status != execution.Succeeded {
		t.Errorf("%s %s", a.Status, a.ErrorMessage)
	}
	w.wantReplicas(tw, "shop/web", 0)
	if a = w.driveBeside(tw, w.submit(web, cloud.Start)); a.Status != execution.Failed {
		t.Errorf("a further start %s; want it to say that no size is remembered", a.Status)
	}
}

// apartment is a cluster of namespaces with 6 Deployments, 2 StatefulSets and 2 CronJobs each.
func apartment(t *testing.T, namespaces int) (*fixture, *kubernetestwin.Cluster) {
	t.Helper()
	w, tw := newNamespace(t)
	for n := range namespaces {
		ns := fmt.Sprintf("flat-%03d", n)
		tw.Add("namespaces", map[string]any{"metadata": map[string]any{"name": ns}})
		for i := range 8 {
			tw.Add([]string{"deployments", "statefulsets"}[i/6], kubernetestwin.Named(ns, fmt.Sprint("web-", i), 2))
		}
		for i := range 2 {
			tw.Add("cronjobs", map[string]any{
				"metadata": map[string]any{"namespace": ns, "name": fmt.Sprint("job-", i)},
				"spec":     map[string]any{"suspend": false},
			})
		}
	}
	w.resources = nil
	tw.Remove("namespaces", "shop")
	return w, tw
}

// moving is a clock on which waiting takes no time, and lets the controllers of a cluster work meanwhile.
type moving struct {
	clocktest.Skipping
	tw *kubernetestwin.Cluster
}

// Sleep moves the clock by d, and with a wait for the cluster, not for a token, the cluster until nothing in it
// moves.
func (m moving) Sleep(ctx context.Context, d time.Duration) error {
	for range 4 {
		if d >= time.Second {
			m.tw.Settle()
		}
	}
	return m.Skipping.Sleep(ctx, d)
}

// withMoving has every wait of the executor and of its provider let the cluster work.
func (w *fixture) withMoving(tw *kubernetestwin.Cluster) {
	p := w.e.p.Clone()
	c := moving{clocktest.Skipping{Manual: w.Clock}, tw}
	p.Clock = c
	w.e = New(p, cloud.Providers{"kubernetes": kubernetes.New(kubernetes.Options{Clock: c, PrivateAddresses: true})})
}

// The limit is 2.5 calls a workload, for starts and for stops, whether the workloads are in one run or spread over
// many.
func TestKubernetes_TakesFewCallsForEachWorkload(t *testing.T) {
	for _, c := range []struct {
		name, kind            string
		namespaces, workloads int
	}{
		{"one namespace of 10", cloud.KubernetesNamespace, 1, 10},
		{"100 namespaces of 10", cloud.KubernetesNamespace, 100, 1000},
		{"250 Deployments of 42 namespaces", cloud.KubernetesDeployment, 42, 252},
		{"200 CronJobs of 100 namespaces", cloud.KubernetesCronJob, 100, 200},
		{"6 Deployments of one namespace", cloud.KubernetesDeployment, 1, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, tw := apartment(t, c.namespaces)
			w.listResources(c.kind, kubernetes.Region)
			w.resources = slices.DeleteFunc(w.resources, func(r inventory.Resource) bool {
				return r.Unschedulable != "" || r.Status != cloud.Running || r.Name == "web" || r.Name == "nightly"
			})
			w.withMoving(tw)
			before := specsOf(tw)
			for _, verb := range []cloud.Verb{cloud.Stop, cloud.Start} {
				n := w.countCalls(tw, verb)
				t.Logf("%s: %d calls for %d workloads", verb, n, c.workloads)
				if float64(n) > 2.5*float64(c.workloads) {
					t.Errorf("%s: %d calls for %d workloads; want 2.5 for each at most", verb, n, c.workloads)
				}
			}
			if after := specsOf(tw); after != before {
				t.Errorf("it came back as\n%s\nwant\n%s", after, before)
			}
		})
	}
}

// countCalls does the verb to all resources, in runs as large as those of a bulk action, and counts the calls.
func (w *fixture) countCalls(tw *kubernetestwin.Cluster, verb cloud.Verb) int {
	w.Helper()
	tw.ForgetCalls()
	for some := range slices.Chunk(w.resources, sizeOf(w.resources[0].Type)) {
		in := execution.RunInput{Org: org, Until: execution.UntilSettled}
		for _, r := range some {
			in.Actions = append(in.Actions, w.submit(r, verb).ID)
		}
		for done := false; !done; {
			got := apitest.Value(w.e.RunActions(w.ctx, in))(w)
			w.Must(w.e.p.Clock.Sleep(w.ctx, time.Duration(got.WaitSeconds)*time.Second))
			done = got.Done
		}
		for _, id := range in.Actions {
			if a := w.action(id); a.Status != execution.Succeeded {
				w.Fatalf("%s: %s %s", a.ResourceUID, a.Status, a.ErrorMessage)
			}
		}
	}
	return len(tw.Calls(""))
}

// specsOf returns the desired state of the cluster's workloads and their annotations.
func specsOf(tw *kubernetestwin.Cluster) string {
	out := map[string]any{}
	for n := range 100 {
		ns := fmt.Sprintf("flat-%03d", n)
		for i := range 8 {
			resource, at := []string{"deployments", "statefulsets"}[i/6], fmt.Sprintf("%s/web-%d", ns, i)
			out[at] = []any{
				kubernetestwin.Replicas(tw.Get(resource, at)),
				kubernetestwin.Annotations(tw.Get(resource, at)),
			}
		}
		for i := range 2 {
			at := fmt.Sprintf("%s/job-%d", ns, i)
			out[at] = []any{tw.Get("cronjobs", at)["spec"], kubernetestwin.Annotations(tw.Get("cronjobs", at))}
		}
	}
	b, _ := json.Marshal(out) // maps of JSON
	return string(b)
}
