package gcp_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

const region = "europe-west1"

// options reach the twin instead of Google, and never pause for long.
func options(transport http.RoundTripper) gcp.Options {
	return gcp.Options{
		Clock: clock.System{}, Transport: transport, MaxBackoff: time.Millisecond, Limits: map[string]gcp.Limit{"": {}},
		Identity: &gcptwin.Identity{}, OAuth: gcp.OAuthClient{ID: gcptwin.ClientID, Secret: gcptwin.ClientSecret},
	}
}

func keyAccount(file string) cloud.Account {
	return cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: "gcp", AuthMethod: "service_account",
		Credentials: map[string]string{"serviceAccountKey": file},
	}
}

// connect opens a new twin.
func connect(t *testing.T) (*gcptwin.Cloud, cloud.Conn) {
	t.Helper()
	tw := &gcptwin.Cloud{}
	return tw, open(t, tw, keyAccount(gcptwin.KeyFile()))
}

func open(t *testing.T, tw *gcptwin.Cloud, a cloud.Account) cloud.Conn {
	t.Helper()
	c, err := gcp.New(options(tw)).Connect(t.Context(), a)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	return c
}

// mutations are the twin's operations that start, stop and scale.
var mutations = []string{
	"compute.instances.stop", "compute.instances.start", "compute.instances.resume",
	"compute.instanceGroupManagers.resize", "compute.regionInstanceGroupManagers.resize", "compute.autoscalers.patch",
	"compute.regionAutoscalers.patch",
	"sql.instances.patch", "container.nodePools.setSize", "container.nodePools.setAutoscaling", "run.services.patch",
	"workstations.workstations.start", "workstations.workstations.stop", "notebooks.instances.start",
	"notebooks.instances.stop",
	"dataproc.clusters.start", "dataproc.clusters.stop", "alloydb.instances.patch",
}

func TestGoogleCloudOverItsTwinKeepsTheContractOfClouds(t *testing.T) {
	tw := &gcptwin.Cloud{Page: 2}
	refused := keyAccount(gcptwin.StrangersKeyFile())
	cloudtest.Run(t, gcp.New(options(tw)), cloudtest.Fixture{
		Account: keyAccount(gcptwin.KeyFile()), NativeID: gcptwin.Project, Refused: &refused,
		Groups: []cloudtest.Group{
			instanceGroup(tw), migGroup(tw), databaseGroup(tw), poolGroup(tw), runGroup(tw), workstationGroup(tw),
			workbenchGroup(tw), sparkGroup(tw), alloyGroup(tw),
		},
		Metered: []cloudtest.Metered{metered(tw)}, Collective: collective(tw),
		Settle:   tw.SettleAll,
		Throttle: tw.ThrottleCalls,
		Deny: func(on bool) {
			tw.EndFaults()
			for _, op := range mutations {
				if on {
					tw.AddFault(deny(op))
				}
			}
		},
	})
}

// far is a region without resources of the contract.
const far = "us-central1"

func metered(tw *gcptwin.Cloud) cloudtest.Metered {
	uid := func(name string) string {
		return "//compute.googleapis.com/projects/" + gcptwin.Project + "/zones/" + far + "-a/instances/" + name
	}
	at := map[time.Time]float64{}
	for h := range 24 {
		if h != 3 {
			at[midnight.Add(time.Duration(h+1)*time.Hour)] = 0
		}
	}
	tw.AddSeries(gcptwin.Series{
		Metric: "compute.googleapis.com/instance/cpu/utilization", Resource: "gce_instance",
		Labels:       map[string]string{"zone": far + "-a"},
		MetricLabels: map[string]string{"instance_name": "used"}, At: at,
	})
	const op = "monitoring.timeSeries.list"
	m := cloudtest.Metered{
		Kind: cloud.GCPCompute, Region: far, Measured: []string{uid("used")}, Quiet: []string{uid("quiet")},
		Missing: uid("nothing"), PerCall: 100_000,
		Start: midnight, Gap: 3 * time.Hour, Unmeasured: "gcp-dns-zone", Calls: func() int { return len(tw.Calls(op)) },
		Deny: func(on bool) {
			tw.EndFaults()
			if on {
				tw.AddFault(deny(op))
			}
		},
	}
	for n := range 150 {
		m.Many = append(m.Many, uid(fmt.Sprint("many-", n)))
	}
	return m
}

