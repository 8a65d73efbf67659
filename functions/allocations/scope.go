package allocations

import (
	"context"
	"slices"
	"strings"

	"lamplighter.dev/functions/allocations/allocation"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/money"
)

// visibleResources returns the resources whose costs the caller may see: one or two round trips, or none for a caller
// who may see all.
func (s *service) visibleResources(ctx context.Context) (inventory.ResourceSet, error) {
	sets, err := s.inventory.ResourceSets(ctx, identity.CallerOrg(ctx), identity.CallerFrom(ctx).Scopes(policy))
	if err != nil {
		return inventory.ResourceSet{}, err
	}
	return sets[0], nil
}

// keepVisible returns the parts that the caller may see: those of a workload if the workload or its namespace is in
// the caller's scope, and the idle part of a node in the caller's scope.
func (c *clusters) keepVisible(parts []allocation.Part) []allocation.Part {
	if c.visible.All() {
		return parts
	}
	of := c.nodesByUID()
	return slices.DeleteFunc(parts, func(p allocation.Part) bool {
		if p.Idle {
			return !c.visible.HasUID(p.Node)
		}
		n := of[p.Node]
		return !c.visible.HasUID(n.namespaceUID(p.Namespace)) && !c.visible.HasUID(n.partUID(&p))
	})
}

func (c *clusters) nodesByUID() map[string]*node {
	of := make(map[string]*node, len(c.nodes))
	for i := range c.nodes {
		of[c.nodes[i].UID] = &c.nodes[i]
	}
	return of
}

// namespaceUID returns the uid of a namespace in the node's cluster.
func (n *node) namespaceUID(namespace string) string {
	id, _, _ := strings.Cut(n.UID, "/")
	return id + "/" + namespace
}

// partUID returns the uid of the workload of a part, or "" if its kind is not discovered.
func (n *node) partUID(p *allocation.Part) string {
	kind, name, _ := strings.Cut(p.Workload, "/")
	return n.workloadUID(&cloud.NodeLoad{Kind: kind, Namespace: p.Namespace, Name: name})
}

// sumOf returns the cost of parts, the result of keepVisible, and the cost of the visible nodes whose workloads are
// unknown.
func (c *clusters) sumOf(parts []allocation.Part) (total, unallocated money.Amount) {
	total, unallocated = c.total()
	if c.visible.All() {
		return total, unallocated
	}
	total = unallocated
	for i := range parts {
		total.Increase(&parts[i].Cost)
	}
	return total, unallocated
}

// visibleName returns name if the caller may see the resource, else "".
func (c *clusters) visibleName(uid, name string) string {
	if c.visible.HasUID(uid) {
		return name
	}
	return ""
}
