package kubernetes

import (
	"context"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
)

const (
	// wideFrom is from how many namespaces on a pass lists a resource in all namespaces at once.
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
	lists   map[listKey]func() (listed, error)
}

// listKey names a list of a pass: ns "" is all namespaces, and whole is one that is read to its end.
type listKey struct {
	resource apiResource
	ns       string
	whole    bool
}

// listed are objects by namespace. They are all that there are if complete.
type listed struct {
	by       map[string][]object
	complete bool
}

// any reports whether the list has an object.
func (l listed) any() bool {
	for _, list := range l.by {
		if len(list) > 0 {
			return true
		}
	}
	return false
}

// newPass returns a pass over objects. Of a namespace as a whole, the name counts as its namespace.
func (c *cluster) newPass(objects []ref) *pass {
	p := &pass{cluster: c, targets: map[string]int{}, at: c.clock.Now(), lists: map[listKey]func() (listed, error){}}
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

// covers reports whether the pass was made for all namespaces of the objects.
func (p *pass) covers(objects []ref) bool {
	return !slices.ContainsFunc(objects, func(at ref) bool { return p.targets[at.namespace()] == 0 })
}

// renew returns a pass over the namespaces that lists the given resources again, and shares all other lists with p. A
// resource without objects is not listed again, except pods: the next read finds new objects.
func (p *pass) renew(namespaces []ref, resources ...apiResource) *pass {
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

// once reads a list, or returns it as it was read before.
func (p *pass) once(key listKey, read func() (listed, error)) (listed, error) {
	p.mu.Lock()
	known := p.lists[key]
	if known == nil {
		known = sync.OnceValues(read)
		p.lists[key] = known
	}
	p.mu.Unlock()
	return known()
}

// wide lists the resource in all namespaces, in no more pages than the pass has namespaces. It is not complete where
// that does not suffice, or is not worth it.
func (p *pass) wide(ctx context.Context, r apiResource) (listed, error) {
	return p.once(listKey{resource: r}, func() (listed, error) {
		if len(p.targets) < wideFrom {
			return listed{}, nil
		}
		all, complete, err := p.atMost(ctx, r, "", len(p.targets))
		if err != nil || !complete {
			return listed{}, err
		}
		out := listed{by: map[string][]object{}, complete: true}
		for _, o := range all {
			out.by[o.Namespace] = append(out.by[o.Namespace], o)
		}
		return out, nil
	})
}

// part lists the resource in a namespace, in no more pages than the pass has objects there.
func (p *pass) part(ctx context.Context, r apiResource, ns string) ([]object, bool, error) {
	all, err := p.wide(ctx, r)
	if err != nil || all.complete {
		return all.by[ns], all.complete, err
	}
	some, err := p.once(listKey{resource: r, ns: ns}, func() (listed, error) {
		list, complete, err := p.atMost(ctx, r, ns, max(p.targets[ns], 1))
		return listed{map[string][]object{ns: list}, complete}, err
	})
	return some.by[ns], some.complete, err
}

// in lists everything of the resource in a namespace.
func (p *pass) in(ctx context.Context, r apiResource, ns string) ([]object, error) {
	some, complete, err := p.part(ctx, r, ns)
	if err != nil || complete {
		return some, err
	}
	all, err := p.once(listKey{r, ns, true}, func() (listed, error) {
		list, err := p.where(ctx, r, ns)
		return listed{by: map[string][]object{ns: list}}, err
	})
	return all.by[ns], err
}

// object returns one object of the pass, from a list where that saves calls.
func (p *pass) object(ctx context.Context, r apiResource, at ref) (object, error) {
	all, err := p.wide(ctx, r)
	if err != nil {
		return object{}, err
	}
	if !all.complete && p.targets[at.ns] < 2 {
		return p.get(ctx, r, at)
	}
	some, complete, err := p.part(ctx, r, at.ns)
	if err != nil {
		return object{}, err
	}
	i := slices.IndexFunc(some, func(o object) bool { return o.Name == at.name })
	switch {
	case i >= 0:
		return some[i], nil
	case complete:
		return object{}, notFound("%s %s/%s does not exist", r.Resource, at.ns, at.name)
	}
	return p.get(ctx, r, at)
}

// podsOf returns pods among which are all of the workload.
func (p *pass) podsOf(ctx context.Context, w object) ([]object, error) {
	if p.targets[w.Namespace] > 1 {
		if pods, complete, err := p.part(ctx, podsOf, w.Namespace); err != nil || complete {
			return pods, err
		}
	}
	return p.all(ctx, podsOf, w.Namespace,
		listOptions{LabelSelector: w.Spec.Selector.String()})
}

// outcome is how an act on one object ended. left says why a start leaves the object off, waits that a step has to
// wait for another.
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
		cloud.InParallel(len(goals), width, func(i int) { out[i].left, out[i].err = act(ctx, p, v, goals[i]) })
		return out
	}
}
