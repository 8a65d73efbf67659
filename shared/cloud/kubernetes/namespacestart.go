package kubernetes

import (
	"context"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// startNamespace starts the objects in the snapshot in the reverse order of the stop. Objects that were off before the
// stop, or that somebody else has switched off since, stay off. The annotations of the stop are removed from all.
func startNamespace(ctx context.Context, p *pass, x contents, g goal) outcome {
	m, err := x.snapshotToStart(g.snapshot)
	if err == nil {
		err = forEach(x.stateful, func(w member) error { return p.startMember(ctx, w, m) })
	}
	if err != nil {
		return outcome{err: err}
	}
	return startRest(ctx, p, x, g)
}

// startRest starts the workloads that may need the StatefulSets, when those are ready.
func startRest(ctx context.Context, p *pass, x contents, g goal) outcome {
	m, err := x.snapshotToStart(g.snapshot)
	if err != nil {
		return outcome{err: err}
	}
	if w := wakingWorkload(x.stateful, m); w != "" && toStart(x.workloads, m) {
		return outcome{err: cloud.ErrMoving("step %s: %s is not ready; the workloads that may need it start after it",
			stepStatefulSet, w), waits: true}
	}
	err = forEach(x.workloads, func(w member) error { return p.startMember(ctx, w, m) })
	if err == nil {
		err = forEach(x.scalers, func(s object) error { return p.resumeMember(ctx, s, m) })
	}
	if err == nil {
		err = forEach(x.cronJobs, func(j object) error { return p.unsuspendMember(ctx, j, m) })
	}
	return outcome{left: x.leftOff(g, m), err: err}
}

// leftOff returns why a start leaves the whole namespace off.
func (x contents) leftOff(g goal, m namespaceMemory) string {
	switch {
	case !m.isEmpty() || x.countOn() > 0:
		return ""
	case cloud.IsOff(g.snapshot):
		return offBefore
	default:
		return offSince
	}
}

func (m namespaceMemory) isEmpty() bool { return len(m.CronJobs)+len(m.Paused)+len(m.Workloads) == 0 }

// snapshotToStart returns the objects to start: those of the snapshot, else those of the annotations.
func (x contents) snapshotToStart(snapshot []byte) (namespaceMemory, error) {
	m, known, err := decodeSnapshot[namespaceMemory](snapshot)
	switch {
	case err != nil:
		return m, err
	case known:
		return x.withoutSwitchedOff(m), nil
	}
	if m = x.annotatedSnapshot(); m.isEmpty() && !x.hasNamespaceMarks() && !cloud.IsOff(snapshot) && x.countOn() == 0 {
		return m, cloud.ErrUnsupported("nothing is remembered of namespace %s, and nothing in it was stopped with it: "+
			"start its workloads one by one", x.ns.Name)
	}
	return m, nil
}

// withoutSwitchedOff returns the memory without the objects that somebody else, or a stop of their own, has switched
// off since.
func (x contents) withoutSwitchedOff(m namespaceMemory) namespaceMemory {
	off := func(o object) bool { return o.turnedOff(true) || o.hasStopMarks() && !o.markedWithNS() }
	for _, list := range [][]member{x.workloads, x.stateful} {
		for _, w := range list {
			if w.replicas() == 0 && off(w.object) && !w.isDrivenByKEDA() {
				delete(m.Workloads, w.memberName())
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

// hasNamespaceMarks reports whether anything in the namespace carries annotations of a stop of the whole.
func (x contents) hasNamespaceMarks() bool {
	of := func(w member) bool { return w.markedWithNS() }
	return slices.ContainsFunc(x.workloads, of) || slices.ContainsFunc(x.stateful, of) ||
		slices.ContainsFunc(x.cronJobs, object.markedWithNS) || slices.ContainsFunc(x.scalers, object.markedWithNS)
}

// annotatedSnapshot returns the memory of the namespace's stop from the annotations of its objects.
func (x contents) annotatedSnapshot() namespaceMemory {
	m := x.namespaceSnapshot()
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
				only.Workloads[w.memberName()] = w.annotatedReplicas()
			}
		}
	}
	return only
}

// startMember starts an object of the memory. It only removes the annotations of the stop from any other object.
func (p *pass) startMember(ctx context.Context, w member, m namespaceMemory) error {
	n, ours := m.Workloads[w.memberName()]
	snapshot := cloud.WasOff
	switch {
	case ours:
		snapshot = encodeSnapshot(workloadMemory{Replicas: n})
	case !w.markedWithNS():
		return nil
	}
	w.scalers = nil // their own step resumes them
	_, err := p.startWorkload(ctx, w.resource, w.view, snapshot)
	return ignoreNotFound(err)
}

func (p *pass) resumeMember(ctx context.Context, s object, m namespaceMemory) error {
	if _, ours := m.Paused[s.Name]; !ours && !s.markedWithNS() {
		return nil
	}
	return p.resumeScaledObject(ctx, s, m.Paused)
}

func (p *pass) unsuspendMember(ctx context.Context, j object, m namespaceMemory) error {
	snapshot := cloud.WasOff
	switch {
	case slices.Contains(m.CronJobs, j.Name):
		snapshot = encodeSnapshot(cronJobMemory{})
	case !j.markedWithNS():
		return nil
	}
	_, err := p.resumeCronJob(ctx, j, snapshot)
	return ignoreNotFound(err)
}

// wakingWorkload names a workload that is to be started and not ready yet, as it was read before the start.
func wakingWorkload(all []member, m namespaceMemory) string {
	for _, w := range all {
		if n, ours := m.Workloads[w.memberName()]; ours &&
			(w.replicas() == 0 || w.Status.Ready < min(n, w.replicas())) {
			return w.Name
		}
	}
	return ""
}

// toStart reports whether one of the workloads is still off and to be started.
func toStart(all []member, m namespaceMemory) bool {
	for _, w := range all {
		if _, ours := m.Workloads[w.memberName()]; ours && w.replicas() == 0 {
			return true
		}
	}
	return false
}

// forEach runs do for all in parallel and returns their errors. A failure does not prevent the others.
func forEach[T any](all []T, do func(T) error) error {
	errs := make([]error, len(all))
	cloud.InParallel(len(all), parallelCalls, func(i int) { errs[i] = do(all[i]) })
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
