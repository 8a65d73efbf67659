package evaluator

import (
	"fmt"
	"time"
)

// This file says how event readiness plans change the running resources, from contract.md sections 6 and 10, decision
// 048 and docs/operations/event-readiness.md. The documentation does not say how often a plan retries a target that
// could not be raised, nor at which second the evaluator handles the end of a hold. The test observes when these
// happen and checks that they may.

// naiveEvent is the event readiness plan of a resource.
type naiveEvent struct {
	from, to time.Time // when its capacity is raised, and given back; zero when there is no plan
	held     bool
	since    time.Time
	over     bool      // it is given back, or was let go for a forced stop
	owed     bool      // an order could not stop it meanwhile
	mayOwe   bool      // the enforcement of drift may be owed, too; the documentation leaves its time open
	want     naiveWant // of schedules, as it ended
	blocked  time.Time // when an override last held it off
	// runs of the evaluator since it was given back that have not seen to it; -1 when there is nothing to see to
	ended int
}

const (
	// eventRetry is how long a plan may take, at most, to try a target again.
	eventRetry = 11 * time.Minute
	// eventStart is how long a start that a plan asks for may take until the plan has seen that its target runs.
	eventStart = 2 * time.Minute
)

func newNaiveEvents(d *simDay) []naiveEvent {
	out := make([]naiveEvent, d.Resources)
	for i := range out {
		out[i].ended = -1
	}
	for _, e := range d.Events {
		for _, r := range e.Targets {
			out[r].from, out[r].to = d.Start.Add(e.Up), d.Start.Add(e.Down)
		}
	}
	return out
}

// observeHolds adopts which resources plans hold and which they have started. It returns the first thing that the
// documentation does not allow, or "".
func (n *naive) observeHolds(held []bool, started []int, at time.Time) string {
	for r, is := range held {
		e := &n.events[r]
		switch {
		case is && !e.held && (e.over || at.Before(e.from) || !at.Before(e.to)):
			return fmt.Sprintf("an event holds resource %d, outside of its time %s to %s", r, e.from, e.to)
		case is && !e.held && n.heldVerb(r, at) == "stop":
			return fmt.Sprintf("an event holds resource %d, which an override holds off", r)
		case is && !e.held:
			e.held, e.since, n.either[r] = true, at, false
			n.running[r], n.seen[r] = true, n.seen[r] || !n.running[r]
		case !is && e.held && at.Before(e.to):
			return fmt.Sprintf("an event let resource %d go before %s", r, e.to)
		case !is && e.held:
			e.held, e.over, e.ended = false, true, 0
			e.want.verb, e.want.minute, e.want.schedules = n.lastAsked(r, at)
		}
	}
	for _, r := range started {
		e := &n.events[r]
		if !e.held || at.Sub(e.since) > eventStart {
			return fmt.Sprintf("an event started resource %d", r)
		}
		n.running[r], n.seen[r], n.unsure[r], n.either[r] = true, true, false, false
	}
	return ""
}

// lateEvent returns the first act that events should have done before at, or "".
func (n *naive) lateEvent(at time.Time) string {
	for r := range n.events {
		e := &n.events[r]
		if n.heldVerb(r, at) == "stop" || e.blocked.IsZero() {
			e.blocked = at
			if e.from.After(at) || n.heldVerb(r, at) != "stop" {
				e.blocked = e.from
			}
		}
		first := e.blocked.Add(eventRetry)
		if e.blocked.Equal(e.from) {
			first = e.from.Add(time.Minute)
		}
		switch {
		case e.from.IsZero() || e.over:
		case e.held && at.After(e.to.Add(time.Minute)):
			return fmt.Sprintf("the event on resource %d should have given it back at %s", r, e.to)
		case !e.held && at.After(first) && at.Before(e.to):
			return fmt.Sprintf("the event on resource %d should hold it since %s", r, e.from)
		}
	}
	return ""
}

// endEvents carries out the verb of an override, or of the last firing during an event, on resources whose event has
// ended.
func (n *naive) endEvents(at time.Time, unsettled []bool) string {
	for r := range n.events {
		e := &n.events[r]
		if e.ended < 0 {
			continue
		}
		if e.ended++; unsettled[r] && e.ended > 1 {
			return fmt.Sprintf("nobody saw to the end of the event on resource %d", r)
		}
		if unsettled[r] {
			continue
		}
		e.ended = -1
		if verb := n.heldVerb(r, at); verb != "" {
			n.addOrder(at, naiveOrder{cause: "override", resource: r, verb: verb})
			continue
		}
		if w := e.want; w.verb != "" && (w.minute >= minuteAt(e.from) || e.owed || e.mayOwe) {
			// Of a target that was raised late it is not said whether firings before that count.
			open := w.minute < minuteAt(e.since) && !e.owed
			n.addOrder(at, naiveOrder{cause: "schedule", resource: r, verb: w.verb, schedules: w.schedules, open: open})
		}
	}
	return ""
}

// letGo ends the event on a resource for a forced stop.
func (n *naive) letGo(resource int) {
	e := &n.events[resource]
	e.held, e.over = false, true
}
