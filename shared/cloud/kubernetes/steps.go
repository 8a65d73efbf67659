package kubernetes

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
)

// The steps of a namespace, in the order of a stop.
const (
	stepCronJobs    = "cronjobs"
	stepScalers     = "scaledobjects"
	stepWorkloads   = "deployments" // and Rollouts
	stepStatefulSet = "statefulsets"
)

// step is the present state of one step: its members, by status.
type step struct {
	name  string
	count map[cloud.Status]int
	all   int
	woken int    // off, and stopped with the namespace: a start wakes it
	why   string // of the first that moves, or has drifted
	held  string // of the first that is off, and watched
}

func (s *step) add(status cloud.Status, why, held string, o object) {
	s.count[status]++
	s.all++
	if status == cloud.Stopped && o.withNS() {
		s.woken++
	}
	if s.why == "" && why != "" {
		s.why = o.Name + ": " + why
	}
	if s.held == "" && held != "" {
		s.held = o.Name + ": " + held
	}
}

// status of a step: Pending is one that is done in part.
func (s *step) status() cloud.Status {
	for _, moving := range []cloud.Status{cloud.Stopping, cloud.Starting} {
		if s.count[moving] > 0 {
			return moving
		}
	}
	switch {
	case s.count[cloud.Stopped] == s.all:
		return cloud.Stopped
	case s.woken > 0:
		return cloud.Pending
	default:
		return cloud.Running
	}
}

// progress is how the steps of the namespace that have anything to do are.
func (x contents) progress() []*step {
	jobs, scalers := newStep(stepCronJobs), newStep(stepScalers)
	for _, o := range x.cronJobs {
		jobs.add(onOff(!o.suspended()), driftOf(o, !o.suspended()), o.heldIf(o.suspended(), x.now), o)
	}
	for _, o := range x.scalers {
		scalers.add(onOff(!o.pausedAtZero()), driftOf(o, !o.pausedAtZero()), "", o)
	}
	all := []*step{jobs, scalers, x.ofWorkloads(stepWorkloads, x.workloads), x.ofWorkloads(stepStatefulSet, x.stateful)}
	out := all[:0]
	for _, s := range all {
		if s.all > 0 {
			out = append(out, s)
		}
	}
	return out
}

func newStep(name string) *step { return &step{name: name, count: map[cloud.Status]int{}} }

func onOff(on bool) cloud.Status {
	if on {
		return cloud.Running
	}
	return cloud.Stopped
}

func driftOf(o object, on bool) string {
	if on {
		return o.drift()
	}
	return ""
}

// ofWorkloads makes a step of members. Members that are held are not moving: the next step does not wait for them.
func (x contents) ofWorkloads(name string, all []member) *step {
	s := newStep(name)
	for _, w := range all {
		status, why := w.status()
		held := w.heldIf(!w.on(), x.now)
		if held != "" && !w.ending() {
			status, why = cloud.Stopped, ""
		}
		if w.replicas() == 0 && w.driven() {
			why = "" // KEDA's own business, which its step tells
			status = cloud.Stopped
		}
		s.add(status, why, held, w.object)
	}
	return s
}

func (o object) heldIf(off bool, now time.Time) string {
	if off {
		return o.held(now)
	}
	return ""
}

// steps tells the progress.
func (x contents) steps() []cloud.Step {
	var out []cloud.Step
	for _, s := range x.progress() {
		told := cloud.Step{Name: s.name, Status: s.status(),
			Message: fmt.Sprintf("%d of %d are off", s.count[cloud.Stopped], s.all)}
		told.Message = joined(joined(told.Message, s.why), s.held)
		out = append(out, told)
	}
	return out
}

// status returns the status of a namespace and the reason. Pending means that a stop or a start was done in part and
// must be continued.
func (x contents) status() (cloud.Status, string) {
	if x.ns.DeletionTimestamp != nil {
		return cloud.Terminated, "it is being deleted"
	}
	all := x.progress()
	count, woken, why, held := map[cloud.Status]int{}, 0, "", ""
	for _, s := range all {
		count[s.status()]++
		woken += s.woken
		why, held = joined(why, s.why), joined(held, s.held)
	}
	switch {
	case count[cloud.Stopping] > 0:
		return cloud.Stopping, why
	case len(all) > 0 && count[cloud.Stopped] == len(all) && held != "":
		return cloud.Stopping, held
	case len(all) > 0 && count[cloud.Stopped] == len(all):
		return cloud.Stopped, ""
	case count[cloud.Starting] > 0:
		return cloud.Starting, why
	case woken > 0:
		return cloud.Pending, joined(x.summary(), why)
	default:
		return cloud.Running, why
	}
}
