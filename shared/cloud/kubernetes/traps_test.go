package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

const (
	deployment  = cloud.KubernetesDeployment
	statefulSet = cloud.KubernetesStatefulSet
	cronJobKind = cloud.KubernetesCronJob
	namespace   = cloud.KubernetesNamespace
)

// add adds a workload to the namespace shop and returns its uid.
func (f *fixture) add(resource string, o fields) string {
	f.Helper()
	if f.Get("namespaces", "shop") == nil {
		f.Add("namespaces", fields{"metadata": fields{"name": "shop"}})
	}
	return uid(resource, f.Add(resource, o))
}

// settle runs the controllers until nothing changes any more, without advancing the time.
func (f *fixture) settle() {
	for range 5 {
		f.Settle()
	}
}

func (f *fixture) wantStatus(what string, kind, uid string, want cloud.Status) cloud.State {
	f.Helper()
	s := f.state(kind, uid)
	if s.Status != want {
		f.Errorf("%s: it is %s (%s); want %s", what, s.Status, s.Reason, want)
	}
	return s
}

func (f *fixture) wantReplicas(resource, at string, want int64) {
	f.Helper()
	if got := kubernetestwin.Replicas(f.Get(resource, at)); got != want {
		f.Errorf("%s has %d replicas; want %d", at, got, want)
	}
}

func TestDeployment_OfTwentyStopsAtOnceOneChangesItAndAllSucceed(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 3))
	// All read it before any changes it.
	var ready sync.WaitGroup
	ready.Add(20)
	errs := make([]error, 20)
	var done sync.WaitGroup
	for i := range errs {
		done.Go(func() {
			ready.Done()
			ready.Wait()
			errs[i] = f.act(cloud.Stop, deployment, cloud.Target{UID: u})
		})
	}
	done.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("stop %d: %v", i, err)
		}
	}
	codes := map[int]int{}
	for _, c := range f.Calls("patch deployments.apps") {
		codes[c.Code]++
	}
	t.Logf("changes by answer: %v", codes)
	if codes[200] != 1 || codes[200]+codes[409] != len(f.Calls("patch")) {
		t.Errorf("changes by answer: %v; want one that was accepted, the others refused as conflicts", codes)
	}
	if got := kubernetestwin.Annotations(f.Get("deployments",
		"shop/web"))["lamplighter.dev/stopped-replicas"]; got != "3" {
		t.Errorf("it remembers %q replicas; want 3", got)
	}
}

func at(o fields, path ...string) fields {
	for _, p := range path {
		o, _ = o[p].(fields)
	}
	return o
}

func TestDeployment_AStopThatComesSecondReadsAgainAndLeavesItAsItIs(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 3))
	f.Between("patch deployments.apps", func() {
		f.ChangeLocked("deployments", "shop/web", func(o fields) { at(o, "spec")["replicas"] = 0 })
	})
	f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
	if n := len(f.Calls("patch")); n != 1 {
		t.Errorf("%d changes were tried; want the one that was refused", n)
	}
	if got, there := kubernetestwin.Annotations(f.Get("deployments",
		"shop/web"))["lamplighter.dev/stopped-replicas"]; there {
		t.Errorf("it remembers %q, although somebody else stopped it", got)
	}
}

func TestDeployment_AStopWhoseAnswerWasLostIsNotDoneTwice(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 3))
	f.AddFault(kubernetestwin.Fault{Op: "patch deployments.apps", Times: 1, Lost: true})
	f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
	if got := kubernetestwin.Annotations(f.Get("deployments",
		"shop/web"))["lamplighter.dev/stopped-replicas"]; got != "3" {
		t.Errorf("it remembers %q; want 3", got)
	}
}

func TestDeployment_RepeatedStopsAndStartsChangeNothing(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 3))
	for _, v := range []cloud.Verb{cloud.Stop, cloud.Start} {
		f.must(f.act(v, deployment, cloud.Target{UID: u}))
		f.settle()
		f.ForgetCalls()
		f.must(f.act(v, deployment, cloud.Target{UID: u}))
		if calls := f.Calls("patch"); len(calls) != 0 {
			t.Errorf("a repeated %s changes %+v", v, calls)
		}
	}
	f.wantReplicas("deployments", "shop/web", 3)
}

