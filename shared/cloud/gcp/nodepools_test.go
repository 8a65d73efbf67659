package gcp_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

func addPool(tw *gcptwin.Cloud, n gcptwin.Pool, perZone int64) *gcptwin.Pool {
	n.Name, n.Zones = "blue", []string{region + "-b", region + "-c"}
	return tw.AddPool(tw.AddCluster(gcptwin.Cluster{Name: "prod", Location: region}), n, perZone)
}

func TestANodePoolIsNotScaledWhileItIsStopped(t *testing.T) {
	for name, scaling := range map[string]map[string]any{
		"by zone":     {"enabled": true, "minNodeCount": 2.0, "maxNodeCount": 5.0, "locationPolicy": "BALANCED"},
		"in all":      {"enabled": true, "totalMinNodeCount": 2.0, "totalMaxNodeCount": 9.0, "locationPolicy": "ANY"},
		"from 0 on":   {"enabled": true, "minNodeCount": 0.0, "maxNodeCount": 5.0, "locationPolicy": "BALANCED"},
		"not at all ": nil,
	} {
		t.Run(name, func(t *testing.T) {
			tw, c := connect(t)
			n := addPool(tw, gcptwin.Pool{Scaling: maps.Clone(scaling)}, 3)
			before := state(t, c, cloud.GCPGKENodepool, n.UID()).Snapshot
			if err := act(t, c, cloud.Stop, cloud.GCPGKENodepool, cloud.Target{UID: n.UID()}); err != nil {
				t.Fatalf("stop: %v", err)
			}
			want := "container.nodePools.setAutoscaling container.nodePools.setSize"
			if scaling == nil {
				want = "container.nodePools.setSize"
			}
			if got := opsOf(tw); got != want {
				t.Errorf("stopped by %s; want %s", got, want)
			}
			if body := tw.Calls("container.nodePools.setSize")[0].Body; !strings.Contains(body, `"nodeCount":0`) {
				t.Errorf("the size of 0 was not sent: %s", body)
			}
			tw.SettleAll()
			if tw.RunScaling(); fmt.Sprint(n.Nodes()) != "[0 0]" {
				t.Errorf("after scaling had its turn: %v nodes", n.Nodes())
			}
			if err := act(t, c, cloud.Start, cloud.GCPGKENodepool,
				cloud.Target{UID: n.UID(), Snapshot: before}); err != nil {
				t.Fatalf("start: %v", err)
			}
			tw.SettleAll()
			if fmt.Sprint(n.Nodes()) != "[3 3]" || !maps.Equal(n.Scaling, scaling) {
				t.Errorf("started with %v nodes, scaled %v; want 3 in each zone, scaled %v", n.Nodes(), n.Scaling,
					scaling)
			}
		})
	}
}

func TestANodePoolIsAsBigAsItsInstanceGroups(t *testing.T) {
	tw, c := connect(t)
	n := addPool(tw, gcptwin.Pool{Initial: 7}, 2)
	tw.ChangeLocked(func() { n.Groups[1].Size = 4 })
	got, err := c.List(t.Context(), cloud.GCPGKENodepool, region, "")
	if err != nil || len(got.Resources) != 1 {
		t.Fatalf("List = %v, %v", got, err)
	}
	if z := got.Resources[0].Capacity; z["desired"] != 4 || z["nodes"] != 6 || z["zones"] != 2 {
		t.Errorf("capacity %v; want 4 in the fullest of 2 zones and 6 in all, not the initial count", z)
	}
	if s := state(t, c, cloud.GCPGKENodepool, n.UID()); !strings.Contains(string(s.Snapshot), `"nodesPerZone":4`) {
		t.Errorf("remembered %s", s.Snapshot)
	}
}

func TestAClusterThatIsBusyIsToBeReadAgain(t *testing.T) {
	tw, c := connect(t)
	n := addPool(tw, gcptwin.Pool{}, 2)
	before := state(t, c, cloud.GCPGKENodepool, n.UID()).Snapshot
	if err := act(t, c, cloud.Stop, cloud.GCPGKENodepool, cloud.Target{UID: n.UID()}); err != nil {
		t.Fatal(err)
	}
	if s := state(t, c, cloud.GCPGKENodepool, n.UID()); s.Status != cloud.Stopping {
		t.Errorf("during the stop: %+v", s)
	}
	wantClass(t, "start during the stop",
		act(t, c, cloud.Start, cloud.GCPGKENodepool, cloud.Target{UID: n.UID(), Snapshot: before}), cloud.Moving)
	tw.SettleAll()
	wantClass(t, "start with nothing remembered",
		act(t, c, cloud.Start, cloud.GCPGKENodepool, cloud.Target{UID: n.UID()}), cloud.Unsupported)
}

