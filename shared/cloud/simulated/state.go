package simulated

import (
	"time"

	"lamplighter.dev/shared/cloud"
)

// transition is the last change of a node: when it began, how long it takes, and the states before and after.
type transition struct {
	at     int64 // Unix microseconds
	millis int32
	on     bool
	falls  bool // it does not hold: the node returns to stopped when the time is over
	was    bool // on before
	cap    capacity
	had    capacity // before
}

// history knows the last transition of nodes, and the values that were set.
type history interface {
	last(n node) (transition, bool)
	changed(n node) map[string]string
}

// state is how a node is at a moment.
type state struct {
	status cloud.Status
	on     bool // is running or will be
	native string
	reason string
	cap    capacity
}

// stateAt works out how n is at the time now. An instance of an Auto Scaling group follows its group.
func (s *settings) stateAt(n node, h history, now time.Time) state {
	if g, rank, ok := s.groupOf(n); ok {
		return s.memberState(s.stateAt(g, h, now), rank)
	}
	if h.changed(n)[cloud.ExistsValue] == "false" {
		return state{status: cloud.Terminated, native: "deleted"}
	}
	w := kinds[n.kind].words
	t, ok := h.last(n)
	if !ok {
		on, c := s.initialState(n)
		return settledState(w, on, c)
	}
	elapsed := now.UnixMicro() - t.at
	switch {
	case elapsed < 0:
		return settledState(w, t.was, t.had)
	case elapsed < int64(t.millis)*1000 && t.on:
		return state{status: cloud.Starting, on: true, native: w.starting, cap: t.cap}
	case elapsed < int64(t.millis)*1000:
		return state{status: cloud.Stopping, native: w.stopping, cap: t.cap}
	case t.falls:
		st := settledState(w, false, t.cap.withoutInstances())
		st.reason = "Client.InternalError: Client error on launch"
		return st
	}
	return settledState(w, t.on, t.cap)
}

func settledState(w words, on bool, c capacity) state {
	if on {
		return state{status: cloud.Running, on: true, native: w.on, cap: c}
	}
	return state{status: cloud.Stopped, native: w.off, cap: c}
}

// memberState returns the state of the instance of that rank in a group. Instances above the wanted size are
// terminated.
func (s *settings) memberState(g state, rank int32) state {
	if rank >= g.cap.Desired {
		return state{
			status: cloud.Terminated, native: "terminated",
			reason: "Client.UserInitiatedShutdown: group scaled in",
		}
	}
	w := kinds[kindEC2].words
	if g.status == cloud.Starting {
		return state{status: cloud.Starting, on: true, native: w.starting}
	}
	return settledState(w, true, capacity{})
}
