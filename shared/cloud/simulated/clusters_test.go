package simulated

import (
	"reflect"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// described asks for a cluster that must be there.
func described(t *testing.T, c cloud.Conn, region string) cloud.Cluster {
	t.Helper()
	got, err := c.(cloud.Clusters).Cluster(t.Context(), region, "main")
	if err != nil || got.NodeCount == nil {
		t.Fatalf("Cluster(%s) = %+v, %v", region, got, err)
	}
	return got
}

func TestEachRegionWithNodeGroupsHasTheirCluster(t *testing.T) {
	s := newFixture(t)
	c := s.open(t, map[string]string{"size": "200", "regions": "eu-west-1,us-east-1"})
	for _, region := range []string{"eu-west-1", "us-east-1"} {
		names, err := c.(cloud.Clusters).ClusterNames(t.Context(), region)
		if err != nil || !slices.Equal(names, []string{"main"}) {
			t.Fatalf("ClusterNames(%s) = %v, %v", region, names, err)
		}
		got, nodes := described(t, c, region), 0
		for _, r := range in(c, cloud.AWSEKSNodegroup, region).list(t) {
			nodes += int(r.Capacity["desired"])
			if r.ParentUID != got.UID {
				t.Errorf("node group %s is in %s, not in %s", r.Name, r.ParentUID, got.UID)
			}
		}
		if nodes == 0 || *got.NodeCount != nodes || got.Status != cloud.ClusterActive ||
			!slices.Contains(versions, got.Version) {
			t.Errorf("%+v with %d nodes; its node groups have %d", got, *got.NodeCount, nodes)
		}
		if again := described(t, s.open(t, map[string]string{"size": "200", "regions": "eu-west-1,us-east-1"}),
			region); !reflect.DeepEqual(got, again) {
			t.Errorf("%+v, then %+v", got, again)
		}
	}
}

func TestAStoppedNodeGroupHasNoNodesInItsCluster(t *testing.T) {
	s := newFixture(t)
	c := s.open(t, map[string]string{"size": "1", "kinds": cloud.AWSEKSNodegroup, "regions": "1", "stopped": "0"})
	at := in(c, cloud.AWSEKSNodegroup, "us-east-1")
	before := *described(t, c, "us-east-1").NodeCount
	uid := at.list(t)[0].UID
	if r := c.Act(t.Context(), cloud.Stop, at.kind, at.region, []cloud.Target{{UID: uid}}); r[0].Err != nil {
		t.Fatal(r[0].Err)
	}
	if after := *described(t, c, "us-east-1").NodeCount; before == 0 || after != 0 {
		t.Errorf("%d nodes before the stop, %d after it", before, after)
	}
}

func TestClustersMeetTheFaultsOfTheirAccount(t *testing.T) {
	tests := []struct {
		name     string
		settings map[string]string
		region   string
		cluster  string
		want     cloud.Class
	}{
		{"another name", nil, "us-east-1", "prod", cloud.NotFound},
		{"no node groups, no cluster", map[string]string{"kinds": cloud.AWSEC2}, "us-east-1", "main", cloud.NotFound},
		{"a region that the account does not have", nil, "mars", "main", cloud.Invalid},
		{"a denied look", map[string]string{"denied": "eks:DescribeCluster"}, "us-east-1", "main", cloud.Denied},
		{"a denied region", map[string]string{"denied": "us-east-1"}, "us-east-1", "main", cloud.Denied},
		{"refused credentials", map[string]string{"refuse": "true"}, "us-east-1", "main", cloud.Refused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newFixture(t).open(t, tt.settings).(cloud.Clusters)
			_, err := c.Cluster(t.Context(), tt.region, tt.cluster)
			wantClass(t, err, tt.want)
		})
	}
	c := newFixture(t).open(t, map[string]string{"denied": "eks:ListClusters"}).(cloud.Clusters)
	_, err := c.ClusterNames(t.Context(), "us-east-1")
	wantClass(t, err, cloud.Denied)
}

func TestTheStatusOfClustersCanBeSet(t *testing.T) {
	s := newFixture(t)
	if got := described(t, s.open(t, map[string]string{"clusterStatus": "creating"}),
		"us-east-1"); got.Status != cloud.ClusterCreating {
		t.Errorf("%+v; want it creating", got)
	}
	_, err := s.Connect(t.Context(), account(map[string]string{"clusterStatus": "levitating"}))
	wantClass(t, err, cloud.Invalid)
}