// After a crash between the two steps of a stop or a start, the next act completes the rest.
func TestANodePoolThatIsHalfDoneIsActedOnAgain(t *testing.T) {
	tw, c := connect(t)
	n := addPool(tw,
		gcptwin.Pool{Scaling: map[string]any{"enabled": true, "minNodeCount": 1.0, "maxNodeCount": 5.0}}, 3)
	before := state(t, c, cloud.GCPGKENodepool, n.UID()).Snapshot
	stuck := gcptwin.Fault{
		Op: "container.nodePools.setSize", Reason: "UNAVAILABLE", Message: "try later", Status: 503,
		Times: -1,
	}
	for _, step := range []struct {
		verb   cloud.Verb
		during cloud.Status
	}{{cloud.Stop, cloud.Running}, {cloud.Start, cloud.Stopped}} {
		tw.AddFault(stuck)
		target := cloud.Target{UID: n.UID(), Snapshot: before}
		wantClass(t, string(step.verb)+" that fails at its second call",
			act(t, c, step.verb, cloud.GCPGKENodepool, target), cloud.Transient)
		tw.SettleAll()
		if s := state(t, c, cloud.GCPGKENodepool, n.UID()); s.Status != step.during {
			t.Errorf("half way through a %s it reads %s; want %s", step.verb, s.Status, step.during)
		}
		tw.EndFaults()
		if err := act(t, c, step.verb, cloud.GCPGKENodepool, target); err != nil {
			t.Errorf("second %s: %v", step.verb, err)
		}
		tw.SettleAll()
	}
	if fmt.Sprint(n.Nodes()) != "[3 3]" || n.Scaling["minNodeCount"] != 1.0 {
		t.Errorf("in the end %v nodes, scaled %v", n.Nodes(), n.Scaling)
	}
}

func TestAScalingThatIsSlowToGoOffIsWaitedForALittle(t *testing.T) {
	tw, c := connect(t)
	tw.Slow = true
	n := addPool(tw,
		gcptwin.Pool{Scaling: map[string]any{"enabled": true, "minNodeCount": 1.0, "maxNodeCount": 5.0}}, 3)
	err := act(t, c, cloud.Stop, cloud.GCPGKENodepool, cloud.Target{UID: n.UID()})
	wantClass(t, "stop", err, cloud.Moving)
	if len(tw.Calls("container.nodePools.setSize")) != 0 {
		t.Error("the size was set while the cluster was busy")
	}
	if s := state(t, c, cloud.GCPGKENodepool, n.UID()); !s.Status.IsTransitional() {
		t.Errorf("meanwhile it reads %+v", s)
	}
}

func TestANodePoolThatGoogleSizesIsRefused(t *testing.T) {
	tw, c := connect(t)
	auto := tw.AddPool(tw.AddCluster(gcptwin.Cluster{Name: "auto", Location: region, Autopilot: true}),
		gcptwin.Pool{Name: "p", Zones: []string{region + "-b"}}, 2)
	made := addPool(tw,
		gcptwin.Pool{Scaling: map[string]any{"enabled": true, "autoprovisioned": true, "maxNodeCount": 5.0}},
		2)
	for _, n := range []*gcptwin.Pool{auto, made} {
		wantClass(t, "stop of "+n.Name, act(t, c, cloud.Stop, cloud.GCPGKENodepool, cloud.Target{UID: n.UID()}),
			cloud.Unsupported)
	}
	wantUntouched(t, tw)
}

func TestANodePoolThatOthersStoppedStartsSmall(t *testing.T) {
	tw, c := connect(t)
	n := addPool(tw,
		gcptwin.Pool{Scaling: map[string]any{"enabled": true, "minNodeCount": 2.0, "maxNodeCount": 5.0}}, 0)
	if err := act(t, c, cloud.Start, cloud.GCPGKENodepool, cloud.Target{UID: n.UID()}); err != nil ||
		fmt.Sprint(n.Nodes()) != "[2 2]" {
		t.Errorf("start: %v, %v nodes; want its minimum", err, n.Nodes())
	}
}

func TestAnUnhealthyNodePoolSaysWhy(t *testing.T) {
	tw, c := connect(t)
	n := addPool(tw, gcptwin.Pool{Status: "RUNNING_WITH_ERROR", StatusMessage: "2 nodes did not register"}, 2)
	if s := state(t, c, cloud.GCPGKENodepool, n.UID()); s.Status != cloud.Unknown ||
		s.Reason != "2 nodes did not register" {
		t.Errorf("%+v", s)
	}
}

