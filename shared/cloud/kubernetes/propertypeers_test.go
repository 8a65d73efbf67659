package kubernetes_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/seed"
)

// TestStopChangeStart_OverARealControlPlane tests the property on a real cluster, which records the manager of each
// change.
func TestStopChangeStart_OverARealControlPlane(t *testing.T) {
	r := newReal(t)
	random := seed.Random(t)
	for n := range 6 {
		if !newProperty(r.land(n), random).run() {
			return
		}
		for _, ns := range []string{acted, untouched} {
			r.call("DELETE", "/api/v1/namespaces/"+nth(ns, n), fields{}, nil)
		}
	}
}

// nth is the name of the property's namespace in a cluster that had others before.
func nth(ns string, n int) string {
	if n == 0 {
		return ns
	}
	return fmt.Sprint(ns, n)
}

func (r *realCluster) land(n int) land {
	path := func(resource, ns, name string) string {
		group := map[bool]string{true: "batch", false: "apps"}[resource == "cronjobs"]
		return "/apis/" + group + "/v1/namespaces/" + nth(ns, n) + "/" + resource + "/" + name
	}
	return land{
		T: r.T, conn: r.conn, uid: r.uid, settle: r.settle, acted: nth(acted, n),
		make: func(resource, ns, name string, size int) {
			if resource != "cronjobs" {
				r.deploy(resource, nth(ns, n), name, size, nil)
				return
			}
			r.suspendable(nth(ns, n), name)
			r.call("PATCH", path(resource, ns, name), fields{"spec": fields{"suspend": size == 0}}, nil)
		},
		patch: func(resource, ns, name string, spec map[string]any) bool {
			return r.try("PATCH", path(resource, ns, name), fields{"spec": spec}, nil) == nil
		},
		// it may be gone
		remove: func(resource, ns, name string) { _ = r.try("DELETE", path(resource, ns, name), fields{}, nil) },
		get: func(resource, ns, name string) (o fields) {
			_ = r.try("GET", path(resource, ns, name), nil, &o) // one that is gone is empty in both
			return o
		},
	}
}

// TestThousandWorkloads_OverARealControlPlane stops and starts 100 namespaces of 10 workloads, in chunks as the
// executor has them. With LAMPLIGHTER_TIMING=1, on a machine that does nothing else, each way takes 45 s at most.
func TestThousandWorkloads_OverARealControlPlane(t *testing.T) {
	if os.Getenv("LAMPLIGHTER_TIMING") != "1" {
		t.Skip("SKIPPED: set LAMPLIGHTER_TIMING=1 on an idle machine to time 1,000 workloads")
	}
	r := newReal(t)
	provider := kubernetes.New(kubernetes.Options{Clock: clock.System{}, PrivateAddresses: true})
	conn, err := provider.Connect(t.Context(), r.account(userToken))
	if err != nil {
		t.Fatal(err)
	}
	r.conn = conn
	var uids []string
	for n := range 100 {
		uids = append(uids, r.ten(fmt.Sprintf("flat-%03d", n)))
	}
	memories := map[string]cloud.Target{}
	r.reach(t, uids, cloud.Running, memories)
	for _, v := range []cloud.Verb{cloud.Stop, cloud.Start} {
		began := time.Now()
		r.turn(t, v, uids, memories)
		took := time.Since(began)
		t.Logf("%s of 1,000 workloads in 100 namespaces: %s", v, took)
		if took > 45*time.Second {
			t.Errorf("%s took %s; want 45 s at most", v, took)
		}
	}
}

// ten makes a namespace of 6 Deployments, 2 StatefulSets and 2 CronJobs.
func (r *realCluster) ten(ns string) string {
	r.Helper()
	for i := range 6 {
		r.deploy("deployments", ns, fmt.Sprint("web-", i), 1, nil)
	}
	for i := range 2 {
		r.deploy("statefulsets", ns, fmt.Sprint("db-", i), 1, nil)
		r.suspendable(ns, fmt.Sprint("job-", i))
	}
	return r.uid + "/" + ns
}

// turn acts on the namespaces, 50 at a time side by side, until all are as the verb wants them.
func (r *realCluster) turn(t *testing.T, v cloud.Verb, uids []string, memories map[string]cloud.Target) {
	t.Helper()
	var g sync.WaitGroup
	for some := range slices.Chunk(uids, 50) {
		g.Go(func() {
			targets := make([]cloud.Target, len(some))
			for i, u := range some {
				targets[i] = memories[u]
			}
			for _, got := range r.conn.Act(t.Context(), v, namespace, "cluster", targets) {
				if got.Err != nil && cloud.ClassOf(got.Err) != cloud.Moving {
					t.Errorf("%s: %v", got.UID, got.Err)
				}
			}
		})
	}
	began := time.Now()
	g.Wait()
	t.Logf("%s: the cluster has taken the changes after %s", v, time.Since(began))
	r.reachBy(t, v, uids, memories)
}

// reachBy repeats an act on objects that do not move, as the executor does, until all have the status.
func (r *realCluster) reachBy(t *testing.T, v cloud.Verb, uids []string, memories map[string]cloud.Target) {
	t.Helper()
	for range 300 {
		states, err := r.conn.Read(t.Context(), namespace, "cluster", uids)
		if err != nil {
			t.Fatal(err)
		}
		var again []cloud.Target
		left := 0
		for _, s := range states {
			if s.Status != v.WantedStatus() {
				left++
			}
			if s.Status != v.WantedStatus() && !s.Status.IsTransitional() || s.Status == cloud.Pending {
				again = append(again, memories[s.UID])
			}
		}
		if left == 0 {
			return
		}
		r.conn.Act(t.Context(), v, namespace, "cluster", again)
		r.settle()
	}
	t.Fatalf("%s does not end", v)
}

// reach waits until all have the status, and stores their snapshots.
func (r *realCluster) reach(t *testing.T, uids []string, want cloud.Status, memories map[string]cloud.Target) {
	t.Helper()
	for range 600 {
		states, err := r.conn.Read(t.Context(), namespace, "cluster", uids)
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, s := range states {
			if memories[s.UID] = (cloud.Target{UID: s.UID, Snapshot: s.Snapshot}); s.Status != want {
				left++
			}
		}
		if left == 0 {
			return
		}
		r.settle()
	}
	t.Fatalf("not all became %s", want)
}
