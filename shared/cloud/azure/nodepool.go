package azure

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"lamplighter.dev/shared/cloud"
)

const nodePoolType = clusterType + "/agentPools"

// nodePools are user pools of AKS; a system pool keeps at least one node. No count can be set while the autoscaler is
// on. So a stop switches the autoscaler off and sets the count to 0 in one call, and a start restores both in one
// call.
var nodePools = kind{
	Kind: catalogueKind(cloud.AzureAKSNodepool), arm: nodePoolType, version: clusterVersion,
	parent: clusterType, inside: poolsOf, facts: nodePoolFacts, act: actNodePool, scale: scaleNodePool,
	needs: needs{
		discover:  []string{clusterType + "/read", nodePoolType + "/read"},
		startStop: []string{nodePoolType + "/write"},
		scale:     []string{nodePoolType + "/write"},
	},
}

// aksPool is a node pool, as a resource of its own and in its cluster.
type aksPool struct {
	Name              string            `json:"name"`
	Mode              string            `json:"mode"`
	Type              string            `json:"type"`
	VMSize            string            `json:"vmSize"`
	Count             int64             `json:"count"`
	Autoscaled        bool              `json:"enableAutoScaling"`
	Min               int64             `json:"minCount"`
	Max               int64             `json:"maxCount"`
	ProvisioningState string            `json:"provisioningState"`
	PowerState        powerState        `json:"powerState"`
	Tags              map[string]string `json:"tags"`
	Etag              string            `json:"eTag"`
}

// nodePoolMemory is the state that a stop overwrites and a start restores. Autoscaled is nil for a pool without an
// autoscaler.
type nodePoolMemory struct {
	Count      int64   `json:"count"`
	Autoscaled *bounds `json:"autoscaled,omitempty"`
}

// poolsOf returns the pools in the row of a cluster: the Resource Graph has no rows of pools.
func poolsOf(cluster resource) ([]resource, error) {
	c, err := decodeProperties[struct {
		Pools   []json.RawMessage `json:"agentPoolProfiles"`
		Version string            `json:"currentKubernetesVersion"`
	}](cluster)
	if err != nil {
		return nil, err
	}
	out := make([]resource, len(c.Pools))
	for i, raw := range c.Pools {
		if raw, err = withVersion(raw, c.Version); err != nil {
			return nil, err
		}
		out[i] = resource{Properties: raw}
		p, err := decodeProperties[aksPool](out[i])
		if err != nil {
			return nil, err
		}
		out[i].ID, out[i].Name, out[i].Tags = cluster.ID+"/agentPools/"+p.Name, p.Name, p.Tags
	}
	return out, nil
}

func nodePoolFacts(r resource, _ *setting) (facts, error) {
	p, err := decodeProperties[aksPool](r)
	if err != nil {
		return facts{}, err
	}
	now := p.size()
	f := facts{
		status: p.status(), native: fmt.Sprintf("%s, %d nodes", p.ProvisioningState, p.Count), instanceType: p.VMSize,
		capacity: now.capacityMap(),
	}
	if strings.EqualFold(p.Mode, "System") {
		f.unschedulable = "is a system pool, which keeps at least one node: stop the cluster"
	}
	if f.status != cloud.Stopped && (p.Count > 0 || p.Autoscaled) {
		f.snapshot = cloud.EncodeSnapshot(nodePoolMemory{p.Count, now.bounds})
	}
	return f, nil
}

func (p aksPool) size() size {
	s := size{desired: p.Count}
	if p.Autoscaled {
		s.bounds = &bounds{p.Min, p.Max}
	}
	return s
}

// status: a pool whose autoscaler is on is ready to grow, so it runs even without nodes.
func (p aksPool) status() cloud.Status {
	if strings.EqualFold(p.PowerState.Code, "Stopped") && strings.EqualFold(p.ProvisioningState, "Succeeded") {
		return cloud.Stopped
	}
	n := p.Count
	if p.Autoscaled {
		n = max(n, 1)
	}
	return sizedStatus(p.ProvisioningState, n)
}

func actNodePool(ctx context.Context, c *armClient, v cloud.Verb, t target) error {
	to, known := nodePoolMemory{}, true
	if v == cloud.Start {
		m, ok, err := cloud.DecodeSnapshot[nodePoolMemory](t.Snapshot, "size")
		if err != nil {
			return err
		}
		to = m
		known = ok
	}
	return writePool(ctx, c, t.UID, func(p aksPool) (nodePoolMemory, error) {
		if strings.EqualFold(p.Mode, "System") {
			return to, cloud.ErrUnsupported(
				"%s is a system pool, which keeps at least one node: stop the cluster", p.Name)
		}
		if v == cloud.Start && len(t.Snapshot) == 0 && p.Count > 0 { // it was stopped as a whole, with its count
			return nodePoolMemory{p.Count, p.size().bounds}, nil
		}
		// somebody has started it: the count is his, and so is an autoscaler
		if v == cloud.Start && (p.Count > 0 || p.Autoscaled) {
			live := p.size()
			return nodePoolMemory{p.Count, cmp.Or(live.bounds, to.Autoscaled)}, nil
		}
		if !known {
			return to, cloud.ErrUnsupported("%s", cloud.NoSizeRemembered(p.Name))
		}
		return to, nil
	})
}

func scaleNodePool(ctx context.Context, c *armClient, t target, want cloud.Capacity) error {
	return writePool(ctx, c, t.UID, func(p aksPool) (nodePoolMemory, error) {
		to, err := p.size().withCapacity(want)
		if err == nil && to.desired == 0 && strings.EqualFold(p.Mode, "System") {
			err = cloud.ErrInvalid("desired 0: %s is a system pool, which keeps at least one node", p.Name)
		}
		return nodePoolMemory{to.desired, to.bounds}, err
	})
}

// writePool reads a pool, and puts it back with the size that decide returns, unless it was changed meanwhile.
func writePool(ctx context.Context, c *armClient, uid string, decide func(aksPool) (nodePoolMemory, error)) error {
	raw, r, err := c.getResource(ctx, uid, clusterVersion, nil)
	if err != nil {
		return err
	}
	p, err := decodeProperties[aksPool](r)
	if err != nil {
		return err
	}
	to, err := decide(p)
	if err != nil {
		return err
	}
	whole, err := decodeEditable(raw)
	if err != nil {
		return err
	}
	body := map[string]any{"properties": resizedPool(partOf(whole, "properties"), to)}
	return c.callARM(ctx, call{method: http.MethodPut, path: uid, version: clusterVersion, ifMatch: p.Etag, body: body},
		nil)
}

// resizedPool returns the pool with a new size, without the fields that Azure alone may set.
func resizedPool(p map[string]any, to nodePoolMemory) map[string]any {
	for _, name := range []string{
		"provisioningState", "currentOrchestratorVersion", "nodeImageVersion", "eTag",
		"minCount", "maxCount",
	} {
		delete(p, name)
	}
	p["count"], p["enableAutoScaling"] = to.Count, to.Autoscaled != nil
	if to.Autoscaled != nil {
		p["minCount"], p["maxCount"] = to.Autoscaled.Min, to.Autoscaled.Max
	}
	if to.Count > 0 || to.Autoscaled != nil {
		p["powerState"] = powerState{"Running"}
	}
	return p
}
