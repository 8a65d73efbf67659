package kubernetes

import (
	"context"

	"lamplighter.dev/shared/cloud"
)

// namespaceMemory is what the stop of a namespace forgets: what was on, and how much of it.
type namespaceMemory struct {
	CronJobs  []string           `json:"cronJobs,omitempty"`
	Paused    map[string]*string `json:"paused,omitempty"`    // ScaledObjects, with what their annotation said
	Workloads map[string]int64   `json:"workloads,omitempty"` // "deployments/web": replicas
}

// memory holds what is on, and what this stop has already turned off: a stop that is begun anew must not remember less.
func (x contents) memory() namespaceMemory {
	m := namespaceMemory{Paused: map[string]*string{}, Workloads: map[string]int64{}}
	for _, j := range x.cronJobs {
		if !j.suspended() || j.withNS() {
			m.CronJobs = append(m.CronJobs, j.Name)
		}
	}
	for _, s := range x.scalers {
		if !s.pausedAtZero() || s.withNS() {
			m.Paused[s.Name] = s.priorPause()
		}
	}
	for _, list := range [][]member{x.workloads, x.stateful} {
		for _, w := range list {
			switch {
			case w.replicas() > 0:
				m.Workloads[w.name()] = w.replicas()
			case w.withNS():
				m.Workloads[w.name()] = w.remembered()
			}
		}
	}
	return m
}

// stopNamespace takes the steps that can be taken now. When one has to wait for the one before, the error is class Moving.
func (c *cluster) stopNamespace(ctx context.Context, x contents) error {
	if why := x.unschedulable(); why != "" {
		return errUnsupported("%s", why)
	}
	err := each(x.cronJobs, func(j object) error { return gone(c.suspend(ctx, j, true, withNamespace)) })
	if err != nil {
		return err
	}
	if err = each(x.scalers, func(s object) error { return c.pause(ctx, s, withNamespace) }); err != nil {
		return err
	}
	if err = each(x.workloads, func(w member) error { return c.stopMember(ctx, w) }); err != nil {
		return err
	}
	if n := endingPods(x.workloads); n > 0 && anyOn(x.stateful) {
		return errMoving("step %s: %d pods are left, and the StatefulSets that they may need are stopped after them", stepWorkloads, n)
	}
	return each(x.stateful, func(w member) error { return c.stopMember(ctx, w) })
}

// stopMember leaves alone what is off.
func (c *cluster) stopMember(ctx context.Context, w member) error {
	if w.replicas() == 0 {
		return nil
	}
	w.scalers = nil // their own step has paused them
	return gone(c.stopWorkload(ctx, w.resource, w.view, withNamespace))
}

// endingPods counts the pods of workloads as they were read before the stop.
func endingPods(all []member) int64 {
	var n int64
	for _, w := range all {
		n += max(w.Status.Replicas, int64(w.left))
	}
	return n
}

func anyOn(all []member) bool {
	for _, w := range all {
		if w.on() {
			return true
		}
	}
	return false
}

// startNamespace goes the other way. What was off before the stop is not in what is remembered, and stays off.
func (c *cluster) startNamespace(ctx context.Context, x contents, snapshot []byte) error {
	m, err := x.recall(snapshot)
	if err != nil {
		return err
	}
	if err = each(x.stateful, func(w member) error { return c.startMember(ctx, w, m) }); err != nil {
		return err
	}
	if w := waking(x.stateful, m); w != "" && toStart(x.workloads, m) {
		return errMoving("step %s: %s is not ready, and what may need it is started after it", stepStatefulSet, w)
	}
	if err = each(x.workloads, func(w member) error { return c.startMember(ctx, w, m) }); err != nil {
		return err
	}
	err = each(x.scalers, func(s object) error {
		if _, ours := m.Paused[s.Name]; !ours {
			return nil
		}
		return c.resume(ctx, s, m.Paused)
	})
	if err != nil {
		return err
	}
	return each(m.CronJobs, func(name string) error { return gone(c.suspend(ctx, named(ref{x.ns.Name, name}), false, "")) })
}

// recall returns what to start: what was remembered, else what the annotations tell.
func (x contents) recall(snapshot []byte) (namespaceMemory, error) {
	m, known, err := decodeSnapshot[namespaceMemory](snapshot)
	if err != nil || known {
		return m, err
	}
	m = x.annotated()
	if len(m.CronJobs)+len(m.Paused)+len(m.Workloads) == 0 {
		return m, errUnsupported("nothing is remembered of namespace %s, and nothing in it was stopped with it: start what it holds by itself", x.ns.Name)
	}
	return m, nil
}

// annotated is the memory of what the stop of the namespace turned off, from the objects themselves.
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

func (c *cluster) startMember(ctx context.Context, w member, m namespaceMemory) error {
	n, ours := m.Workloads[w.name()]
	if !ours || w.replicas() > 0 {
		return nil
	}
	w.scalers = nil // their own step resumes them
	return gone(c.startWorkload(ctx, w.resource, w.view, goal{w.ref(), encodeSnapshot(workloadMemory{Replicas: n})}))
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

// each does all, side by side, and returns what failed: one that fails does not keep the others of its step from being done.
func each[T any](all []T, do func(T) error) error {
	errs := make([]error, len(all))
	cloud.InParallel(len(all), width, func(i int) { errs[i] = do(all[i]) })
	for _, err := range errs {
		if err != nil && !cloud.ClassOf(err).Retryable() {
			return err // what is final tells more than what may pass
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