// The cluster sends this, as it was seen to accept it.
func TestDeployment_AStopIsOneGuardedMergePatch(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 3))
	version := at(f.Get("deployments", "shop/web"), "metadata")["resourceVersion"]
	f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
	want := fmt.Sprintf(`{"metadata":{"annotations":{"lamplighter.dev/stopped-at":"2026-03-02T09:00:00Z",`+
		`"lamplighter.dev/stopped-replicas":"3","lamplighter.dev/stopped-with":null},`+
		`"resourceVersion":"%s"},"spec":{"replicas":0}}`, version)
	if calls := f.Calls("patch"); len(calls) != 1 || calls[0].Body != want {
		t.Errorf("changes: %+v\nwant: %s", calls, want)
	}
}

func TestDeployment_WhatWasStoppedIsNotRememberedAsNothing(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 3))
	f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
	if s := f.wantStatus("while pods end", deployment, u, cloud.Stopping); s.Snapshot != nil {
		t.Errorf("it is stopped, and would be remembered as %s", s.Snapshot)
	}
	f.settle()
	f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
	// The table has lost the snapshot: the annotation has the number.
	f.must(f.act(cloud.Start, deployment, cloud.Target{UID: u}))
	f.wantReplicas("deployments", "shop/web", 3)
	if a := kubernetestwin.Annotations(f.Get("deployments", "shop/web")); len(a) != 0 {
		t.Errorf("started, it keeps the marks of the stop: %v", a)
	}
}

func TestDeployment_IsStoppedWhenItsPodsHaveEndedAndNotBefore(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 3))
	f.StallControllers(true)
	f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
	f.Settle()
	f.wantStatus("before its controller has seen it", deployment, u, cloud.Stopping)
	f.StallControllers(false)
	f.Settle()
	if s := f.wantStatus("while a pod ends", deployment, u, cloud.Stopping); !strings.Contains(s.Reason, "1 pods") {
		t.Errorf("reason %q; want the pod in it", s.Reason)
	}
	f.Settle()
	f.wantStatus("when the pod is gone", deployment, u, cloud.Stopped)
}

func TestDeployment_StartsWithNoFewerThanItsAutoscalerKeeps(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 1))
	f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
	f.Add("horizontalpodautoscalers",
		kubernetestwin.Targeting("shop", "web", fields{"minReplicas": 2, "maxReplicas": 6}))
	f.settle()
	f.wantReplicas("deployments", "shop/web", 0) // an autoscaler leaves 0 alone
	f.must(f.act(cloud.Start, deployment, cloud.Target{UID: u, Snapshot: json.RawMessage(`{"replicas":1}`)}))
	f.wantReplicas("deployments", "shop/web", 2)
}

func TestDeployment_OfWhichNothingIsRememberedIsNotGivenASize(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 0))
	f.wantStatus("at 0", deployment, u, cloud.Stopped)
	err := f.act(cloud.Start, deployment, cloud.Target{UID: u})
	f.wantClass("start", err, cloud.Unsupported)
	if !strings.Contains(fmt.Sprint(err), "scale it to the replicas that it should have") {
		t.Errorf("%v; want the way out", err)
	}
	f.wantReplicas("deployments", "shop/web", 0)
}

func TestStatefulSet_ThatWouldLoseItsClaimsIsRefused(t *testing.T) {
	f := newFixture(t)
	u := f.add("statefulsets", keeping("shop", "db", "Delete"))
	for i := range 2 {
		f.Add("persistentvolumeclaims",
			fields{"metadata": fields{"namespace": "shop", "name": fmt.Sprint("data-db-", i), "of": "db", "index": i}})
	}
	f.wantClass("stop", f.act(cloud.Stop, statefulSet, cloud.Target{UID: u}), cloud.Unsupported)
	one := int64(1)
	f.wantClass("scale-down", f.conn.Scale(t.Context(), statefulSet, "cluster", u, cloud.Capacity{Desired: &one}),
		cloud.Unsupported)
	f.wantClass("stop of its namespace", f.act(cloud.Stop, namespace, cloud.Target{UID: kubernetestwin.UID + "/shop"}),
		cloud.Unsupported)
	f.settle()
	for i := range 2 {
		if f.Get("persistentvolumeclaims", fmt.Sprint("shop/data-db-", i)) == nil {
			t.Errorf("claim %d is gone", i)
		}
	}
	three := int64(3)
	// more replicas delete nothing
	f.must(f.conn.Scale(t.Context(), statefulSet, "cluster", u, cloud.Capacity{Desired: &three}))
}