func collective(tw *gcptwin.Cloud) *cloudtest.Collective {
	c := &cloudtest.Collective{Region: far, Facts: map[string]string{}, Pages: 2, Break: func(on bool) {
		tw.EndFaults()
		if on {
			tw.AddFault(deny(assetsSearch))
		}
	}}
	for n := range 3 {
		disk := asset("compute.googleapis.com/Disk", far+"-a",
			fmt.Sprint("compute.googleapis.com/projects/acme-prod/zones/us-central1-a/disks/d-", n))
		disk.Thing = `{"sizeGb":"8","type":"pd-ssd"}`
		tw.AddAsset(disk)
		c.Facts[disk.Name] = "size_gb"
	}
	return c
}

const assetsSearch = "cloudasset.assets.searchAllResources"

// deny returns the answer of the op's API for a missing permission.
func deny(op string) gcptwin.Fault {
	return gcptwin.Fault{
		Op: op, Reason: "forbidden", Message: "Required permission for " + op + " is missing",
		Status: 403, Times: -1,
	}
}

func instanceGroup(tw *gcptwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.GCPCompute, Region: region, Pages: 3, Tied: map[string]string{}}
	g.Missing = (&gcptwin.Instance{Name: "nothing", Zone: region + "-b"}).UID()
	for n := range 4 {
		g.Free = append(g.Free,
			tw.AddInstance(gcptwin.Instance{Name: fmt.Sprint("web-", n), Zone: region + "-" + string("bcdb"[n])}).UID())
	}
	tied := map[string]gcptwin.Instance{
		"member of managed instance group web": {Group: "web"},
		"node of GKE node pool blue": {
			Group:  "gke-x-blue-1-grp",
			Labels: map[string]string{"goog-k8s-node-pool-name": "blue"},
		},
		"Dataproc cluster sparks": {Labels: map[string]string{"goog-dataproc-cluster-name": "sparks"}},
		"has 2 local SSD":         {LocalSSDs: 2},
	}
	for reason, i := range tied {
		i.Name, i.Zone = fmt.Sprint("tied-", len(g.Tied)), region+"-c"
		g.Tied[tw.AddInstance(i).UID()] = reason
	}
	tw.AddInstance(gcptwin.Instance{Name: "going", Zone: region + "-b", Status: "DEPROVISIONING"})
	tw.AddInstance(gcptwin.Instance{Name: "web-0", Zone: "us-central1-a"})
	return g
}

func migGroup(tw *gcptwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.GCPMIG, Region: region, Pages: 3, Tied: map[string]string{}}
	g.Missing = (&gcptwin.Group{Name: "nothing", Zone: region + "-b"}).UID()
	for _, one := range []gcptwin.Group{
		{Name: "web", Zone: region + "-b", Size: 2},
		{Name: "api", Zone: region + "-c", Size: 3, Scaler: &gcptwin.Scaler{Min: 2, Max: 9, Mode: "ON"}},
		{Name: "cart", Zone: region + "-c", Size: 3, Scaler: &gcptwin.Scaler{Min: 2, Max: 9, Mode: "ON"}},
		{Name: "jobs", Region: region, Size: 3},
		{
			Name: "shop", Region: region, Size: 4,
			Scaler: &gcptwin.Scaler{Min: 1, Max: 6, Mode: "ONLY_SCALE_OUT", Description: "of the shop"},
		},
	} {
		g.Free = append(g.Free, tw.AddGroup(one).UID())
	}
	g.Tied[tw.AddGroup(gcptwin.Group{Name: "store", Zone: region + "-b", Size: 1, Stateful: true}).UID()] = "stateful"
	for zone, pool := range map[string]string{"b": "prod-blue", "c": "prod-blue", "d": "auto-pool"} { // of poolGroup
		g.Tied[(&gcptwin.Group{Name: "gke-" + pool + "-0a1b-grp", Zone: region + "-" + zone}).UID()] = "GKE node pool"
	}
	for _, pool := range []string{"dev-green", "test-lime", "stage-teal"} {
		g.Tied[(&gcptwin.Group{Name: "gke-" + pool + "-0a1b-grp", Zone: region + "-b"}).UID()] = "GKE node pool"
	}
	tw.AddGroup(gcptwin.Group{Name: "web", Zone: "us-central1-a", Size: 1})
	return g
}

