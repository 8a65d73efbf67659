package simulated

import (
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// measuredDay is a Monday.
var measuredDay = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// Workloads of a simulated cluster use less than their nodes have and more than nothing, and some of them less than
// half of what they request.
func TestMetrics_OfClustersShowWorkloadsWithTooLargeRequests(t *testing.T) {
	p := New(tabletest.New(t), clock.NewManual(measuredDay.AddDate(0, 0, 1)))
	conn, err := p.Connect(t.Context(), account(map[string]string{
		"size": "1000", "kinds": "aws-ec2,kubernetes-*", "regions": "eu-west-1", "facts": "complete",
	}))
	if err != nil {
		t.Fatal(err)
	}
	found := cloudtest.ListAll(t, conn, "eu-west-1", cloud.CollectiveOf(Name).Type)
	byUID := map[string]cloud.Resource{}
	r := cloud.MetricRequest{
		Type: cloud.KubernetesDeployment, Region: "eu-west-1", Measures: cloud.MeasuresOf(cloud.KubernetesDeployment),
		Period: time.Hour, From: measuredDay, To: measuredDay.AddDate(0, 0, 1),
	}
	for _, one := range found {
		if one.Type == cloud.KubernetesDeployment && one.Status == cloud.Running {
			r.UIDs, byUID[one.UID] = append(r.UIDs, one.UID), one
		}
	}
	got, err := conn.(cloud.Metered).Metrics(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	small, all := 0, 0
	for _, p := range got.Points {
		if r.Measures[p.Measure].Metric != "container_memory_working_set_bytes" {
			continue
		}
		request := byUID[p.UID].Facts["mem_request_gib"].(float64) * (1 << 30)
		if all++; p.Values[0] <= 0 || p.Values[0] > request {
			t.Errorf("%s uses %g of %g bytes", p.UID, p.Values[0], request)
		}
		if p.Values[0]*1.15 < request/2 {
			small++
		}
	}
	if all < 10 || small == 0 || small > all/2 {
		t.Errorf("%d of %d Deployments request more than twice their memory", small, all)
	}
}