// The owner of the data can permit on the object that it is lost.
func TestStatefulSet_ThatMayLoseItsClaimsIsStopped(t *testing.T) {
	f := newFixture(t)
	db := keeping("shop", "db", "Delete")
	at(db, "metadata")["annotations"] = fields{"lamplighter.dev/allow-volume-loss": "true"}
	u := f.add("statefulsets", db)
	f.Add("persistentvolumeclaims",
		fields{"metadata": fields{"namespace": "shop", "name": "data-db-0", "of": "db", "index": 0}})
	f.must(f.act(cloud.Stop, statefulSet, cloud.Target{UID: u}))
	f.settle()
	f.wantStatus("stopped", statefulSet, u, cloud.Stopped)
	if f.Get("persistentvolumeclaims", "shop/data-db-0") != nil {
		t.Error("the twin keeps the claim, which a cluster deletes")
	}
	f.must(f.act(cloud.Start, statefulSet, cloud.Target{UID: u}))
	f.wantReplicas("statefulsets", "shop/db", 2)
}

// The client's own limit is 5 calls a second, by the system's clock: 300 reads and 300 changes would take two minutes.
func TestClient_IsNotSlowedByItsOwnLimit(t *testing.T) {
	f := newFixture(t)
	targets := make([]cloud.Target, 300)
	for i := range targets {
		targets[i].UID = f.add("deployments", kubernetestwin.Named("shop", fmt.Sprint("web-", i), 1))
	}
	before := time.Now()
	for i, r := range f.conn.Act(t.Context(), cloud.Stop, deployment, "cluster", targets) {
		if r.Err != nil {
			t.Fatalf("stop %d: %v", i, r.Err)
		}
	}
	if took := time.Since(before); took > 30*time.Second {
		t.Errorf("300 stops took %s", took)
	}
	if waited := f.clk.Now().Sub(morning); waited != 0 {
		t.Errorf("they waited %s", waited)
	}
}

// A policy becomes dangerous between the look at it and the change.
func TestStatefulSet_ThatComesToLoseItsClaimsMeanwhileIsRefused(t *testing.T) {
	f := newFixture(t)
	u := f.add("statefulsets", keeping("shop", "db", "Retain"))
	f.Between("patch statefulsets.apps", func() {
		f.ChangeLocked("statefulsets", "shop/db", func(o fields) {
			at(o, "spec", "persistentVolumeClaimRetentionPolicy")["whenScaled"] = "Delete"
		})
	})
	f.wantClass("stop", f.act(cloud.Stop, statefulSet, cloud.Target{UID: u}), cloud.Unsupported)
	f.wantReplicas("statefulsets", "shop/db", 2)
}

func TestDisruptionBudget_DoesNotBlockAStop(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 3))
	f.Add("poddisruptionbudgets", budget("shop", "web", 3))
	f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
	f.settle()
	f.wantStatus("under a budget", deployment, u, cloud.Stopped)
}

func budget(ns, app string, least int) fields {
	return fields{
		"metadata": fields{"namespace": ns, "name": app + "-budget"},
		"spec":     fields{"minAvailable": least, "selector": fields{"matchLabels": fields{"app": app}}},
	}
}

