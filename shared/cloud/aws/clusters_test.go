package aws_test

import (
	"fmt"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// clusters connects to a new twin and returns its interface for clusters.
func clusters(t *testing.T) (*awstwin.Cloud, cloud.Clusters) {
	t.Helper()
	tw, c := connect(t)
	k, ok := c.(cloud.Clusters)
	if !ok {
		t.Fatal("AWS tells nothing about clusters")
	}
	return tw, k
}

func TestClustersAreNamedPageByPage(t *testing.T) {
	tw, c := clusters(t)
	tw.Page = 2
	var want []string
	for n := range 5 {
		want = append(want, tw.AddCluster(awstwin.Cluster{Name: fmt.Sprint("prod-", n), Region: region}).Name)
	}
	tw.AddCluster(awstwin.Cluster{Name: "elsewhere", Region: "us-east-1"})
	got, err := c.ClusterNames(t.Context(), region)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("ClusterNames = %v, %v; want %v", got, err, want)
	}
	if calls := len(tw.Calls("eks:ListClusters")); calls != 3 {
		t.Errorf("%d calls for 3 pages", calls)
	}
	if got, err := c.ClusterNames(t.Context(), "eu-north-1"); err != nil || len(got) != 0 {
		t.Errorf("a region without clusters: %v, %v", got, err)
	}
}

func TestAClusterIsDescribedWithTheNodesOfItsGroups(t *testing.T) {
	tw, c := clusters(t)
	tw.Page = 2
	k := tw.AddCluster(awstwin.Cluster{Name: "prod", Region: region, Version: "1.32"})
	for n := range 3 {
		tw.AddNodegroup(awstwin.Nodegroup{
			Cluster: "prod", Name: fmt.Sprint("blue-", n), Region: region, Min: 1, Max: 5,
			Desired: n + 1,
		})
	}
	tw.AddNodegroup(awstwin.Nodegroup{
		Cluster: "prod", Name: "old", Region: region, Min: 1, Max: 9, Desired: 9,
		Status: "DELETING",
	})
	tw.AddNodegroup(awstwin.Nodegroup{Cluster: "stage", Name: "green", Region: region, Min: 1, Max: 4, Desired: 4})
	got, err := c.Cluster(t.Context(), region, "prod")
	if err != nil || got.NodeCount == nil {
		t.Fatalf("Cluster = %+v, %v", got, err)
	}
	if *got.NodeCount != 6 || got.UID != k.ARN() || got.Name != "prod" || got.Region != region ||
		got.Version != "1.32" || got.Status != cloud.ClusterActive {
		t.Errorf("Cluster = %+v with %d nodes; want 6", got, *got.NodeCount)
	}
}

func TestStatusesOfClusters(t *testing.T) {
	tw, c := clusters(t)
	k := tw.AddCluster(awstwin.Cluster{Name: "prod", Region: region})
	for native, want := range map[string]cloud.ClusterStatus{
		"CREATING": cloud.ClusterCreating, "PENDING": cloud.ClusterCreating, "ACTIVE": cloud.ClusterActive,
		"UPDATING": cloud.ClusterUpdating, "DELETING": cloud.ClusterDeleting, "FAILED": cloud.ClusterFailed,
		"LEVITATING": cloud.ClusterUnknown,
	} {
		tw.ChangeLocked(func() { k.Status = native })
		if got, err := c.Cluster(t.Context(), region, "prod"); err != nil || got.Status != want {
			t.Errorf("%s: %q, %v; want %q", native, got.Status, err, want)
		}
	}
}