func databaseGroup(tw *gcptwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.GCPCloudSQL, Region: region, Pages: 2, Tied: map[string]string{}}
	g.Missing = (&gcptwin.Database{Name: "nothing"}).UID()
	for _, name := range []string{"orders", "users"} {
		g.Free = append(g.Free, tw.AddDatabase(gcptwin.Database{Name: name, Region: region}).UID())
	}
	g.Tied[tw.AddDatabase(gcptwin.Database{
		Name: "copy", Region: region,
		ReplicaOf: "main",
	}).UID()] = "read replica of main"
	g.Tied[tw.AddDatabase(gcptwin.Database{
		Name: "main", Region: region,
		Replicas: []string{"copy"},
	}).UID()] = "primary of read replicas (copy)"
	g.Tied[tw.AddDatabase(gcptwin.Database{
		Name: "reads", Region: region,
		Type: "READ_POOL_INSTANCE",
	}).UID()] = "READ_POOL_INSTANCE"
	tw.AddDatabase(gcptwin.Database{Name: "near", Region: region + "0"})
	return g
}

func poolGroup(tw *gcptwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.GCPGKENodepool, Region: region, Tied: map[string]string{}}
	prod := tw.AddCluster(gcptwin.Cluster{Name: "prod", Location: region})
	zonal := tw.AddCluster(gcptwin.Cluster{Name: "dev", Location: region + "-b"})
	stage := tw.AddCluster(gcptwin.Cluster{Name: "stage", Location: region + "-b"})
	test := tw.AddCluster(gcptwin.Cluster{Name: "test", Location: region + "-b"})
	auto := tw.AddCluster(gcptwin.Cluster{Name: "auto", Location: region, Autopilot: true})
	scaled := map[string]any{"enabled": true, "minNodeCount": 1, "maxNodeCount": 5}
	g.Free = append(g.Free,
		tw.AddPool(prod, gcptwin.Pool{Name: "blue", Zones: []string{region + "-b", region + "-c"}, Scaling: scaled},
			2).UID(),
		tw.AddPool(stage, gcptwin.Pool{Name: "teal", Zones: []string{region + "-b"}, Scaling: maps.Clone(scaled)},
			2).UID(),
		tw.AddPool(zonal, gcptwin.Pool{Name: "green", Zones: []string{region + "-b"}}, 3).UID(),
		tw.AddPool(test, gcptwin.Pool{Name: "lime", Zones: []string{region + "-b"}}, 3).UID())
	g.Tied[tw.AddPool(auto, gcptwin.Pool{Name: "pool", Zones: []string{region + "-d"}}, 1).UID()] = "Autopilot"
	g.Missing = prod.UID() + "/nodePools/nothing"
	tw.AddPool(tw.AddCluster(gcptwin.Cluster{Name: "far", Location: "us-central1-a"}),
		gcptwin.Pool{Name: "red", Zones: []string{"us-central1-a"}}, 1)
	return g
}

