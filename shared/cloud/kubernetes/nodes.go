package kubernetes

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// clusterNode has the fields that are read of a node. By its facts the cost of a cluster is split, too.
type clusterNode struct {
	Head `json:"metadata"`
	Spec struct {
		ProviderID    string  `json:"providerID"`
		Unschedulable bool    `json:"unschedulable"`
		Taints        []taint `json:"taints"`
	} `json:"spec"`
	Status struct {
		Capacity    map[string]any `json:"capacity"`
		Allocatable map[string]any `json:"allocatable"`
		Conditions  []condition    `json:"conditions"`
		Info        struct {
			Kubelet string `json:"kubeletVersion"`
		} `json:"nodeInfo"`
	} `json:"status"`
}

type taint struct {
	Key   string `json:"key"`
	Added string `json:"timeAdded"`
}

// nodeLoads are the requests of pods, by node and workload.
type nodeLoads map[string]map[workloadKey]*cloud.NodeLoad

// loadOf returns the load on a node that a pod of the workload belongs to.
func (n nodeLoads) loadOf(node string, of workloadKey) *cloud.NodeLoad {
	here := n[node]
	if here == nil {
		here = map[workloadKey]*cloud.NodeLoad{}
		n[node] = here
	}
	if here[of] == nil {
		here[of] = &cloud.NodeLoad{Namespace: of.ns, Kind: of.kind, Name: of.name}
	}
	return here[of]
}

// addTo adds the pod's requests to l.
func (p *pod) addTo(l *cloud.NodeLoad) {
	l.Pods++
	for i := range p.Spec.Containers {
		requests := p.Spec.Containers[i].Resources.Requests
		l.Cores += quantity(requests["cpu"])
		l.GiB += quantity(requests["memory"]) / gib
		l.GPUs += quantity(gpuOf(requests))
	}
}

func loadTexts(loads map[workloadKey]*cloud.NodeLoad) []string {
	out := []string{}
	for _, l := range loads {
		out = append(out, l.String())
	}
	slices.Sort(out)
	return out
}

// describeNodes returns the description of nodes, by the pods on them and the version of the API server.
func describeNodes(ctx context.Context, c *cluster) (describer[clusterNode], error) {
	var pods answer[podSurvey]
	var minor answer[int]
	err := readAll(
		reading(&pods, func() (answer[podSurvey], error) { return c.surveyPods(ctx) }),
		reading(&minor, func() (answer[int], error) { return c.serverMinor(ctx) }),
	)
	return func(n clusterNode, r *cloud.Resource) {
		r.InstanceType, r.Zone = n.Labels["node.kubernetes.io/instance-type"], n.Labels["topology.kubernetes.io/zone"]
		r.Facts = n.nodeFacts()
		n.addPodFacts(r.Facts, pods)
		if why := minor.missing(); why != "" {
			r.Facts.Miss(why, "kubelet_lag")
		} else if own, ok := minorOf(n.Status.Info.Kubelet); ok {
			r.Facts["kubelet_lag"] = float64(minor.value - own)
		}
	}, err
}

// nodeFacts returns the facts that a node has of itself.
func (n clusterNode) nodeFacts() cloud.Facts {
	f := cloud.Facts{
		cloud.NodeCores: quantity(n.Status.Capacity["cpu"]),
		cloud.NodeGiB:   quantity(n.Status.Capacity["memory"]) / gib,
		cloud.NodeGPUs:  quantity(gpuOf(n.Status.Capacity)), cloud.NodeMachine: machineOf(n.Spec.ProviderID),
		"gpu_allocatable": quantity(gpuOf(n.Status.Allocatable)),
		"unschedulable":   n.Spec.Unschedulable, "unschedulable_since": n.unschedulableSince(),
	}
	pressure := []string{}
	for _, c := range n.Status.Conditions {
		switch {
		case c.Type == "Ready":
			f["not_ready_since"] = c.timeUnless("True")
		case strings.HasSuffix(c.Type, "Pressure") && c.Status == "True":
			pressure = append(pressure, c.Type)
		}
	}
	n.addAllocatable(f)
	if len(n.Status.Conditions) > 0 { // or the kubelet has not reported yet
		f["pressure"] = pressure
	}
	return f
}

// addAllocatable adds what pods may request of the node, as far as the node says it.
func (n clusterNode) addAllocatable(f cloud.Facts) {
	for _, one := range []struct {
		fact, resource string
		unit           float64
	}{
		{cloud.NodeAllocatableCores, "cpu", 1},
		{cloud.NodeAllocatableGiB, "memory", gib},
		{cloud.NodeAllocatablePods, "pods", 1},
	} {
		if v, is := n.Status.Allocatable[one.resource]; is {
			f[one.fact] = quantity(v) / one.unit
		}
	}
}

