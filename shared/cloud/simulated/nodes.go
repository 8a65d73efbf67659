package simulated

import (
	"slices"
	"strconv"
	"time"

	"lamplighter.dev/shared/cloud"
)

// deploymentsPerNode is how many Deployments of a region there are for each node of its cluster, as far as there are
// machines for nodes, and maxNodes how many nodes a cluster has at most: pods beyond them wait.
const (
	deploymentsPerNode = 5
	maxNodes           = 100
)

// The places of the kinds that are in clusters.
var (
	kindKubernetesNode, _ = kindOf(cloud.KubernetesNode)
	kindDeployment, _     = kindOf(cloud.KubernetesDeployment)
	kindStatefulSet, _    = kindOf(cloud.KubernetesStatefulSet)
)

// addNodes gives the clusters of regions that have Deployments their nodes, which come on top of the size that an
// account is said to have.
func (s *settings) addNodes(wanted []bool) {
	if !wanted[kindKubernetesNode] {
		return
	}
	for i, region := range s.regions {
		need := min((s.counts[kindDeployment][i]+deploymentsPerNode-1)/deploymentsPerNode, maxNodes)
		s.counts[kindKubernetesNode][i] = len(s.nodeMachines(region, need))
	}
}

// leastCores is how many cores a machine has that serves as a node.
const leastCores = 4

// nodeMachines returns up to so many machines that are the nodes of a region's cluster: those with the lowest numbers
// that were on from the beginning, are large enough and belong to no group.
func (s *settings) nodeMachines(region string, most int) []node {
	var out []node
	for i := 0; i < s.nodeCount(kindEC2, region) && len(out) < most; i++ {
		n := node{kind: kindEC2, region: uint8(slices.Index(regionNames, region)), number: uint32(i)}
		_, _, member := s.groupOf(n)
		m, _ := s.machineType(n)
		if on, _ := s.initialState(n); on && !member && m.vcpu >= leastCores &&
			!s.drawHit(n, asVanish, s.faults.vanish) {
			out = append(out, n)
		}
	}
	return out
}

// workloadFacts returns the facts of workloads in clusters: the requests of one pod.
func (s *settings) workloadFacts(n node, _ drawnValues) cloud.Facts {
	switch kinds[n.kind].Type {
	case cloud.KubernetesDeployment, cloud.KubernetesStatefulSet:
		cores, memory := s.podRequests(n)
		return cloud.Facts{"cpu_request_cores": cores, "mem_request_gib": memory}
	}
	return nil
}

func (s *settings) podRequests(n node) (cores, memory float64) {
	draw := s.drawProperty(n, asSize)
	return []float64{0.1, 0.25, 0.5}[draw%3], []float64{0.25, 0.5, 1}[draw/3%3]
}

// describeKubernetesNode adds the node's machine, and the workloads on it, to r.
func (s *settings) describeKubernetesNode(n node, h history, now time.Time, r *cloud.Resource) {
	nodes := s.nodeMachines(r.Region, s.nodeCount(kindKubernetesNode, r.Region))
	if int(n.number) >= len(nodes) {
		return
	}
	on := nodes[n.number]
	m, _ := s.machineType(on)
	r.Name, r.InstanceType = "node-"+strconv.Itoa(int(n.number)), m.name
	r.Facts = cloud.Facts{
		cloud.NodeCores: float64(m.vcpu), cloud.NodeGiB: float64(m.memMB) / 1024, cloud.NodeGPUs: 0.0,
		cloud.NodeMachine: s.nativeUID(on),
		cloud.NodeLoads:   s.loadsOn(n, m, h, now),
		// a node of this cloud keeps nothing for itself
		cloud.NodeAllocatableCores: float64(m.vcpu), cloud.NodeAllocatableGiB: float64(m.memMB) / 1024,
		cloud.NodeAllocatablePods: 110.0,
	}
	if s.stateAt(on, h, now).status != cloud.Running {
		r.Facts[cloud.NodeLoads] = []string{}
	}
}

// loadsOn places the pods of every so many workloads on a node, until it is full.
func (s *settings) loadsOn(n node, m machine, h history, now time.Time) []string {
	out := []string{}
	cores, memory := float64(m.vcpu), float64(m.memMB)/1024
	region := regionNames[n.region]
	for _, kind := range []int{kindStatefulSet, kindDeployment} {
		for i := int(n.number); i < s.nodeCount(kind, region); i += s.nodeCount(kindKubernetesNode, region) {
			w := node{kind: uint8(kind), region: n.region, number: uint32(i)}
			st := s.stateAt(w, h, now)
			c, g := s.podRequests(w)
			pods := 0
			for st.on && pods < int(st.cap.Desired) && c <= cores && g <= memory {
				pods, cores, memory = pods+1, cores-c, memory-g
			}
			if pods > 0 {
				out = append(out, s.loadOf(w, pods))
			}
		}
	}
	slices.Sort(out)
	return out
}

func (s *settings) loadOf(w node, pods int) string {
	c, g := s.podRequests(w)
	kind := "Deployment"
	if int(w.kind) == kindStatefulSet {
		kind = "StatefulSet"
	}
	l := cloud.NodeLoad{
		Namespace: s.pickFrom(w, asApp, apps), Kind: kind, Name: s.nodeName(w), Pods: pods,
		Cores: c * float64(pods), GiB: g * float64(pods),
	}
	return l.String()
}
