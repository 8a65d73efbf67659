package evaluator

import (
	"slices"
	"time"
)

// This file says when drift may be, and must have been, enforced. The documentation does not say at which minute of
// an hour the evaluator looks for drift, so for some time a stop is right but not yet due.

// naiveDrift is a resource that runs though the last act of its schedules was a stop.
type naiveDrift struct {
	since    int64 // the minute; 0 when it does not drift
	enforced int64 // the minute in which the last stop was ordered
	runs     int64 // of the evaluator since both
	owed     bool  // it should have been stopped by now
}

// lookAtDrift finds the drifting resources. If a stop is right, it becomes an order that may or may not be carried
// out.
func (n *naive) lookAtDrift(at time.Time) {
	minute := minuteAt(at)
	for r := range n.drift {
		d := &n.drift[r]
		by, is := n.driftOf(r, at)
		if !is {
			if d.runs, d.owed = 0, false; !n.events[r].held { // a hold does not start the grace anew: decision 022
				d.since = 0
			}
			continue
		}
		if d.runs++; n.unsure[r] {
			d.runs = 0
		}
		if d.since == 0 {
			d.since = minute
		}
		first, last, all := n.graces(by)
		if first < 0 {
			continue
		}
		if minute >= d.since+first || d.enforced > 0 && minute >= d.enforced+60 {
			n.addOrder(at, naiveOrder{cause: "drift", resource: r, verb: "stop", schedules: by})
		}
		d.owed = all && d.runs > 60+last+int64(n.Lag/time.Minute)+3
	}
}

// driftOf reports whether a resource is known to run although its schedules, which start and stop it, stopped it half
// an hour ago or more, and nothing prevents them from stopping it now. It returns the schedules that stopped it.
func (n *naive) driftOf(resource int, at time.Time) ([]int, bool) {
	verb, minute, by := n.lastAsked(resource, at)
	if !n.seen[resource] || verb != "stop" || minute < minuteAt(n.Start) ||
		at.Before(time.Unix(minute*60, 0).Add(30*time.Minute)) || !n.startAndStop(resource) {
		return nil, false
	}
	by = slices.DeleteFunc(slices.Clone(by), func(s int) bool { return n.closed(s, "stop", minuteAt(at)) })
	return by, len(by) > 0 && n.heldVerb(resource, at) == "" && !n.events[resource].held
}

func (n *naive) startAndStop(resource int) bool {
	does := map[string]bool{}
	for i, s := range n.Schedules {
		for _, c := range s.Crons {
			does[c.Verb] = does[c.Verb] || n.reaches[i][resource]
		}
	}
	return does["start"] && does["stop"]
}

// graces returns the shortest and the longest grace of the schedules that enforce, and whether all of them do. Both
// are -1 if none does.
func (n *naive) graces(schedules []int) (shortest, longest int64, all bool) {
	shortest, all = -1, true
	for _, i := range schedules {
		s := n.Schedules[i]
		if !s.Enforce {
			all = false
			continue
		}
		if g := int64(s.Grace); shortest < 0 || g < shortest {
			shortest = g
		}
		longest = max(longest, int64(s.Grace))
	}
	return shortest, longest, all
}

// compareRunning compares the resources that should run with those that run at the end of a minute, and adopts the
// state where the documentation leaves it open. It returns the resources that differ.
func (n *naive) compareRunning(running []bool, at time.Time) []int {
	var differ []int
	for r, runs := range running {
		d := &n.drift[r]
		switch {
		case n.running[r] != runs && n.either[r]:
			if !runs {
				d.enforced = minuteAt(at.Add(-n.Lag))
			}
			n.running[r], n.seen[r], n.unsure[r] = runs, runs, false
			d.since, d.runs, d.owed = 0, 0, false
		case n.running[r] != runs, runs && d.owed:
			differ = append(differ, r)
		}
		n.either[r] = false
	}
	return differ
}
