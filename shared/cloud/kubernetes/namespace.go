package kubernetes

import (
	"context"
	"fmt"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// namespaces are stopped and started as a whole, in steps: CronJobs are suspended, ScaledObjects paused, Deployments
// and Rollouts scaled to 0 and, when their pods are gone, StatefulSets. A start goes the other way. Objects that were
// off before the stop are not in its snapshot, so a start leaves them off.
var namespaces = kind{
	Kind:     catalogueKind(cloud.KubernetesNamespace),
	resource: namespacesOf,
	needs: needs{
		discover: []rule{
			{namespacesOf, "", "list"},
			{namespacesOf, "", "get"},
			{deploymentsOf, "", "list"},
			{rolloutsOf, "", "list"},
			{statefulOf, "", "list"},
			{cronJobsOf, "", "list"},
			{scaledOf, "", "list"},
			{podsOf, "", "list"},
		},
		startStop: []rule{
			{deploymentsOf, "", "get"},
			{deploymentsOf, "", "patch"},
			{rolloutsOf, "", "get"},
			{rolloutsOf, "", "patch"},
			{statefulOf, "", "get"},
			{statefulOf, "", "patch"},
			{cronJobsOf, "", "get"},
			{cronJobsOf, "", "patch"},
			{scaledOf, "", "get"},
			{scaledOf, "", "patch"},
			{hpasOf, "", "list"},
			{pdbsOf, "", "list"},
		},
	},
	list: listNamespaces,
	read: readNamespace,
	act:  actOnNamespaces,
}

// mostObjects is the largest number of objects in a namespace that is stopped as a whole: its snapshot has to fit into
// one item of the store.
const mostObjects = 2000

func readNamespace(ctx context.Context, p *pass, at ref) (cloud.State, error) {
	x, err := p.contents(ctx, at.name)
	if err != nil {
		return cloud.State{}, err
	}
	s := cloud.State{Unschedulable: x.unschedulable(), Steps: x.steps(), Native: x.summary(), Marked: x.marked()}
	s.Status, s.Reason = x.status()
	if m := x.memory(); s.Status != cloud.Stopped && s.Unschedulable == "" {
		s.Snapshot = encodeSnapshot(m)
	}
	return s, nil
}

// listNamespaces reads a page of namespaces. The first page lists the objects of all namespaces once, because a
// listing for each namespace would be five calls.
func listNamespaces(ctx context.Context, c *cluster, page string) (cloud.ResourcePage, error) {
	id, err := c.identity(ctx)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	found, next, err := c.page(ctx, namespacesOf, "", listOptions{Continue: page})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	held, err := c.census(ctx, page == "")
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: next}
	for _, ns := range found {
		x := held.of(ns, c.clock.Now())
		r := ns.resource()
		r.UID, r.ParentUID = namespaceUID(id, ns.Name), c.parent
		r.Status, _ = x.status()
		r.Unschedulable = x.unschedulable()
		r.Capacity["desired"] = x.wanted()
		r.Facts = ns.namespaceFacts()
		p.Resources = append(p.Resources, r)
	}
	return p, nil
}

// unschedulable returns why a namespace is not stopped as a whole.
func (x contents) unschedulable() string {
	n := len(x.workloads) + len(x.stateful) + len(x.cronJobs)
	switch why := ofCluster(x.ns.Name); {
	case why != "":
		return why
	case n == 0:
		return "it holds nothing that can be stopped"
	case n+len(x.scalers) > mostObjects:
		return fmt.Sprintf("it holds %d objects, and more than %d are not stopped as one: stop them by themselves",
			n+len(x.scalers), mostObjects)
	}
	var lost []string
	for _, w := range x.stateful {
		if w.losesClaims() && w.replicas() > 0 {
			lost = append(lost, "StatefulSet "+w.Name)
		}
	}
	if len(lost) > 0 {
		return strings.Join(lost, ", ") + ": " + (object{Spec: x.claimed()}).unschedulable()
	}
	return ""
}

// claimed is the part of a StatefulSet that makes it lose its claims.
func (x contents) claimed() spec {
	for _, w := range x.stateful {
		if w.losesClaims() {
			return w.Spec
		}
	}
	return spec{}
}

// summary says how much of the namespace is on.
func (x contents) summary() string {
	return fmt.Sprintf("on in %d of %d objects", x.countOn(), len(x.workloads)+len(x.stateful)+len(x.cronJobs))
}