// timeUnless returns since when the condition has its status, or cloud.Epoch if that is healthy. The API states no time
// for some conditions; the time is then that of our first sight.
func (c condition) timeUnless(healthy string) any {
	if c.Status == healthy {
		return cloud.Epoch
	}
	return timeOrSince(c.Transition)
}

// timeOrSince returns the time of an RFC 3339 text, or cloud.Since if it is none.
func timeOrSince(text string) any {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return cloud.Since{}
	}
	return at.UTC()
}

// unschedulableSince returns when the node was cordoned, as the taint says that Kubernetes adds then.
func (n clusterNode) unschedulableSince() any {
	if !n.Spec.Unschedulable {
		return cloud.Never
	}
	for _, t := range n.Spec.Taints {
		if t.Key == "node.kubernetes.io/unschedulable" {
			return timeOrSince(t.Added)
		}
	}
	return cloud.Since{}
}

// addPodFacts adds the facts about the pods of the node.
func (n clusterNode) addPodFacts(f cloud.Facts, pods answer[podSurvey]) {
	if why := pods.missing(); why != "" {
		f.Miss(why, cloud.NodeLoads, "workload_pods", "scale_down_blocked")
		return
	}
	here := pods.value.nodes[n.Name]
	if n.isControlPlane() {
		here.workloads += here.static
	}
	f[cloud.NodeLoads], f["workload_pods"] = loadTexts(pods.value.loads[n.Name]), float64(here.workloads)
	f["scale_down_blocked"] = here.kept > 0 ||
		n.Annotations["cluster-autoscaler.kubernetes.io/scale-down-disabled"] == "true" ||
		n.Annotations["karpenter.sh/do-not-disrupt"] == "true"
}

// isControlPlane reports whether the node runs the cluster itself. Its static pods are then its work.
func (n clusterNode) isControlPlane() bool {
	for _, role := range []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"} {
		if _, is := n.Labels[role]; is {
			return true
		}
	}
	return false
}

// serverMinor returns the minor version of the API server, 34 of "v1.34.2". Every authenticated user may ask that.
func (c *cluster) serverMinor(ctx context.Context) (answer[int], error) {
	return c.survey.minor.get(c.clock.Now(), false, func() (int, error) {
		body, err := c.client.callAPI(ctx, apiCall{method: http.MethodGet, path: []string{"version"}})
		var got struct {
			Version string `json:"gitVersion"`
		}
		if err == nil {
			err = unreadableError(json.Unmarshal(body, &got))
		}
		minor, _ := minorOf(got.Version)
		return minor, classifyError("get /version", err)
	})
}

// minorOf returns the minor version of "v1.34.2-gke.100"; false for another text.
func minorOf(version string) (int, bool) {
	parts := strings.Split(version, ".")
	if len(parts) < 2 || parts[0] != "v1" {
		return 0, false
	}
	n, err := strconv.Atoi(parts[1])
	return n, err == nil
}

// nodeSurvey is what is counted of all nodes: their number, and the cores that pods can use of the smallest one; 0
// without nodes. scaled says that an autoscaler made one of them, and hidesAutoscaler that AKS or GKE runs them, whose
// autoscalers are not in the cluster.
type nodeSurvey struct {
	count                   int
	leastCPU                float64
	scaled, hidesAutoscaler bool
}

// surveyNodes counts the nodes of the cluster.
func (c *cluster) surveyNodes(ctx context.Context) (answer[nodeSurvey], error) {
	return c.survey.nodes.get(c.clock.Now(), false, func() (s nodeSurvey, err error) {
		err = eachTyped(ctx, c, nodesOf, "", func(n *clusterNode) {
			s.count++
			s.scaled = s.scaled || n.Labels["karpenter.sh/nodepool"] != ""
			scheme, _, _ := strings.Cut(n.Spec.ProviderID, "://")
			s.hidesAutoscaler = s.hidesAutoscaler || scheme == "azure" || scheme == "gce"
			cores := quantity(n.Status.Allocatable["cpu"])
			if cores > 0 && (s.leastCPU == 0 || cores < s.leastCPU) {
				s.leastCPU = cores
			}
		})
		return s, err
	})
}

// machineOf returns the uid of a node's machine, from its provider ID; "" for an unknown cloud. For a machine of an
// Azure scale set it is the uid of the set, because the inventory and the bills have the set.
func machineOf(providerID string) string {
	scheme, path, _ := strings.Cut(providerID, "://")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case scheme == "aws":
		return parts[len(parts)-1]
	case scheme == "gce" && len(parts) == 3:
		return "//compute.googleapis.com/projects/" + parts[0] + "/zones/" + parts[1] + "/instances/" + parts[2]
	case scheme == "azure":
		id := strings.ToLower("/" + strings.Join(parts, "/"))
		if set, _, of := strings.Cut(id, "/virtualmachines/"); of &&
			strings.Contains(set, "/virtualmachinescalesets/") {
			return set
		}
		return id
	}
	return ""
}