func TestDisruptionBudget_IsReportedWhereAScaleDownIsRefused(t *testing.T) {
	for _, message := range []string{
		`admission webhook "guard.example" denied the request: replicas below the disruption budget`,
		`deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'guard' with binding 'all' denied request: ` +
			`replicas below the disruption budget`,
	} {
		f := newFixture(t)
		u := f.add("deployments", kubernetestwin.Named("shop", "web", 3))
		f.Add("poddisruptionbudgets", budget("shop", "web", 2))
		f.Add("poddisruptionbudgets", budget("shop", "other", 1))
		f.AddFault(kubernetestwin.Fault{
			Op: "patch deployments.apps", Code: 403, Reason: "Forbidden", Message: message,
			Times: -1,
		})
		err := f.act(cloud.Stop, deployment, cloud.Target{UID: u})
		f.wantClass("stop", err, cloud.Unsupported)
		if s := fmt.Sprint(err); !strings.Contains(s,
			"PodDisruptionBudget web-budget (minAvailable 2) covers its pods") || strings.Contains(s, "other-budget") {
			t.Errorf("%s; want the budget named that covers it", s)
		}
		f.wantReplicas("deployments", "shop/web", 3)
	}
}

// A missing permission concerns the account; a refusal by admission control concerns the object.
func TestErrors_ALackOfPermissionIsNoRefusalOfTheChange(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 3))
	f.Deny("patch deployments.apps")
	f.wantClass("stop", f.act(cloud.Stop, deployment, cloud.Target{UID: u}), cloud.Denied)
}

func TestGitOps_WhatIsBroughtBackIsDriftAndNeverCalledStopped(t *testing.T) {
	marks := map[string]fields{
		"Argo CD": {
			"annotations": fields{"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/web"},
		},
		"Argo CD by label":   {"labels": fields{"argocd.argoproj.io/instance": "shop", "app": "web"}},
		"Flux":               {"labels": fields{"kustomize.toolkit.fluxcd.io/name": "shop", "app": "web"}},
		"Flux by Helm":       {"labels": fields{"helm.toolkit.fluxcd.io/name": "shop", "app": "web"}},
		"an owner's control": {"ownerReferences": []any{fields{"kind": "Shop", "name": "main", "controller": true}}},
	}
	for name, mark := range marks {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			web := kubernetestwin.Named("shop", "web", 3)
			maps.Copy(at(web, "metadata"), mark)
			u := f.add("deployments", web)
			f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
			f.settle()
			if s := f.wantStatus("at 0", deployment, u, cloud.Stopping); !strings.Contains(s.Reason, "manages it") {
				t.Errorf("reason %q; want who manages it", s.Reason)
			}
			f.clk.Advance(80 * time.Second)
			f.wantStatus("80 s later", deployment, u, cloud.Stopping)
			f.Change("deployments", "shop/web", func(o fields) { at(o, "spec")["replicas"] = 3 }) // it comes back
			f.settle()
			f.clk.Advance(time.Hour)
			if s := f.wantStatus("brought back", deployment, u, cloud.Running); !strings.Contains(s.Reason, "drift") ||
				!strings.Contains(s.Reason, "manages it") {
				t.Errorf("reason %q; want the drift in it", s.Reason)
			}
		})
	}
}

func TestGitOps_WhatStaysAt0IsStoppedAfterAWhile(t *testing.T) {
	f := newFixture(t)
	web := kubernetestwin.Named("shop", "web", 3)
	at(web, "metadata")["annotations"] = fields{"argocd.argoproj.io/tracking-id": "shop:x"}
	u := f.add("deployments", web)
	f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
	f.settle()
	f.clk.Advance(91 * time.Second)
	f.wantStatus("after 91 s", deployment, u, cloud.Stopped)
}

// wantOrder holds the changes that were made against these.
func (f *fixture) wantOrder(what string, want ...string) {
	f.Helper()
	var got []string
	for _, c := range f.Calls("patch") {
		got = append(got, c.Op)
	}
	if !slices.Equal(got, want) {
		f.Errorf("%s: changes in the order %v; want %v", what, got, want)
	}
}

