package kubernetes

import (
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// nodesOf are listed whole, unlike all else that is not acted on: by their facts the cost of a cluster is split.
var nodesOf = newOther("", "v1", "nodes", "Node").listedWhole()

// containerStatus holds the fields that are read of a container's status.
type containerStatus struct {
	State struct {
		Waiting struct {
			Reason string `json:"reason"`
		} `json:"waiting"`
	} `json:"state"`
}

// nodeLoads are the requests of pods, by node and workload.
type nodeLoads map[string]map[string]*cloud.NodeLoad

// addNodeFacts adds the capacities of nodes and the requests of the pods on them. It lists the pods again for the
// first page of nodes. If pods may not be listed, the facts say so.
func (c *cluster) addNodeFacts(ctx context.Context, nodes []object, out []cloud.Resource, first bool) error {
	loads, err := c.listNodeLoads(ctx, first)
	denied := cloud.ClassOf(err) == cloud.Denied
	if err != nil && !denied {
		return err
	}
	for i, n := range nodes {
		out[i].InstanceType, out[i].Zone = n.Labels["node.kubernetes.io/instance-type"],
			n.Labels["topology.kubernetes.io/zone"]
		out[i].Facts = cloud.Facts{
			cloud.NodeCores: quantity(n.Status.Capacity["cpu"]),
			cloud.NodeGiB:   quantity(n.Status.Capacity["memory"]) / gib,
			cloud.NodeGPUs:  quantity(gpuOf(n.Status.Capacity)), cloud.NodeMachine: machineOf(n.Spec.ProviderID),
		}
		if denied {
			out[i].Facts.Miss("list pods: Forbidden", cloud.NodeLoads)
			continue
		}
		out[i].Facts[cloud.NodeLoads] = loadTexts(loads[n.Name])
	}
	return nil
}

func loadTexts(loads map[string]*cloud.NodeLoad) []string {
	out := []string{}
	for _, l := range loads {
		out = append(out, l.String())
	}
	slices.Sort(out)
	return out
}

// listNodeLoads returns the requests of pods. It lists them if anew is set, and else returns the last listing.
func (c *cluster) listNodeLoads(ctx context.Context, anew bool) (nodeLoads, error) {
	c.mu.Lock()
	last := c.loaded
	c.mu.Unlock()
	if last != nil && !anew {
		return last, nil
	}
	pods, err := c.listAll(ctx, podsOf, "", listOptions{})
	if err != nil {
		return nil, err
	}
	out := nodeLoads{}
	for _, p := range pods {
		if p.Spec.NodeName != "" && p.usesNode() {
			p.addTo(out.loadOf(p))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded = out
	return out, nil
}

// loadOf returns the load that a pod belongs to.
func (n nodeLoads) loadOf(p object) *cloud.NodeLoad {
	kind, name := p.workloadOf()
	here := n[p.Spec.NodeName]
	if here == nil {
		here = map[string]*cloud.NodeLoad{}
		n[p.Spec.NodeName] = here
	}
	key := p.Namespace + "/" + kind + "/" + name
	if here[key] == nil {
		here[key] = &cloud.NodeLoad{Namespace: p.Namespace, Kind: kind, Name: name}
	}
	return here[key]
}

// addTo adds the pod's requests to l.
func (o object) addTo(l *cloud.NodeLoad) {
	p := podSpec{Containers: o.Spec.Containers}
	l.Pods++
	l.Cores += p.sumQuantities(func(c container) any { return c.Resources.Requests["cpu"] })
	l.GiB += p.sumQuantities(func(c container) any { return c.Resources.Requests["memory"] }) / gib
	l.GPUs += p.sumQuantities(func(c container) any { return gpuOf(c.Resources.Requests) })
}

// usesNode reports whether a pod takes something of its node: it has not ended, and it can get its image.
func (o object) usesNode() bool {
	if o.Status.Phase == "Succeeded" || o.Status.Phase == "Failed" {
		return false
	}
	for _, c := range o.Status.ContainerStatuses {
		if c.State.Waiting.Reason == "ImagePullBackOff" || c.State.Waiting.Reason == "ErrImagePull" {
			return false
		}
	}
	return true
}

// workloadOf names the workload of a pod, from the name of its owner: the name of a ReplicaSet is that of its
// Deployment and a hash, the name of a Job that of its CronJob and the minute. A pod without an owner is its own
// workload.
func (o object) workloadOf() (kind, name string) {
	owner, owned := o.controller()
	if !owned {
		return "Pod", o.Name
	}
	if hash := o.Labels["pod-template-hash"]; owner.Kind == "ReplicaSet" && hash != "" {
		if name, cut := strings.CutSuffix(owner.Name, "-"+hash); cut {
			return "Deployment", name
		}
	}
	if at := strings.LastIndexByte(owner.Name, '-'); owner.Kind == "Job" && at > 0 &&
		len(owner.Name)-at == len("-29000000") && isDigits(owner.Name[at+1:]) {
		return "CronJob", owner.Name[:at]
	}
	return owner.Kind, owner.Name
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

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

// listedWhole returns the resource, to be listed with all fields.
func (o other) listedWhole() other {
	o.whole = true
	return o
}

// acceptHeader returns the Accept header of the resource's listings: names and labels alone, or whole objects.
func (o other) acceptHeader() string {
	if o.whole {
		return "application/json"
	}
	return "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
}
