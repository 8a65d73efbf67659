package gcp_test

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

var update = flag.Bool("update", false, "write the golden files")

func deadline(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}

// makers make one resource of each kind, which has all that the kind goes through.
var makers = map[string]func(*gcptwin.Cloud) string{
	cloud.GCPCompute: func(tw *gcptwin.Cloud) string {
		tw.AddPolicy("nightly", true)
		return tw.AddInstance(gcptwin.Instance{Name: "web", Zone: region + "-b", Policies: []string{"nightly"}}).UID()
	},
	cloud.GCPMIG: func(tw *gcptwin.Cloud) string {
		tw.AddGroup(gcptwin.Group{
			Name: "jobs", Region: region, Size: 1,
			Scaler: &gcptwin.Scaler{Min: 1, Max: 2, Mode: "ON"},
		})
		return tw.AddGroup(gcptwin.Group{
			Name: "api", Zone: region + "-b", Size: 3,
			Scaler: &gcptwin.Scaler{Min: 2, Max: 9, Mode: "ON"},
		}).UID()
	},
	cloud.GCPCloudSQL: func(tw *gcptwin.Cloud) string {
		return tw.AddDatabase(gcptwin.Database{Name: "orders", Region: region}).UID()
	},
	cloud.GCPGKENodepool: func(tw *gcptwin.Cloud) string {
		return addPool(tw,
			gcptwin.Pool{Scaling: map[string]any{"enabled": true, "minNodeCount": 1.0, "maxNodeCount": 5.0}},
			3).UID()
	},
	cloud.GCPWorkstation: func(tw *gcptwin.Cloud) string { return tw.AddWorkstation(region, "ada").UID() },
	cloud.GCPNotebook:    func(tw *gcptwin.Cloud) string { return tw.AddWorkbench(region+"-b", "study").UID() },
	cloud.GCPDataproc:    func(tw *gcptwin.Cloud) string { return tw.AddSparkCluster(region, "sparks", 0, 0).UID() },
	cloud.GCPAlloyDB: func(tw *gcptwin.Cloud) string {
		return tw.AddAlloyInstance(region, "orders", "main", "PRIMARY").UID()
	},
	cloud.GCPCloudRun: func(tw *gcptwin.Cloud) string {
		return tw.AddService(gcptwin.Service{Name: "shop", Region: region, Min: 2, Max: 9}).UID()
	},
}

// exercise lists, reads, stops, starts and scales the resource, and records each step.
func exercise(t *testing.T, tw *gcptwin.Cloud, kind string, step func(string)) {
	t.Helper()
	c, uid := open(t, tw, keyAccount(gcptwin.KeyFile())), makers[kind](tw)
	must := func(err error) {
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
	}
	step("list")
	for page := ""; ; {
		got, err := c.List(t.Context(), kind, region, page)
		must(err)
		if page = got.Next; page == "" {
			break
		}
	}
	step("read")
	before := state(t, c, kind, uid).Snapshot
	step("stop")
	must(act(t, c, cloud.Stop, kind, cloud.Target{UID: uid}))
	tw.SettleAll()
	step("read, stopped")
	state(t, c, kind, uid)
	step("start")
	must(act(t, c, cloud.Start, kind, cloud.Target{UID: uid, Snapshot: before}))
	tw.SettleAll()
	if k, _ := cloud.KindOf(kind); k.Scalable {
		least := int64(0)
		step("scale to a minimum of 0")
		must(c.Scale(t.Context(), kind, region, uid, cloud.Capacity{Min: &least}))
	}
}

// The golden files hold the calls as they leave this process. A change of a request shows here.
func TestTheRequestsOfEachKindAreTheGoldenOnes(t *testing.T) {
	for kind := range makers {
		t.Run(kind, func(t *testing.T) {
			tw := &gcptwin.Cloud{}
			var b strings.Builder
			written := 0
			write := func() {
				calls := tw.Calls("")
				orderSideBySide(calls[written:])
				for _, k := range calls[written:] {
					b.WriteString(spell(k))
				}
				written = len(calls)
			}
			exercise(t, tw, kind, func(step string) {
				write()
				fmt.Fprintf(&b, "# %s\n", step)
			})
			write()
			wantGolden(t, kind+".golden", b.String())
		})
	}
}

// orderSideBySide orders calls of one method that follow each other, for they go out together: the sizes of the groups
// of a pool.
func orderSideBySide(calls []gcptwin.Call) {
	for from := 0; from < len(calls); {
		to := from + 1
		for to < len(calls) && calls[to].Op == calls[from].Op {
			to++
		}
		slices.SortStableFunc(calls[from:to], func(x, y gcptwin.Call) int { return strings.Compare(x.Path, y.Path) })
		from = to
	}
}

// drawn are ids in bodies that are drawn for each request.
var drawn = regexp.MustCompile(`"requestId":"[^"]*"`)

func spell(k gcptwin.Call) string {
	if strings.HasSuffix(k.Op, ".token") {
		return "POST /token (signed)\n"
	}
	q := url.Values(k.Query)
	if q.Has("requestId") {
		q.Set("requestId", "UUID")
	}
	query, err := url.QueryUnescape(q.Encode())
	if err != nil {
		return err.Error()
	}
	body := drawn.ReplaceAllString(strings.TrimSpace(k.Body), `"requestId":"UUID"`)
	return strings.TrimSpace(k.Method+" "+k.Path+"?"+query+" "+body) + "\n"
}

func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) //nolint:gosec // a file of this package's
	if err != nil || string(want) != got {
		t.Errorf("%s (%v) differs; with -update it is written anew. Sent:\n%s", file, err, got)
	}
}