// KEDA scales its target up again unless it is paused. The twin's KEDA does the same as a real one.
func TestKEDA_IsPausedBeforeTheStopAndResumedAsItWas(t *testing.T) {
	for name, prior := range map[string]any{"not paused": nil, "paused at 2": "2"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			u := f.add("deployments", kubernetestwin.Named("shop", "web", 2))
			scaler := kubernetestwin.Targeting("shop", "web", fields{"minReplicaCount": 2})
			if prior != nil {
				at(scaler, "metadata")["annotations"] = fields{"autoscaling.keda.sh/paused-replicas": prior}
			}
			f.Add("scaledobjects", scaler)
			before := f.wantStatus("at first", deployment, u, cloud.Running)
			f.ForgetCalls()
			f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
			f.wantOrder("stop", "patch scaledobjects.keda.sh", "patch deployments.apps")
			f.settle()
			f.wantStatus("stopped", deployment, u, cloud.Stopped)
			f.ForgetCalls()
			f.must(f.act(cloud.Start, deployment, cloud.Target{UID: u, Snapshot: before.Snapshot}))
			f.wantOrder("start", "patch deployments.apps", "patch scaledobjects.keda.sh")
			f.settle()
			f.wantReplicas("deployments", "shop/web", 2)
			got, there := at(f.Get("scaledobjects", "shop/web"), "metadata",
				"annotations")["autoscaling.keda.sh/paused-replicas"]
			if there != (prior != nil) || got != prior {
				t.Errorf("KEDA's annotation is %v; want %v", got, prior)
			}
			if after := f.state(deployment, u); string(after.Snapshot) != string(before.Snapshot) {
				t.Errorf("remembered %s; before %s", after.Snapshot, before.Snapshot)
			}
		})
	}
}

// A stop of a workload that KEDA has scaled to 0 must keep KEDA from starting it at the next event.
func TestKEDA_WhatItHasScaledTo0IsNotOff(t *testing.T) {
	f := newFixture(t)
	u := f.add("deployments", kubernetestwin.Named("shop", "web", 0))
	f.Add("scaledobjects", kubernetestwin.Targeting("shop", "web", fields{"minReplicaCount": 0}))
	s := f.wantStatus("idle", deployment, u, cloud.Running)
	f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: u}))
	f.settle()
	f.wantStatus("stopped", deployment, u, cloud.Stopped)
	f.must(f.act(cloud.Start, deployment, cloud.Target{UID: u, Snapshot: s.Snapshot}))
	if a := kubernetestwin.Annotations(f.Get("scaledobjects", "shop/web")); len(a) != 0 {
		t.Errorf("KEDA is not as it was: %v", a)
	}
}

func TestCronJob_OneThatWasSuspendedIsOffAlready(t *testing.T) {
	f := newFixture(t)
	u := f.add("cronjobs", cronJob("shop", "nightly", true))
	f.wantStatus("suspended by its owner", cronJobKind, u, cloud.Stopped)
	f.ForgetCalls()
	f.must(f.act(cloud.Stop, cronJobKind, cloud.Target{UID: u}))
	if n := len(f.Calls("patch")); n != 0 {
		t.Errorf("%d changes", n)
	}
}

func TestPage_ThatHasExpiredGoesOnAtWhatTheClusterOffers(t *testing.T) {
	f := newFixture(t)
	f.Page = 1
	for _, name := range []string{"a", "b", "c"} {
		f.add("deployments", kubernetestwin.Named("shop", name, 1))
	}
	first, err := f.conn.List(t.Context(), deployment, "cluster", "")
	f.must(err)
	f.ExpireNextPage()
	second, err := f.conn.List(t.Context(), deployment, "cluster", first.Next)
	if err != nil || len(second.Resources) != 1 || second.Resources[0].Name != "b" {
		t.Errorf("%+v, %v; want the second page", second, err)
	}
}

func TestAnotherClustersUIDsDoNotExistHere(t *testing.T) {
	f := newFixture(t)
	f.add("deployments", kubernetestwin.Named("shop", "web", 3))
	elsewhere := "another-cluster/shop/deployments/web"
	f.wantClass("stop", f.act(cloud.Stop, deployment, cloud.Target{UID: elsewhere}), cloud.NotFound)
	got, err := f.conn.Read(t.Context(), deployment, "cluster",
		[]string{elsewhere, kubernetestwin.UID + "/shop/statefulsets/web", kubernetestwin.UID + "/shop"})
	if err != nil || len(got) != 0 {
		t.Errorf("Read = %+v, %v; want nothing", got, err)
	}
	f.wantReplicas("deployments", "shop/web", 3)
}
