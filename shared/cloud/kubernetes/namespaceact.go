package kubernetes

import (
	"context"
	"time"

	"lamplighter.dev/shared/cloud"
)

// namespaceMemory is the state that the stop of a namespace overwrites: the objects that were on, and their sizes.
type namespaceMemory struct {
	CronJobs  []string           `json:"cronJobs,omitempty"`
	Paused    map[string]*string `json:"paused,omitempty"`    // ScaledObjects, with the value of their annotation
	Workloads map[string]int64   `json:"workloads,omitempty"` // "deployments/web": replicas
}

// namespaceSnapshot returns the objects that are on and those that this stop has already turned off: a stop that
// begins again must not remember less.
func (x contents) namespaceSnapshot() namespaceMemory {
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
				m.Workloads[w.memberName()] = w.replicas()
			case w.withNS():
				m.Workloads[w.memberName()] = w.annotatedReplicas()
			}
		}
	}
	return m
}

// betweenSteps is how long an act waits after a step, before it checks once more whether the next step can begin.
const betweenSteps = time.Second

// steps are the parts of a verb on a namespace: the first part, the part that may have to wait for it, and the
// resources to list again before the second.
type steps struct {
	first, second func(context.Context, *pass, contents, goal) outcome
	lists         []apiResource
}

var (
	stopSteps  = steps{stopNamespace, stopStateful, []apiResource{deploymentsOf, rolloutsOf, podsOf}}
	startSteps = steps{startNamespace, startRest, []apiResource{statefulOf}}
)

// actOnNamespaces acts on namespaces in parallel. If a step has to wait for the one before, it checks once more after
// a moment, so that the next act need not start over. If that is not enough, the error is class Moving.
func actOnNamespaces(ctx context.Context, p *pass, v cloud.Verb, goals []goal) []outcome {
	s := stopSteps
	if v == cloud.Start {
		s = startSteps
	}
	out := s.takeStep(ctx, p, goals, s.first)
	var waiting []goal
	var at []int
	for i := range out {
		if out[i].waits {
			waiting, at = append(waiting, goals[i]), append(at, i)
		}
	}
	if len(waiting) == 0 || p.clock.Sleep(ctx, betweenSteps) != nil {
		return out
	}
	for i, o := range s.takeStep(ctx, p.renewLists(refsOf(waiting), s.lists...), waiting, s.second) {
		out[at[i]] = o
	}
	return out
}

// takeStep takes a step in each namespace.
func (steps) takeStep(ctx context.Context, p *pass, goals []goal,
	step func(context.Context, *pass, contents, goal) outcome,
) []outcome {
	out := make([]outcome, len(goals))
	cloud.InParallel(len(goals), parallelCalls, func(i int) {
		x, err := p.namespaceContents(ctx, goals[i].name)
		if err != nil {
			out[i] = outcome{err: err}
			return
		}
		out[i] = step(ctx, p, x, goals[i])
	})
	return out
}

// stopNamespace takes the steps that can be taken now.
func stopNamespace(ctx context.Context, p *pass, x contents, g goal) outcome {
	if why := x.stopObstacle(); why != "" {
		return outcome{err: cloud.ErrUnsupported("%s", why)}
	}
	err := forEach(x.cronJobs, func(j object) error { return ignoreNotFound(p.suspendCronJob(ctx, j, withNamespace)) })
	if err == nil {
		err = forEach(x.scalers, func(s object) error { return p.pauseScaledObject(ctx, s, withNamespace) })
	}
	if err == nil {
		err = forEach(x.workloads, func(w member) error { return p.stopMember(ctx, w) })
	}
	if err != nil {
		return outcome{err: err}
	}
	return stopStateful(ctx, p, x, g)
}

// stopStateful takes the last step of a stop, when the pods of the step before are gone.
func stopStateful(ctx context.Context, p *pass, x contents, _ goal) outcome {
	if n := endingPods(x.workloads); n > 0 && anyOn(x.stateful) {
		err := cloud.ErrMoving("step %s: %d pods are left, and the StatefulSets that they may need are stopped "+
			"after them",
			stepWorkloads, n)
		return outcome{err: err, waits: true}
	}
	return outcome{err: forEach(x.stateful, func(w member) error { return p.stopMember(ctx, w) })}
}

// stopMember stops an object of a namespace. It makes no change to one that is off.
func (p *pass) stopMember(ctx context.Context, w member) error {
	if w.replicas() == 0 {
		return nil
	}
	w.scalers = nil // their own step has paused them
	return ignoreNotFound(p.stopWorkload(ctx, w.resource, w.view, withNamespace))
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
		if w.isOn() {
			return true
		}
	}
	return false
}
