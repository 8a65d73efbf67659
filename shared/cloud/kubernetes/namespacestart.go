package kubernetes

import (
	"context"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// startNamespace starts the objects in the snapshot in the reverse order of the stop. Objects that were off before the
// stop, or that somebody else has switched off since, stay off. The annotations of the stop are removed from all.
func startNamespace(ctx context.Context, p *pass, x contents, g goal) outcome {
	m, err := x.recall(g.snapshot)
	if err == nil {
		err = each(x.stateful, func(w member) error { return p.startMember(ctx, w, m) })
	}
	if err != nil {
		return outcome{err: err}
	}
	return startRest(ctx, p, x, g)
}

// startRest starts the workloads that may need the StatefulSets, when those are ready.
func startRest(ctx context.Context, p *pass, x contents, g goal) outcome {
	m, err := x.recall(g.snapshot)
	if err != nil {
		return outcome{err: err}
	}
	if w := waking(x.stateful, m); w != "" && toStart(x.workloads, m) {
		return outcome{err: errMoving("step %s: %s is not ready, and what may need it is started after it",
			stepStatefulSet, w), waits: true}
	}
	err = each(x.workloads, func(w member) error { return p.startMember(ctx, w, m) })
	if err == nil {
		err = each(x.scalers, func(s object) error { return p.resumeMember(ctx, s, m) })
	}
	if err == nil {
		err = each(x.cronJobs, func(j object) error { return p.unsuspendMember(ctx, j, m) })
	}
	return outcome{left: x.leftOff(g, m), err: err}
}

// leftOff returns why a start leaves the whole namespace off.
func (x contents) leftOff(g goal, m namespaceMemory) string {
	switch {
	case !m.empty() || x.countOn() > 0:
		return ""
	case cloud.IsOff(g.snapshot):
		return offBefore
	default:
		return offSince
	}
}

func (m namespaceMemory) empty() bool { return len(m.CronJobs)+len(m.Paused)+len(m.Workloads) == 0 }

// recall returns the objects to start: those of the snapshot, else those of the annotations.
func (x contents) recall(snapshot []byte) (namespaceMemory, error) {
	m, known, err := decodeSnapshot[namespaceMemory](snapshot)
	switch {
	case err != nil:
		return m, err
	case known:
		return x.without(m), nil
	}
	if m = x.annotated(); m.empty() && !x.marked() && !cloud.IsOff(snapshot) && x.countOn() == 0 {
		return m, errUnsupported("nothing is remembered of namespace %s, and nothing in it was stopped with it: "+
			"start what it holds by itself", x.ns.Name)
	}
	return m, nil
}

// without returns the memory without the objects that somebody else, or a stop of their own, has switched off since.
func (x contents) without(m namespaceMemory) namespaceMemory {
	off := func(o object) bool { return o.turnedOff(true) || o.marked() && !o.markedWithNS() }
	for _, list := range [][]member{x.workloads, x.stateful} {
		for _, w := range list {
			if w.replicas() == 0 && off(w.object) && !w.driven() {
				delete(m.Workloads, w.name())
			}
		}
	}
	for _, j := range x.cronJobs {
		if j.suspended() && off(j) {
			m.CronJobs = slices.DeleteFunc(m.CronJobs, func(name string) bool { return name == j.Name })
		}
	}
	return m
}

// marked reports whether anything in the namespace carries annotations of a stop of the whole.
func (x contents) marked() bool {
	of := func(w member) bool { return w.markedWithNS() }
	return slices.ContainsFunc(x.workloads, of) || slices.ContainsFunc(x.stateful, of) ||
		slices.ContainsFunc(x.cronJobs, object.markedWithNS) || slices.ContainsFunc(x.scalers, object.markedWithNS)
}

// annotated returns the memory of the namespace's stop from the annotations of its objects.
func (x contents) annotated() namespaceMemory {
	m := x.memory()
	only := namespaceMemory{Paused: map[string]*string{}, Workloads: map[string]int64{}}
	for _, j := range x.cronJobs {
		if j.suspended() && j.withNS() {
			only.CronJobs = append(only.CronJobs, j.Name)
		}
	}
	for _, s := range x.scalers {
		if prior, there := m.Paused[s.Name]; there && s.withNS() {
			only.Paused[s.Name] = prior
		}
	}
	for _, list := range [][]member{x.workloads, x.stateful} {
		for _, w := range list {
			if w.replicas() == 0 && w.withNS() {
				only.Workloads[w.name()] = w.remembered()
			}
		}
	}
	return only
}

// startMember starts an object of the memory. It only removes the annotations of the stop from any other object.
func (p *pass) startMember(ctx context.Context, w member, m namespaceMemory) error {
	n, ours := m.Workloads[w.name()]
	snapshot := cloud.WasOff
	switch {
	case ours:
		snapshot = encodeSnapshot(workloadMemory{Replicas: n})
	case !w.markedWithNS():
		return nil
	}
	w.scalers = nil // their own step resumes them
	_, err := p.startWorkload(ctx, w.resource, w.view, snapshot)
	return gone(err)
}

func (p *pass) resumeMember(ctx context.Context, s object, m namespaceMemory) error {
	if _, ours := m.Paused[s.Name]; !ours && !s.markedWithNS() {
		return nil
	}
	return p.resume(ctx, s, m.Paused)
}

func (p *pass) unsuspendMember(ctx context.Context, j object, m namespaceMemory) error {
	snapshot := cloud.WasOff
	switch {
	case slices.Contains(m.CronJobs, j.Name):
		snapshot = encodeSnapshot(cronJobMemory{})
	case !j.markedWithNS():
		return nil
	}
	_, err := p.unsuspend(ctx, j, snapshot)
	return gone(err)
}

// waking names a workload that is to be started and not ready yet, as it was read before the start.
func waking(all []member, m namespaceMemory) string {
	for _, w := range all {
		if n, ours := m.Workloads[w.name()]; ours && (w.replicas() == 0 || w.Status.Ready < min(n, w.replicas())) {
			return w.Name
		}
	}
	return ""
}

// toStart reports whether one of the workloads is still off and to be started.
func toStart(all []member, m namespaceMemory) bool {
	for _, w := range all {
		if _, ours := m.Workloads[w.name()]; ours && w.replicas() == 0 {
			return true
		}
	}
	return false
}

// each runs do for all in parallel and returns their errors. A failure does not prevent the others.
func each[T any](all []T, do func(T) error) error {
	errs := make([]error, len(all))
	cloud.InParallel(len(all), width, func(i int) { errs[i] = do(all[i]) })
	for _, err := range errs {
		if err != nil && !cloud.ClassOf(err).Retryable() {
			return err // a final error tells more than a temporary one
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
