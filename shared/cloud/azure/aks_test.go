package azure_test

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

const (
	aks  = "azure-aks"
	pool = "azure-aks-nodepool"
)

func TestAKS_AnOperationUnderWayIsWaitedFor(t *testing.T) {
	tw, c := connect(t)
	cluster := tw.AddCluster("prod", region, nil)
	if err := act(t, c, cloud.Stop, aks, cloud.Target{UID: cluster.UID()}); err != nil {
		t.Fatal(err)
	}
	err := act(t, c, cloud.Start, aks, cloud.Target{UID: cluster.UID()})
	wantClass(t, "a start during the stop", err, cloud.Moving) // a code that else means never
	if s := state(t, c, aks, cluster.UID()); s.Status != cloud.Stopping {
		t.Errorf("during the stop: %+v", s)
	}
}

func TestAKS_AStartThatFailedIsNotTakenForDone(t *testing.T) {
	tw, c := connect(t)
	cluster := tw.AddCluster("prod", region, func(r *azuretwin.Resource) {
		r.Properties()["provisioningState"] = "Failed" // Azure keeps the wanted power state
	})
	if s := state(t, c, aks, cluster.UID()); s.Status == cloud.Running || s.Status.IsTransitional() ||
		s.Native != "Running, Failed" {
		t.Errorf("a cluster whose start failed is %+v", s)
	}
}

func TestAKS_ClustersThatCannotBeStoppedAreRefused(t *testing.T) {
	tw, c := connect(t)
	auto := tw.AddCluster("auto", region, func(r *azuretwin.Resource) {
		r.Properties()["nodeProvisioningProfile"] = map[string]any{"mode": "Auto"}
	})
	old := tw.AddCluster("old", region, nil)
	tw.AddPool(old, "one", 1, 0, 0).Properties()["type"] = "AvailabilitySet"
	for uid, says := range map[string]string{
		auto.UID(): "provisioned automatically",
		old.UID():  "pool one is an availability set",
	} {
		if s := state(t, c, aks, uid); !strings.Contains(s.Unschedulable, says) {
			t.Errorf("%s: refused because %q; want %q", uid, s.Unschedulable, says)
		}
	}
}

func TestNodePool_AutoscalingIsSwitchedOffWithTheCountInOneCallAndRestored(t *testing.T) {
	tw, c := connect(t)
	p := tw.AddPool(tw.AddCluster("prod", region, nil), "user", 3, 1, 5)
	before := p.Properties()
	kept := fmt.Sprint(before["nodeLabels"], before["orchestratorVersion"], before["vmSize"], before["mode"])
	s := state(t, c, pool, p.UID())
	if string(s.Snapshot) != `{"count":3,"autoscaled":{"min":1,"max":5}}` {
		t.Fatalf("snapshot %s", s.Snapshot)
	}
	if err := act(t, c, cloud.Stop, pool, cloud.Target{UID: p.UID()}); err != nil {
		t.Fatal(err)
	}
	if now := p.Properties(); now["enableAutoScaling"] != false || now["count"] != 0.0 || now["minCount"] != nil {
		t.Errorf("after the stop: %v", now)
	}
	tw.SettleAll()
	if s := state(t, c, pool, p.UID()); s.Status != cloud.Stopped || s.Snapshot != nil {
		t.Errorf("after the stop: %+v with %s", s, s.Snapshot)
	}
	if err := act(t, c, cloud.Start, pool, cloud.Target{UID: p.UID(), Snapshot: s.Snapshot}); err != nil {
		t.Fatal(err)
	}
	tw.SettleAll()
	now := p.Properties()
	if got := fmt.Sprint(now["count"], now["enableAutoScaling"], now["minCount"],
		now["maxCount"]); got != "3 true 1 5" {
		t.Errorf("after the start: %s", got)
	}
	if got := fmt.Sprint(now["nodeLabels"], now["orchestratorVersion"], now["vmSize"], now["mode"]); got != kept {
		t.Errorf("the rest came back as %s; want %s", got, kept)
	}
	if n := len(writes(tw)); n != 2 {
		t.Errorf("%d changes; want one for the stop and one for the start", n)
	}
}

// An autoscaler that has let its pool go to 0 fills it for the next pod: such a pool is not stopped.
func TestNodePool_OneThatIsAutoscaledToZeroIsNotStopped(t *testing.T) {
	tw, c := connect(t)
	p := tw.AddPool(tw.AddCluster("prod", region, nil), "user", 0, 0, 5)
	s := state(t, c, pool, p.UID())
	if s.Status != cloud.Running || string(s.Snapshot) != `{"count":0,"autoscaled":{"min":0,"max":5}}` {
		t.Fatalf("state %+v with %s", s, s.Snapshot)
	}
	if err := act(t, c, cloud.Stop, pool, cloud.Target{UID: p.UID()}); err != nil {
		t.Fatal(err)
	}
	tw.SettleAll()
	if s := state(t, c, pool, p.UID()); s.Status != cloud.Stopped {
		t.Errorf("after the stop: %+v", s)
	}
	if err := act(t, c, cloud.Start, pool, cloud.Target{UID: p.UID(), Snapshot: s.Snapshot}); err != nil {
		t.Fatal(err)
	}
	tw.SettleAll()
	if s := state(t, c, pool, p.UID()); s.Status != cloud.Running {
		t.Errorf("after the start: %+v", s)
	}
}

