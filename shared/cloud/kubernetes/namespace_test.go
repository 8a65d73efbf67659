package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

const shop = kubernetestwin.UID + "/shop"

// newShop returns a cluster with the namespace shop: a database, its clients, a Rollout, a target of KEDA, jobs, and
// objects that are off.
func newShop(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.add("statefulsets", kubernetestwin.Named("shop", "db", 3))
	f.add("statefulsets", kubernetestwin.Named("shop", "old-db", 0))
	f.add("deployments", kubernetestwin.Named("shop", "web", 2))
	f.add("deployments", kubernetestwin.Named("shop", "asleep", 0))
	f.add("deployments", kubernetestwin.Named("shop", "worker", 4))
	f.Add("scaledobjects", kubernetestwin.Targeting("shop", "worker", fields{"minReplicaCount": 4}))
	f.add("rollouts", kubernetestwin.Named("shop", "canary", 1))
	f.add("cronjobs", cronJob("shop", "nightly", false))
	f.add("cronjobs", cronJob("shop", "retired", true))
	return f
}

// finish repeats an act as the executor does, while a step waits for the step before, until the namespace has the
// wanted status. It returns the changes that the cluster was asked for, in order.
func (f *fixture) finish(v cloud.Verb, snapshot json.RawMessage) []string {
	f.Helper()
	f.ForgetCalls()
	for range 30 {
		s := f.state(namespace, shop)
		switch {
		case s.Status == v.WantedStatus():
			var order []string
			for _, c := range f.Calls("patch") {
				order = append(order, c.Name)
			}
			return order
		case s.Status != cloud.Starting && s.Status != cloud.Stopping:
			if err := f.act(v, namespace, cloud.Target{UID: shop, Snapshot: snapshot}); err != nil &&
				cloud.ClassOf(err) != cloud.Moving {
				f.Fatalf("%s: %v", v, err)
			}
		}
		f.Settle()
	}
	f.Fatalf("%s does not end: %+v", v, f.state(namespace, shop))
	return nil
}

func TestNamespace_StopsInOrderAndStartsTheOtherWayRound(t *testing.T) {
	f := newShop(t)
	before := f.state(namespace, shop)
	stopped := f.finish(cloud.Stop, nil)
	if want := []string{"nightly", "worker", "canary|web|worker", "db"}; !inSteps(stopped, want) {
		t.Errorf("stopped in the order %v; want %v", stopped, want)
	}
	started := f.finish(cloud.Start, before.Snapshot)
	if want := []string{"db", "canary|web|worker", "worker", "nightly"}; !inSteps(started, want) {
		t.Errorf("started in the order %v; want %v", started, want)
	}
	if after := f.state(namespace, shop); string(after.Snapshot) != string(before.Snapshot) {
		t.Errorf("it came back as %s; want %s", after.Snapshot, before.Snapshot)
	}
}

// inSteps reports whether the names come in the order of the steps; those of a step, split by |, in any order.
func inSteps(got, want []string) bool {
	for _, step := range want {
		names := strings.Split(step, "|")
		if len(got) < len(names) {
			return false
		}
		these := slices.Clone(got[:len(names)])
		slices.Sort(these)
		if got = got[len(names):]; !slices.Equal(these, names) {
			return false
		}
	}
	return len(got) == 0
}

func TestNamespace_AStartDoesNotWakeWhatWasOffBefore(t *testing.T) {
	for name, forgets := range map[string]bool{
		"what is remembered is in the table": false,
		"the table has lost it":              true,
	} {
		t.Run(name, func(t *testing.T) {
			f := newShop(t)
			// web is stopped by itself, with the marks of a stop of ours.
			f.must(f.act(cloud.Stop, deployment, cloud.Target{UID: uid("deployments", "shop/web")}))
			f.settle()
			snapshot := f.state(namespace, shop).Snapshot
			f.finish(cloud.Stop, nil)
			if forgets {
				snapshot = nil
			}
			f.finish(cloud.Start, snapshot)
			for at, want := range map[string]int64{
				"deployments shop/asleep": 0, "deployments shop/web": 0, "deployments shop/worker": 4,
				"statefulsets shop/old-db": 0,
				"statefulsets shop/db":     3, "rollouts shop/canary": 1,
			} {
				resource, at, _ := strings.Cut(at, " ")
				f.wantReplicas(resource, at, want)
			}
			if on := at(f.Get("cronjobs", "shop/retired"), "spec")["suspend"]; on != true {
				t.Error("a job that its owner had suspended goes on")
			}
			if on := at(f.Get("cronjobs", "shop/nightly"), "spec")["suspend"]; on != false {
				t.Error("the job is still suspended")
			}
		})
	}
}

