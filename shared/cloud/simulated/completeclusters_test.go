package simulated

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// All objects of clusters have all facts that a real cluster's listing tells, and some of them are weak.
func TestOthers_ObjectsOfClustersHaveTheFactsOfARealCluster(t *testing.T) {
	found := others(t, map[string]string{
		"size": "3000", "kinds": "aws-ec2,kubernetes-*", "regions": "eu-west-1", "facts": "complete",
	})
	first := map[string]cloud.Facts{}
	weak, claims := 0, 0
	for _, r := range found {
		if first[r.Type] == nil {
			first[r.Type] = r.Facts
		}
		if r.Type == "kubernetes-persistentvolumeclaim" {
			if claims++; r.Facts["mounted_by"] == 0.0 {
				weak++
			}
		}
	}
	for kind := range clusterCompletions {
		if first[kind] == nil {
			t.Errorf("no %s is found", kind)
		}
		cloudtest.CheckFactsOf(t, kind, first[kind])
	}
	if weak < claims/10 || weak > claims/3 || claims < 100 {
		t.Errorf("%d of %d claims are not mounted, want one in five", weak, claims)
	}
}
