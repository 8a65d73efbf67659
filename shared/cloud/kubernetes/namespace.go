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
	x, err := p.namespaceContents(ctx, at.name)
	if err != nil {
		return cloud.State{}, err
	}
	s := cloud.State{
		Unschedulable: x.stopObstacle(), Steps: x.stepStates(), Native: x.summaryText(),
		Marked: x.hasNamespaceMarks(),
	}
	s.Status, s.Reason = x.namespaceStatus()
	if m := x.namespaceSnapshot(); s.Status != cloud.Stopped && s.Unschedulable == "" {
		s.Snapshot = encodeSnapshot(m)
	}
	return s, nil
}

// listNamespaces reads a page of namespaces. The first page lists the objects of all namespaces once, because a
// listing for each namespace would be five calls.
func listNamespaces(ctx context.Context, c *cluster, page string) (cloud.ResourcePage, error) {
	id, err := c.clusterUID(ctx)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	found, next, err := c.listPage(ctx, namespacesOf, "", listOptions{Continue: page})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	held, err := c.surveyWorkloads(ctx, page == "")
	if err == nil {
		err = held.err
	}
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	factors, err := c.namespaceFactors(ctx)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: next}
	for _, ns := range found {
		x := held.value.contentsOf(ns, c.clock.Now())
		r := inventoryResource(ns.Head)
		r.UID, r.ParentUID = namespaceUID(id, ns.Name), c.parent
		r.Status, _ = x.namespaceStatus()
		r.Unschedulable = x.stopObstacle()
		r.Capacity["desired"] = x.wantedPods()
		r.Facts = factors.namespaceFacts(x)
		p.Resources = append(p.Resources, r)
	}
	return p, nil
}

// stopObstacle returns why a namespace is not stopped as a whole.
func (x contents) stopObstacle() string {
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
		return strings.Join(lost, ", ") + ": " + (object{Spec: x.claimObstacle()}).stopObstacle()
	}
	return ""
}

// claimObstacle is the part of a StatefulSet that makes it lose its claims.
func (x contents) claimObstacle() spec {
	for _, w := range x.stateful {
		if w.losesClaims() {
			return w.Spec
		}
	}
	return spec{}
}

// summaryText describes the part of the namespace that is on.
func (x contents) summaryText() string {
	return fmt.Sprintf("on in %d of %d objects", x.countOn(), len(x.workloads)+len(x.stateful)+len(x.cronJobs))
}
