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

func (s *step) addMember(status cloud.Status, why, held string, o object) {
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

// stepStatus returns the status of a step: Pending if it is partly done.
func (s *step) stepStatus() cloud.Status {
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

// stepsInProgress returns the states of the steps that have members.
func (x contents) stepsInProgress() []*step {
	jobs, scalers := newStep(stepCronJobs), newStep(stepScalers)
	for _, o := range x.cronJobs {
		jobs.addMember(onOff(!o.suspended()), driftOf(o, !o.suspended()), o.heldIf(o.suspended(), x.now), o)
	}
	for _, o := range x.scalers {
		scalers.addMember(onOff(!o.pausedAtZero()), driftOf(o, !o.pausedAtZero()), "", o)
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
		return o.driftReason()
	}
	return ""
}

// ofWorkloads makes a step of members. Members that are held are not moving: the next step does not wait for them.
func (x contents) ofWorkloads(name string, all []member) *step {
	s := newStep(name)
	for _, w := range all {
		status, why := w.workloadStatus()
		held := w.heldIf(!w.isOn(), x.now)
		if held != "" && !w.isEnding() {
			status, why = cloud.Stopped, ""
		}
		if w.replicas() == 0 && w.isDrivenByKEDA() {
			why = "" // KEDA's own business, which its step tells
			status = cloud.Stopped
		}
		s.addMember(status, why, held, w.object)
	}
	return s
}

func (o object) heldIf(off bool, now time.Time) string {
	if off {
		return o.holdReason(now)
	}
	return ""
}

// stepStates returns the progress of the namespace's steps.
func (x contents) stepStates() []cloud.Step {
	var out []cloud.Step
	for _, s := range x.stepsInProgress() {
		told := cloud.Step{
			Name: s.name, Status: s.stepStatus(),
			Message: fmt.Sprintf("%d of %d are off", s.count[cloud.Stopped], s.all),
		}
		told.Message = joinReasons(joinReasons(told.Message, s.why), s.held)
		out = append(out, told)
	}
	return out
}

// namespaceStatus returns the status of a namespace and the reason. Pending means that a stop or a start was done in
// part and must be continued.
func (x contents) namespaceStatus() (cloud.Status, string) {
	if x.ns.DeletionTimestamp != nil {
		return cloud.Terminated, "it is being deleted"
	}
	all := x.stepsInProgress()
	count, woken, why, held := map[cloud.Status]int{}, 0, "", ""
	for _, s := range all {
		count[s.stepStatus()]++
		woken += s.woken
		why, held = joinReasons(why, s.why), joinReasons(held, s.held)
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
		return cloud.Pending, joinReasons(x.summaryText(), why)
	default:
		return cloud.Running, why
	}
}
