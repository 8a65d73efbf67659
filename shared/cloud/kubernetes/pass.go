package kubernetes

import (
	"context"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
)

const (
	// wideFrom is the number of namespaces from which on a pass lists a resource in all namespaces at once.
	wideFrom = 4
	// passFresh is how long an act may use the lists of the read before it. Each change names the version that was
	// read, so an object that has changed since is read again.
	passFresh = 5 * time.Second
)

// pass is one read of, or one act on, objects of a cluster. It lists a resource once for all of them: in all
// namespaces together where that takes fewer calls than a list of each namespace, and object by object where that
// takes fewer calls than a list.
type pass struct {
	*cluster
	targets map[string]int // how many objects of the pass are in each namespace
	at      time.Time
	mu      sync.Mutex
	lists   map[listKey]func() (listResult, error)
}

// listKey names a list of a pass. ns "" is all namespaces; whole means that the list was read to its end.
type listKey struct {
	resource apiResource
	ns       string
	whole    bool
}

// listResult are objects by namespace. They are all that there are if complete.
type listResult struct {
	by       map[string][]object
	complete bool
}

// any reports whether the list has an object.
func (l listResult) any() bool {
	for _, list := range l.by {
		if len(list) > 0 {
			return true
		}
	}
	return false
}

// newPass returns a pass over objects. Of a namespace as a whole, the name counts as its namespace.
func (c *cluster) newPass(objects []ref) *pass {
	p := &pass{
		cluster: c, targets: map[string]int{}, at: c.clock.Now(),
		lists: map[listKey]func() (listResult, error){},
	}
	for _, at := range objects {
		p.targets[at.namespace()]++
	}
	return p
}

// namespace returns the namespace that the object is in, or is.
func (at ref) namespace() string {
	if at.ns == "" {
		return at.name
	}
	return at.ns
}

// coversObjects reports whether the pass was made for all namespaces of the objects.
func (p *pass) coversObjects(objects []ref) bool {
	return !slices.ContainsFunc(objects, func(at ref) bool { return p.targets[at.namespace()] == 0 })
}

// renewLists returns a pass over the namespaces that lists the given resources again, and shares all other lists with
// p. A resource without objects is not listed again, except pods: the next read finds new objects.
func (p *pass) renewLists(namespaces []ref, resources ...apiResource) *pass {
	next := p.newPass(namespaces)
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, read := range p.lists {
		known, err := read()
		if !slices.Contains(resources, key.resource) || err == nil && key.resource != podsOf && !known.any() {
			next.lists[key] = read
		}
	}
	return next
}

// listOnce reads a list, or returns it as it was read before.
func (p *pass) listOnce(key listKey, read func() (listResult, error)) (listResult, error) {
	p.mu.Lock()
	known := p.lists[key]
	if known == nil {
		known = sync.OnceValues(read)
		p.lists[key] = known
	}
	p.mu.Unlock()
	return known()
}

// listWide lists the resource in all namespaces, in at most as many pages as the pass has namespaces. The result is
// incomplete if that is too few, or if a listing is not worth it.
func (p *pass) listWide(ctx context.Context, r apiResource) (listResult, error) {
	return p.listOnce(listKey{resource: r}, func() (listResult, error) {
		if len(p.targets) < wideFrom {
			return listResult{}, nil
		}
		all, complete, err := p.atMost(ctx, r, "", len(p.targets))
		if err != nil || !complete {
			return listResult{}, err
		}
		out := listResult{by: map[string][]object{}, complete: true}
		for _, o := range all {
			out.by[o.Namespace] = append(out.by[o.Namespace], o)
		}
		return out, nil
	})
}

// listPart lists the resource in a namespace, in no more pages than the pass has objects there.
func (p *pass) listPart(ctx context.Context, r apiResource, ns string) ([]object, bool, error) {
	all, err := p.listWide(ctx, r)
	if err != nil || all.complete {
		return all.by[ns], all.complete, err
	}
	some, err := p.listOnce(listKey{resource: r, ns: ns}, func() (listResult, error) {
		list, complete, err := p.atMost(ctx, r, ns, max(p.targets[ns], 1))
		return listResult{map[string][]object{ns: list}, complete}, err
	})
	return some.by[ns], some.complete, err
}

// listIn lists everything of the resource in a namespace.
func (p *pass) listIn(ctx context.Context, r apiResource, ns string) ([]object, error) {
	some, complete, err := p.listPart(ctx, r, ns)
	if err != nil || complete {
		return some, err
	}
	all, err := p.listOnce(listKey{r, ns, true}, func() (listResult, error) {
		list, err := p.listServed(ctx, r, ns)
		return listResult{by: map[string][]object{ns: list}}, err
	})
	return all.by[ns], err
}

// objectAt returns one object of the pass, from a list if that saves calls.
func (p *pass) objectAt(ctx context.Context, r apiResource, at ref) (object, error) {
	all, err := p.listWide(ctx, r)
	if err != nil {
		return object{}, err
	}
	if !all.complete && p.targets[at.ns] < 2 {
		return p.getObject(ctx, r, at)
	}
	some, complete, err := p.listPart(ctx, r, at.ns)
	if err != nil {
		return object{}, err
	}
	i := slices.IndexFunc(some, func(o object) bool { return o.Name == at.name })
	switch {
	case i >= 0:
		return some[i], nil
	case complete:
		return object{}, cloud.ErrNotFound("%s %s/%s does not exist", r.Resource, at.ns, at.name)
	}
	return p.getObject(ctx, r, at)
}

// podsOf returns pods among which are all of the workload.
func (p *pass) podsOf(ctx context.Context, w object) ([]object, error) {
	if p.targets[w.Namespace] > 1 {
		if pods, complete, err := p.listPart(ctx, podsOf, w.Namespace); err != nil || complete {
			return pods, err
		}
	}
	return p.listAll(ctx, podsOf, w.Namespace,
		listOptions{LabelSelector: w.Spec.Selector.String()})
}

// outcome is the result of an act on one object. left is the reason why a start leaves the object off; waits says that
// a step must wait for another.
type outcome struct {
	left  string
	err   error
	waits bool
}

func refsOf(goals []goal) []ref {
	out := make([]ref, len(goals))
	for i, g := range goals {
		out[i] = g.ref
	}
	return out
}

// actOnEach acts on objects side by side.
func actOnEach(
	act func(context.Context, *pass, cloud.Verb, goal) (string, error),
) func(context.Context, *pass, cloud.Verb, []goal) []outcome {
	return func(ctx context.Context, p *pass, v cloud.Verb, goals []goal) []outcome {
		out := make([]outcome, len(goals))
		cloud.InParallel(len(goals), parallelCalls, func(i int) { out[i].left, out[i].err = act(ctx, p, v, goals[i]) })
		return out
	}
}