func runGroup(tw *gcptwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.GCPCloudRun, Region: region, Pages: 3, Tied: map[string]string{}}
	g.Missing = (&gcptwin.Service{Name: "nothing", Region: region}).UID()
	g.Free = append(g.Free,
		tw.AddService(gcptwin.Service{Name: "worker", Region: region, Mode: "MANUAL", Manual: 3}).UID(),
		tw.AddService(gcptwin.Service{Name: "cleaner", Region: region, Mode: "MANUAL", Manual: 2}).UID(),
		tw.AddService(gcptwin.Service{Name: "cart", Region: region, Min: 1, Max: 20}).UID(),
		tw.AddService(gcptwin.Service{
			Name: "shop", Region: region, Min: 2, Max: 20,
			Annotations: map[string]string{"owner": "ada"},
		}).UID())
	g.Tied[tw.AddService(gcptwin.Service{Name: "hook", Region: region}).UID()] = "nothing to stop"
	g.Tied[tw.AddService(gcptwin.Service{Name: "old", Region: region, RevisionMin: 3}).UID()] = "set on the revision"
	g.Tied[tw.AddService(gcptwin.Service{
		Name: "fn", Region: region, Min: 1,
		Labels: map[string]string{"goog-managed-by": "cloudfunctions"},
	}).UID()] = "Cloud Function"
	return g
}

func workstationGroup(tw *gcptwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.GCPWorkstation, Region: region, Pages: 1}
	for n := range 3 {
		g.Free = append(g.Free, tw.AddWorkstation(region, fmt.Sprint("ada-", n)).UID())
	}
	g.Missing = g.Free[0] + "-nothing"
	tw.AddWorkstation("us-central1", "far")
	return g
}

func workbenchGroup(tw *gcptwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.GCPNotebook, Region: region, Pages: 1}
	for n := range 3 {
		g.Free = append(g.Free, tw.AddWorkbench(region+"-"+string("bcd"[n]), fmt.Sprint("study-", n)).UID())
	}
	g.Missing = g.Free[0] + "-nothing"
	tw.AddWorkbench("us-central1-a", "far")
	return g
}

func sparkGroup(tw *gcptwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.GCPDataproc, Region: region, Pages: 2, Tied: map[string]string{}}
	for n := range 2 {
		g.Free = append(g.Free, tw.AddSparkCluster(region, fmt.Sprint("sparks-", n), 0, 0).UID())
	}
	g.Missing = g.Free[0] + "-nothing"
	g.Tied[tw.AddSparkCluster(region, "many", 4, 0).UID()] = "4 secondary workers"
	g.Tied[tw.AddSparkCluster(region, "fast", 0, 2).UID()] = "2 local SSDs"
	tw.AddSparkCluster("us-central1", "far", 0, 0)
	return g
}

func alloyGroup(tw *gcptwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.GCPAlloyDB, Region: region, Pages: 2, Tied: map[string]string{}}
	g.Free = append(g.Free, tw.AddAlloyInstance(region, "orders", "main", "PRIMARY").UID(),
		tw.AddAlloyInstance(region, "orders", "reads", "READ_POOL").UID(),
		tw.AddAlloyInstance(region, "users", "main", "PRIMARY").UID())
	g.Missing = g.Free[0] + "-nothing"
	g.Tied[tw.AddAlloyInstance(region, "copy", "main", "SECONDARY").UID()] = "secondary cluster"
	tw.AddAlloyInstance("us-central1", "far", "main", "PRIMARY")
	return g
}

// state reads one resource.
func state(t *testing.T, c cloud.Conn, kind, uid string) cloud.State {
	t.Helper()
	got, err := c.Read(context.Background(), kind, region, []string{uid})
	if err != nil || len(got) != 1 {
		t.Fatalf("Read(%s) = %v, %v; want one state", uid, got, err)
	}
	return got[0]
}

// act does one act and gives its error.
func act(t *testing.T, c cloud.Conn, v cloud.Verb, kind string, target cloud.Target) error {
	t.Helper()
	got := c.Act(context.Background(), v, kind, region, []cloud.Target{target})
	if len(got) != 1 {
		t.Fatalf("Act(%s) = %v; want one result", target.UID, got)
	}
	return got[0].Err
}

func wantClass(t *testing.T, what string, err error, want cloud.Class) {
	t.Helper()
	if err == nil || cloud.ClassOf(err) != want {
		t.Errorf("%s: %v of class %d; want class %d", what, err, cloud.ClassOf(err), want)
	}
}