func TestClustersThatCannotBeRead(t *testing.T) {
	denial := func(op string) awstwin.Fault {
		return awstwin.Fault{
			Op: op, Code: "AccessDeniedException", Message: "User is not authorized to perform: " + op,
			Status: 403, Times: -1,
		}
	}
	broken := func(op string) awstwin.Fault {
		return awstwin.Fault{Op: op, Code: "ServerException", Message: "Internal error", Status: 500, Times: -1}
	}
	tests := []struct {
		name   string
		fault  awstwin.Fault
		region string
		asked  string
		want   cloud.Class
	}{
		{"one that is not there", awstwin.Fault{}, region, "nothing", cloud.NotFound},
		{"one of another region", awstwin.Fault{}, "us-east-1", "prod", cloud.NotFound},
		{"a name that no cluster can have", awstwin.Fault{}, region, "prod/node-groups", cloud.NotFound},
		{"a region that is none", awstwin.Fault{}, "https://evil", "prod", cloud.Invalid},
		{"a cluster that may not be described", denial("eks:DescribeCluster"), region, "prod", cloud.Denied},
		{"an answer that fails", broken("eks:DescribeCluster"), region, "prod", cloud.Transient},
		{"node groups whose listing fails", broken("eks:ListNodegroups"), region, "prod", cloud.Transient},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tw, c := clusters(t)
			tw.AddNodegroup(awstwin.Nodegroup{
				Cluster: "prod", Name: "blue", Region: region, Min: 1, Max: 1,
				Desired: 1,
			})
			tw.AddFault(tt.fault)
			_, err := c.Cluster(t.Context(), tt.region, tt.asked)
			wantClass(t, tt.name, err, tt.want)
		})
	}
}

func TestNodesThatMayNotBeCountedAreLeftOut(t *testing.T) {
	for _, op := range []string{"eks:ListNodegroups", "eks:DescribeNodegroup"} {
		tw, c := clusters(t)
		tw.AddNodegroup(awstwin.Nodegroup{Cluster: "prod", Name: "blue", Region: region, Min: 1, Max: 1, Desired: 1})
		tw.AddFault(awstwin.Fault{
			Op: op, Code: "AccessDeniedException", Message: "not authorized", Status: 403,
			Times: -1,
		})
		got, err := c.Cluster(t.Context(), region, "prod")
		if err != nil || got.NodeCount != nil || got.Status != cloud.ClusterActive {
			t.Errorf("%s denied: %+v, %v; want the cluster without a count", op, got, err)
		}
	}
}

func TestAThrottledListingOfClustersIsTriedAgain(t *testing.T) {
	tw, c := clusters(t)
	tw.AddCluster(awstwin.Cluster{Name: "prod", Region: region})
	tw.ThrottleCalls(2)
	if got, err := c.ClusterNames(t.Context(), region); err != nil || len(got) != 1 {
		t.Errorf("ClusterNames = %v, %v", got, err)
	}
	tw.ThrottleCalls(100)
	_, err := c.ClusterNames(t.Context(), region)
	wantClass(t, "throttled for good", err, cloud.Throttled)
}

func TestTheProbeTellsWhetherClustersMayBeDescribed(t *testing.T) {
	status := func(c cloud.Conn) string {
		t.Helper()
		got, err := c.Permissions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(got, func(p cloud.Permission) bool { return p.Action == "eks:DescribeCluster" })
		if i < 0 {
			t.Fatal("eks:DescribeCluster is not among the permissions")
		}
		return got[i].Status
	}
	tw, c := connect(t)
	if got := status(c); got != "granted" {
		t.Errorf("allowed: %s", got)
	}
	tw.AddFault(awstwin.Fault{
		Op: "eks:DescribeCluster", Code: "AccessDeniedException", Message: "not authorized",
		Status: 403, Times: -1,
	})
	if got := status(c); got != "denied" {
		t.Errorf("denied: %s", got)
	}
}

// A peer that we did not write lists and describes the same.
func TestMotoTellsItsClusters(t *testing.T) {
	url := moto(t)
	s := seeder{t: t, ctx: t.Context(), cfg: motoConfig(url)}
	s.nodegroups()
	conn, err := aws.New(motoOptions()).Connect(t.Context(), motoKeys(url))
	if err != nil {
		t.Fatal(err)
	}
	c := conn.(cloud.Clusters)
	names, err := c.ClusterNames(t.Context(), region)
	if err != nil || !slices.Equal(names, []string{"prod"}) {
		t.Fatalf("ClusterNames = %v, %v", names, err)
	}
	got, err := c.Cluster(t.Context(), region, "prod")
	if err != nil || got.NodeCount == nil || *got.NodeCount != 4 || got.Status != cloud.ClusterActive || got.UID == "" {
		t.Errorf("Cluster = %+v, %v; want it active with 4 nodes", got, err)
	}
	_, err = c.Cluster(t.Context(), region, "nothing")
	wantClass(t, "a cluster that is not there", err, cloud.NotFound)
}