func TestNodePool_AStartInventsNoSize(t *testing.T) {
	tw, c := connect(t)
	p := tw.AddPool(tw.AddCluster("prod", region, nil), "user", 0, 0, 0)
	wantClass(t, "start with nothing remembered", act(t, c, cloud.Start, pool, cloud.Target{UID: p.UID()}),
		cloud.Unsupported)
}

func TestNodePool_ASystemPoolIsRefused(t *testing.T) {
	tw, c := connect(t)
	p := tw.AddPool(tw.AddCluster("prod", region, nil), "system", 1, 0, 0)
	p.Properties()["mode"] = "System"
	zero := int64(0)
	wantClass(t, "stop", act(t, c, cloud.Stop, pool, cloud.Target{UID: p.UID()}), cloud.Unsupported)
	wantClass(t, "scale to 0", c.Scale(t.Context(), pool, region, p.UID(), cloud.Capacity{Desired: &zero}),
		cloud.Invalid)
	if n := len(writes(tw)); n != 0 {
		t.Errorf("%d changes; want none", n)
	}
}

// A change by somebody else between our read of a pool and our write is not undone.
func TestNodePool_AChangeInBetweenIsNotOverwritten(t *testing.T) {
	tw, c := connect(t)
	p := tw.AddPool(tw.AddCluster("prod", region, nil), "user", 3, 0, 0)
	raced := roundTripperOf(tw, func(method string) {
		if method == "PUT" {
			tw.ChangeLocked(func() { p.Properties()["eTag"] = "etag-2" })
		}
	})
	c2 := openThrough(t, raced)
	wantClass(t, "stop", act(t, c2, cloud.Stop, pool, cloud.Target{UID: p.UID()}), cloud.Moving)
	if s := state(t, c, pool, p.UID()); s.Status != cloud.Running {
		t.Errorf("after a race: %+v", s)
	}
}

func TestNodePool_OneStoppedAsAWholeIsStartedWithItsCount(t *testing.T) {
	tw, c := connect(t)
	p := tw.AddPool(tw.AddCluster("prod", region, nil), "user", 3, 0, 0)
	p.Properties()["powerState"] = map[string]any{"code": "Stopped"} // az aks nodepool stop
	if s := state(t, c, pool, p.UID()); s.Status != cloud.Stopped || s.Snapshot != nil {
		t.Fatalf("state %+v with %s", s, s.Snapshot)
	}
	if err := act(t, c, cloud.Start, pool, cloud.Target{UID: p.UID()}); err != nil {
		t.Fatal(err)
	}
	tw.SettleAll()
	if s := state(t, c, pool, p.UID()); s.Status != cloud.Running || !strings.Contains(s.Native, "3 nodes") {
		t.Errorf("after the start: %+v", s)
	}
}

func TestClusters_AreToldWithTheirNodes(t *testing.T) {
	tw, c := connect(t)
	prod := tw.AddCluster("prod", region, nil)
	tw.AddPool(prod, "system", 2, 0, 0)
	tw.AddPool(prod, "user", 3, 1, 5)
	tw.AddCluster("other", "northeurope", nil)
	clusters, ok := c.(cloud.Clusters)
	if !ok {
		t.Fatal("Azure runs no clusters")
	}
	names, err := clusters.ClusterNames(t.Context(), region)
	if err != nil || fmt.Sprint(names) != "[prod]" {
		t.Errorf("ClusterNames = %v, %v", names, err)
	}
	got, err := clusters.Cluster(t.Context(), region, "prod")
	if err != nil || got.UID != prod.UID() || got.Version != "1.33.2" || got.Status != cloud.ClusterActive ||
		got.NodeCount == nil || *got.NodeCount != 5 {
		t.Errorf("Cluster = %+v, %v", got, err)
	}
	for _, name := range []string{"nothing", "other", "a/b", ""} {
		_, err := clusters.Cluster(t.Context(), region, name)
		wantClass(t, "Cluster("+name+")", err, cloud.NotFound)
	}
	_, err = clusters.ClusterNames(t.Context(), "no/where")
	wantClass(t, "ClusterNames of no region", err, cloud.Invalid)
}

// Names of clusters are unique in a resource group alone, and in this service in a region.
func TestClusters_OfOneNameAreToldApart(t *testing.T) {
	tw, c := connect(t)
	tw.AddCluster("prod", region, nil)
	tw.AddCluster("prod", region, func(r *azuretwin.Resource) {
		r.ID = strings.Replace(r.ID, "Group-1", "Group-2", 1)
		r.Body["id"] = r.ID
	})
	clusters := c.(cloud.Clusters)
	names, err := clusters.ClusterNames(t.Context(), region)
	if err != nil || fmt.Sprint(names) != "[prod.Group-1 prod.Group-2]" {
		t.Fatalf("ClusterNames = %v, %v", names, err)
	}
	for _, name := range names {
		if got, err := clusters.Cluster(t.Context(), region, name); err != nil ||
			!strings.Contains(got.UID, strings.ToLower(name[5:])) || got.Name != name {
			t.Errorf("Cluster(%s) = %+v, %v", name, got, err)
		}
	}
	_, err = clusters.Cluster(t.Context(), region, "prod")
	wantClass(t, "Cluster(prod)", err, cloud.Invalid)
}
