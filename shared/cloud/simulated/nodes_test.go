package simulated

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// TestNodes_AreMachinesThatHoldWhatRunsOnThem: each node is a machine of the account, no two the same, and pods
// request no more than it has.
func TestNodes_AreMachinesThatHoldWhatRunsOnThem(t *testing.T) {
	settings := map[string]string{"size": "80", "kinds": "aws-ec2,kubernetes-*", "regions": "eu-west-1"}
	machines, nodes := map[string]cloud.Resource{}, 0
	p := New(tabletest.New(t), clock.System{})
	c := apitest.Value(p.Connect(t.Context(), account(settings)))(t)
	for _, r := range apitest.Value(c.List(t.Context(), cloud.AWSEC2, "eu-west-1", ""))(t).Resources {
		machines[r.UID] = r
	}
	loads, deployments := 0, 0
	for _, r := range others(t, settings) {
		if r.Type == cloud.KubernetesDeployment {
			deployments++
		}
		if r.Type != cloud.KubernetesNode {
			continue
		}
		nodes++
		m, is := machines[r.Facts[cloud.NodeMachine].(string)]
		if !is || m.InstanceType != r.InstanceType || r.Facts[cloud.NodeCores] != float64(m.Capacity["vCPU"]) ||
			r.ParentUID == "" {
			t.Errorf("node %+v of machine %+v", r, m)
		}
		delete(machines, m.UID)
		cores, memory := 0.0, 0.0
		for _, text := range r.Facts[cloud.NodeLoads].([]string) {
			l := apitest.Value(cloud.ParseNodeLoad(text))(t)
			cores, memory, loads = cores+l.Cores, memory+l.GiB, loads+1
		}
		if cores > r.Facts[cloud.NodeCores].(float64)+1e-6 || memory > r.Facts[cloud.NodeGiB].(float64)+1e-6 {
			t.Errorf("%g cores and %g GiB are requested of %+v", cores, memory, r.Facts)
		}
	}
	if nodes != (deployments+deploymentsPerNode-1)/deploymentsPerNode || loads < deployments/2 {
		t.Errorf("%d nodes with %d workloads, of %d Deployments", nodes, loads, deployments)
	}
}