func TestANodePoolIsScaledByZone(t *testing.T) {
	tw, c := connect(t)
	n := addPool(tw, gcptwin.Pool{Scaling: map[string]any{
		"enabled": true, "minNodeCount": 1.0, "maxNodeCount": 3.0, "locationPolicy": "ANY",
	}}, 2)
	five := int64(5)
	if err := c.Scale(t.Context(), cloud.GCPGKENodepool, region, n.UID(),
		cloud.Capacity{Desired: &five, Max: &five}); err != nil {
		t.Fatal(err)
	}
	tw.SettleAll()
	if fmt.Sprint(n.Nodes()) != "[5 5]" || n.Scaling["maxNodeCount"] != 5.0 || n.Scaling["minNodeCount"] != 1.0 ||
		n.Scaling["locationPolicy"] != "ANY" {
		t.Errorf("%v nodes, scaled %v", n.Nodes(), n.Scaling)
	}
	tw.ChangeLocked(func() {
		n.Scaling = map[string]any{"enabled": true, "totalMinNodeCount": 1.0, "totalMaxNodeCount": 9.0}
	})
	wantClass(t, "a bound of a zone where all count",
		c.Scale(t.Context(), cloud.GCPGKENodepool, region, n.UID(), cloud.Capacity{Max: &five}), cloud.Unsupported)
	tw.ChangeLocked(func() { n.Scaling = nil })
	wantClass(t, "a bound where nothing scales",
		c.Scale(t.Context(), cloud.GCPGKENodepool, region, n.UID(), cloud.Capacity{Max: &five}), cloud.Unsupported)
}

func TestClustersAreNamedAndDescribed(t *testing.T) {
	tw, c := connect(t)
	addPool(tw, gcptwin.Pool{}, 3)
	tw.AddCluster(gcptwin.Cluster{Name: "dev", Location: region + "-b", Status: "DEGRADED"})
	tw.AddCluster(gcptwin.Cluster{Name: "far", Location: "us-central1"})
	clusters := c.(cloud.Clusters)
	names, err := clusters.ClusterNames(t.Context(), region)
	if err != nil || !slices.Equal(names, []string{"dev", "prod"}) {
		t.Errorf("ClusterNames = %v, %v", names, err)
	}
	got, err := clusters.Cluster(t.Context(), region, "prod")
	if err != nil || got.NodeCount == nil || *got.NodeCount != 6 || got.Status != cloud.ClusterActive ||
		got.Version != "1.33.4-gke.100" {
		t.Errorf("Cluster = %+v, %v; want 6 nodes, not those of its description", got, err)
	}
	list, err := c.List(t.Context(), cloud.GCPGKENodepool, region, "")
	if err != nil || len(list.Resources) != 1 || list.Resources[0].ParentUID != got.UID {
		t.Errorf("its pools are of %+v, %v; want %s", list.Resources, err, got.UID)
	}
	_, err = clusters.Cluster(t.Context(), region, "far")
	wantClass(t, "a cluster of another region", err, cloud.NotFound)
	_, err = clusters.Cluster(t.Context(), "../x", "prod")
	wantClass(t, "a region that is none", err, cloud.Invalid)
	tw.AddCluster(gcptwin.Cluster{Name: "dev", Location: region + "-c"})
	_, err = clusters.Cluster(t.Context(), region, "dev")
	wantClass(t, "a name that two zones have", err, cloud.Unsupported)
}

func TestAClusterIsEnteredWithTheAccountsToken(t *testing.T) {
	tw, c := connect(t)
	tw.AddCluster(gcptwin.Cluster{Name: "plain", Location: region, Endpoint: "203.0.113.7", Authority: "UEVN"})
	tw.AddCluster(gcptwin.Cluster{
		Name: "inner", Location: region, Endpoint: "10.0.0.3", Authority: "UEVN",
		Private: true,
	})
	tw.AddCluster(gcptwin.Cluster{
		Name: "private", Location: region, Endpoint: "10.0.0.2", Authority: "UEVN",
		Private: true, DNS: "gke-1.europe-west1.gke.goog",
	})
	tw.AddCluster(gcptwin.Cluster{Name: "young", Location: region, Status: "PROVISIONING"})
	access := c.(cloud.ClusterAccess)
	plain, err := access.EnterCluster(t.Context(), region, "plain")
	uid := "//container.googleapis.com/projects/" + gcptwin.Project + "/locations/" + region + "/clusters/plain"
	if err != nil || plain.UID != uid || plain.Server != "https://203.0.113.7" || string(plain.Authority) != "PEM" {
		t.Fatalf("EnterCluster = %+v, %v", plain, err)
	}
	if token, err := plain.Token(t.Context()); err != nil || !strings.HasPrefix(token, "ya29.twin") {
		t.Errorf("token %q, %v", token, err)
	}
	private, err := access.EnterCluster(t.Context(), region, "private")
	if err != nil || private.Server != "https://gke-1.europe-west1.gke.goog" || private.Authority != nil {
		t.Errorf("EnterCluster of a private one = %+v, %v; want its name in DNS and the system's authorities", private,
			err)
	}
	_, err = access.EnterCluster(t.Context(), region, "inner")
	if wantClass(t, "one in its own network", err, cloud.Unsupported); !strings.Contains(err.Error(),
		"has no public endpoint") {
		t.Errorf("%v; want it said that the cluster is private", err)
	}
	_, err = access.EnterCluster(t.Context(), region, "young")
	wantClass(t, "one without an address yet", err, cloud.Moving)
	_, err = access.EnterCluster(t.Context(), region, "nothing")
	wantClass(t, "one that there is not", err, cloud.NotFound)
}
