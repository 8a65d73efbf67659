package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
)

// contents are a namespace and the objects that are stopped with it.
type contents struct {
	ns        object
	workloads []member // Deployments and Rollouts
	stateful  []member
	cronJobs  []object
	scalers   []object
	now       time.Time
}

// member is a workload of a namespace.
type member struct {
	view
	resource apiResource
}

// heldObjects are the objects in a namespace, or in all of them, as they were listed.
type heldObjects struct {
	deployments, rollouts, stateful, cronJobs, scalers, pods []object
}

// listHeld lists the objects in ns with list; "" is all namespaces. The lists are read in parallel.
func listHeld(ctx context.Context, ns string,
	list func(context.Context, apiResource, string) ([]object, error),
) (heldObjects, error) {
	var h heldObjects
	lists := []struct {
		into     *[]object
		resource apiResource
	}{
		{&h.deployments, deploymentsOf},
		{&h.rollouts, rolloutsOf},
		{&h.stateful, statefulOf},
		{&h.cronJobs, cronJobsOf},
		{&h.scalers, scaledOf},
	}
	errs := make([]error, len(lists))
	cloud.InParallel(len(lists), parallelCalls, func(i int) {
		*lists[i].into, errs[i] = list(ctx, lists[i].resource, ns)
	})
	for _, err := range errs {
		if err != nil {
			return heldObjects{}, err
		}
	}
	return h, nil
}

// namespaceContents reads a namespace and its objects. It reads the pods only if an object is to have none.
func (p *pass) namespaceContents(ctx context.Context, name string) (contents, error) {
	h, err := listHeld(ctx, name, p.listIn)
	if err != nil {
		return contents{}, err
	}
	ns := object{Metadata: Metadata{Head: Head{Name: name}}}
	if h.inDoubt() {
		if ns, err = p.getObject(ctx, namespacesOf, ref{name: name}); err != nil {
			return contents{}, err
		}
	}
	if h.isEnding() {
		if h.pods, err = p.listIn(ctx, podsOf, name); err != nil {
			return contents{}, err
		}
	}
	return byNamespace{name: &h}.contentsOf(ns, p.clock.Now()), nil
}

// inDoubt reports whether the namespace may not exist, or be about to be deleted: it is empty, or something in it is
// being deleted.
func (h heldObjects) inDoubt() bool {
	n := 0
	for _, list := range [][]object{h.deployments, h.rollouts, h.stateful, h.cronJobs, h.scalers} {
		n += len(list)
		if slices.ContainsFunc(list, func(o object) bool { return o.DeletionTimestamp != nil }) {
			return true
		}
	}
	return n == 0
}

// isEnding reports whether something was stopped by us, or has pods that it should not have.
func (h heldObjects) isEnding() bool {
	for _, list := range [][]object{h.deployments, h.rollouts, h.stateful} {
		for _, o := range list {
			if _, ours := o.stopTime(); o.replicas() == 0 && (ours || o.Status.Replicas > 0 || !o.isObserved()) {
				return true
			}
		}
	}
	return false
}

// byNamespace holds the objects of all namespaces.
type byNamespace map[string]*heldObjects

// sortByNamespace returns the objects by their namespaces.
func (h heldObjects) sortByNamespace() byNamespace {
	all := byNamespace{}
	all.sortInto(h.deployments, func(x *heldObjects) *[]object { return &x.deployments })
	all.sortInto(h.rollouts, func(x *heldObjects) *[]object { return &x.rollouts })
	all.sortInto(h.stateful, func(x *heldObjects) *[]object { return &x.stateful })
	all.sortInto(h.cronJobs, func(x *heldObjects) *[]object { return &x.cronJobs })
	all.sortInto(h.scalers, func(x *heldObjects) *[]object { return &x.scalers })
	return all
}

func (b byNamespace) sortInto(all []object, into func(*heldObjects) *[]object) {
	for _, o := range all {
		if b[o.Namespace] == nil {
			b[o.Namespace] = &heldObjects{}
		}
		list := into(b[o.Namespace])
		*list = append(*list, o)
	}
}

// contentsOf returns the contents of the namespace.
func (b byNamespace) contentsOf(ns object, now time.Time) contents {
	x := contents{ns: ns, now: now}
	h := b[ns.Name]
	if h == nil {
		return x
	}
	x.cronJobs, x.scalers = h.cronJobs, h.scalers
	member := func(o object, r apiResource) member {
		return member{view{o, autoscalersOf(h.scalers, o), podsLeft(o, h.pods), now}, r}
	}
	for _, o := range h.deployments {
		x.workloads = append(x.workloads, member(o, deploymentsOf))
	}
	for _, o := range h.rollouts {
		x.workloads = append(x.workloads, member(o, rolloutsOf))
	}
	for _, o := range h.stateful {
		x.stateful = append(x.stateful, member(o, statefulOf))
	}
	return x
}

// wantedPods returns the number of pods that the workloads of the namespace are set to.
func (x contents) wantedPods() int64 {
	var n int64
	for _, list := range [][]member{x.workloads, x.stateful} {
		for _, w := range list {
			n += w.replicas()
		}
	}
	return n
}

func (x contents) countOn() int {
	n := 0
	for _, list := range [][]member{x.workloads, x.stateful} {
		for _, w := range list {
			if w.isOn() {
				n++
			}
		}
	}
	for _, j := range x.cronJobs {
		if !j.suspended() {
			n++
		}
	}
	return n
}

// isOn reports whether a workload runs, or KEDA may have it run.
func (w view) isOn() bool { return w.replicas() > 0 || w.isDrivenByKEDA() }

// memberName is a name that distinguishes objects of different resources.
func (m member) memberName() string { return fmt.Sprintf("%s/%s", m.resource.Resource, m.Name) }
