package readiness

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
)

// Status is the status of a plan, spelled as in the interface specification.
type Status string

// The statuses.
const (
	Draft       Status = "draft"        // created, not scheduled, fully editable
	Scheduling  Status = "scheduling"   // its intents are being pushed to the executor
	Scheduled   Status = "scheduled"    // the executor has registered its times
	ScalingUp   Status = "scaling_up"   // the pre-scale time is reached
	Active      Status = "active"       // the targets are held at the scaled capacity
	ScalingDown Status = "scaling_down" // the post-event time is reached
	Completed   Status = "completed"    // everything is restored
	Cancelled   Status = "cancelled"
	Failed      Status = "failed" // the executor, or a call to a cloud, failed
)

// Statuses are all statuses, in the order of a plan's life.
var Statuses = []Status{Draft, Scheduling, Scheduled, ScalingUp, Active, ScalingDown, Completed, Cancelled, Failed}

// next is the table of the interface specification. It contains all permitted transitions.
var next = map[Status][]Status{
	Draft:       {Scheduling, Cancelled},
	Scheduling:  {Scheduled, Failed, Cancelled},
	Scheduled:   {ScalingUp, Cancelled, Failed},
	ScalingUp:   {Active, Failed, Cancelled},
	Active:      {ScalingDown, Failed, Cancelled},
	ScalingDown: {Completed, Failed, Cancelled},
	Failed:      {Draft, Scheduling, Cancelled},
	Completed:   {Draft, Cancelled},
}

// Permits reports whether a plan may change from status s to another one.
func (s Status) Permits(to Status) bool { return slices.Contains(next[s], to) }

// Check returns fault.Conflict for a transition that is not in the table.
func (s Status) Check(to Status) error {
	if s.Permits(to) {
		return nil
	}
	if len(next[s]) == 0 {
		return fault.New(fault.Conflict, "status: the plan is %s, which is its end: make a new plan", s)
	}
	return fault.New(fault.Conflict, "status: a plan that is %s cannot become %s; it can become one of %s", s, to,
		listed(next[s]))
}

// Editable reports whether a plan in this status may be changed and deleted. The interface specification calls that
// schedulable.
func (s Status) Editable() bool { return s == Draft || s == Failed || s == Scheduled }

// HoldsWindow reports whether a plan in this status blocks other plans on its targets during its window.
func (s Status) HoldsWindow() bool { return s != Completed && s != Cancelled }

func listed(all []Status) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}