func TestNamespace_EachStepIsTold(t *testing.T) {
	f := newShop(t)
	told := func() string {
		var b strings.Builder
		for _, s := range f.state(namespace, shop).Steps {
			fmt.Fprintf(&b, "%s %s, ", s.Name, s.Status)
		}
		return b.String()
	}
	wantTold := func(what, want string) {
		t.Helper()
		if got := told(); got != want {
			t.Errorf("%s: %s\nwant: %s", what, got, want)
		}
	}
	wantTold("at first", "cronjobs running, scaledobjects running, deployments running, statefulsets running, ")
	f.wantClass("stop", f.act(cloud.Stop, namespace, cloud.Target{UID: shop}), cloud.Moving)
	wantTold("after one act", "cronjobs stopped, scaledobjects stopped, deployments stopping, statefulsets running, ")
	f.settle()
	wantTold("when their pods are gone",
		"cronjobs stopped, scaledobjects stopped, deployments stopped, statefulsets running, ")
	f.wantStatus("when the database is left", namespace, shop, cloud.Pending)
	f.must(f.act(cloud.Stop, namespace, cloud.Target{UID: shop}))
	f.settle()
	wantTold("at the end", "cronjobs stopped, scaledobjects stopped, deployments stopped, statefulsets stopped, ")
}

// The snapshot must not shrink during a stop, because another action may begin the stop again.
func TestNamespace_HalfStoppedRemembersTheWhole(t *testing.T) {
	f := newShop(t)
	whole := f.state(namespace, shop).Snapshot
	f.wantClass("stop", f.act(cloud.Stop, namespace, cloud.Target{UID: shop}), cloud.Moving)
	f.settle()
	if half := f.state(namespace, shop).Snapshot; string(half) != string(whole) {
		t.Errorf("half stopped it remembers %s\nwant %s", half, whole)
	}
}

func TestNamespace_WithNothingRememberedSaysWhatToDo(t *testing.T) {
	f := newFixture(t)
	f.add("deployments", kubernetestwin.Named("shop", "web", 0))
	err := f.act(cloud.Start, namespace, cloud.Target{UID: shop})
	f.wantClass("start", err, cloud.Unsupported)
	if !strings.Contains(fmt.Sprint(err), "start its workloads one by one") {
		t.Errorf("%v", err)
	}
}

func TestNamespace_IsNotStoppedWhileAControllerBringsAPartBack(t *testing.T) {
	f := newShop(t)
	f.Change("deployments", "shop/web", func(o fields) {
		at(o, "metadata")["annotations"] = fields{"argocd.argoproj.io/tracking-id": "shop:x"}
	})
	f.Heal("deployments", "shop/web")
	for range 20 {
		if s := f.state(namespace, shop); s.Status == cloud.Stopped {
			t.Fatalf("it is called stopped: %+v", s)
		} else if s.Status != cloud.Stopping {
			_ = f.act(cloud.Stop, namespace, cloud.Target{UID: shop}) // it is refused, or in vain
		}
		f.Settle()
	}
	f.settle()
	if s := f.state(namespace, shop); !strings.Contains(s.Reason, "drift") ||
		!strings.Contains(s.Reason, "Argo CD (shop:x) manages it") {
		t.Errorf("%s: %s; want the drift in it", s.Status, s.Reason)
	}
}

func TestNamespace_ARunningOneHasNoMarksOfOurs(t *testing.T) {
	f := newShop(t)
	snapshot := f.state(namespace, shop).Snapshot
	f.finish(cloud.Stop, nil)
	f.finish(cloud.Start, snapshot)
	for _, at := range []string{
		"statefulsets shop/db", "deployments shop/web", "deployments shop/worker",
		"rollouts shop/canary", "cronjobs shop/nightly", "scaledobjects shop/worker",
	} {
		resource, name, _ := strings.Cut(at, " ")
		if a := kubernetestwin.Annotations(f.Get(resource, name)); len(a) != 0 {
			t.Errorf("%s: %v", at, a)
		}
	}
}