// permissionOf is the IAM permission that each method takes, from Google's reference; "" takes none.
var permissionOf = map[string]string{
	"oauth2.token": "", "resourcemanager.projects.testIamPermissions": "",
	"compute.instances.aggregatedList":             "compute.instances.list",
	"compute.instanceGroupManagers.aggregatedList": "compute.instanceGroupManagers.list",
	"compute.machineTypes.aggregatedList":          "compute.machineTypes.list",
	"compute.regionInstanceGroupManagers.list":     "compute.instanceGroupManagers.list",
	"compute.regionInstanceGroupManagers.get":      "compute.instanceGroupManagers.get",
	"compute.instanceGroupManagers.resize":         "compute.instanceGroupManagers.update",
	"compute.autoscalers.aggregatedList":           "compute.autoscalers.list",
	"compute.regionAutoscalers.list":               "compute.autoscalers.list",
	"compute.autoscalers.patch":                    "compute.autoscalers.update",
	"compute.autoscalers.insert":                   "compute.autoscalers.create",
	"sql.instances.list":                           "cloudsql.instances.list",
	"sql.instances.get":                            "cloudsql.instances.get",
	"sql.operations.list":                          "cloudsql.instances.get",
	"sql.instances.patch":                          "cloudsql.instances.update",
	"container.nodePools.setSize":                  "container.clusters.update",
	"container.nodePools.setAutoscaling":           "container.clusters.update",
	"run.services.patch":                           "run.services.update",
	"alloydb.instances.patch":                      "alloydb.instances.update",
}

// recommenderPermissions are the IAM permissions of the lists of recommenders, from Google's reference: the method is
// the same, and each recommender has a permission of its own.
var recommenderPermissions = map[string]string{
	"google.compute.instance.IdleResourceRecommender": "recommender.computeInstanceIdleResourceRecommendations.list",
	"google.compute.instance.MachineTypeRecommender":  "recommender.computeInstanceMachineTypeRecommendations.list",
	"google.compute.instanceGroupManager.MachineTypeRecommender": "recommender." +
		"computeInstanceGroupManagerMachineTypeRecommendations.list",
	"google.compute.disk.IdleResourceRecommender":    "recommender.computeDiskIdleResourceRecommendations.list",
	"google.compute.address.IdleResourceRecommender": "recommender.computeAddressIdleResourceRecommendations.list",
	"google.compute.image.IdleResourceRecommender":   "recommender.computeImageIdleResourceRecommendations.list",
	"google.cloudsql.instance.IdleRecommender":       "recommender.cloudsqlIdleInstanceRecommendations.list",
	"google.cloudsql.instance.OverprovisionedRecommender": "recommender." +
		"cloudsqlOverprovisionedInstanceRecommendations.list",
	"google.compute.commitment.UsageCommitmentRecommender": "recommender.usageCommitmentRecommendations.list",
}

// permissionOfRequest returns the IAM permission that a request takes; "" if it takes none.
func permissionOfRequest(t *testing.T, k gcptwin.Call) string {
	t.Helper()
	if k.Op == "recommender.recommendations.list" {
		id := path.Base(path.Dir(k.Path))
		if recommenderPermissions[id] == "" {
			t.Errorf("the permission of recommender %q is not known here: add it from Google's reference", id)
		}
		return recommenderPermissions[id]
	}
	if p, known := permissionOf[k.Op]; known {
		return p
	}
	return k.Op
}

// The permissions that customers are told to grant are exactly those of the calls: none is missing, and none is
// unused.
func TestTheRequiredPermissionsAreThoseOfTheCalls(t *testing.T) {
	// of suspended ones, of regions
	tw, called := &gcptwin.Cloud{},
		map[string]bool{"compute.instances.resume": true, "compute.regionOperations.get": true}
	// is checked when an autoscaler is made, and is no method
	called["compute.instanceGroupManagers.use"] = true
	for kind := range makers {
		exercise(t, tw, kind, func(string) {})
	}
	c := open(t, tw, keyAccount(gcptwin.KeyFile()))
	if _, err := c.Identify(t.Context()); err != nil {
		t.Fatal(err)
	}
	scaleAndBack(t, tw, c.(cloud.Autoscaler))
	if _, err := c.Regions(t.Context()); err != nil {
		t.Fatal(err)
	}
	tw.AddAsset(asset("storage.googleapis.com/Bucket", region, "storage.googleapis.com/media"))
	if _, err := c.List(t.Context(), cloud.GCPOthers, region, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := c.(cloud.Sizer).Sizes(t.Context(), region); err != nil {
		t.Fatal(err)
	}
	if _, err := c.(cloud.Metered).Metrics(t.Context(),
		request(cloud.GCPCompute, (&gcptwin.Instance{Name: "web", Zone: region + "-b"}).UID())); err != nil {
		t.Fatal(err)
	}
	if _, a, err := readOpinions(t, tw, 1); err != nil || a.State != cloud.OpinionsRead {
		t.Fatalf("opinions: %+v, %v", a, err)
	}
	for _, k := range tw.Calls("") {
		if p := permissionOfRequest(t, k); p != "" {
			called[p] = true
		}
	}
	need := gcp.ListRequiredPermissions()
	for p := range called {
		if !slices.Contains(need.Scale, p) {
			t.Errorf("%s is called and not asked for", p)
		}
	}
	for _, p := range need.Scale {
		if !called[p] {
			t.Errorf("%s is asked for and not called", p)
		}
	}
	for _, p := range need.Discover {
		reads := []string{".get", ".list", ".searchAllResources", ".searchAllIamPolicies"}
		if !slices.ContainsFunc(reads, func(s string) bool { return strings.HasSuffix(p, s) }) {
			t.Errorf("discover takes %s, which changes something", p)
		}
	}
}
