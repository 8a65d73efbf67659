package sweeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// endTries is how often the end of a record is tried, besides, before its work is parked without it.
const endTries = 4

// longestReason is how many bytes of a reason are kept.
const longestReason = 500

// ending is the task of a worker that ends the record of a machine's work as failed, as the machine itself does when it gives
// up. It frees what the record holds: the claim on a resource, on a group, on an account.
type ending struct{ function, task string }

// endings are those of all machines. An erasure has none: nobody may be told that it is over before it is.
var endings = map[string]ending{
	"action":            {"executor", "abandon"},
	"bill-upload":       {"billingsync", "giveUp"},
	"billing-sync":      {"billingsync", "giveUp"},
	"bulk-action":       {"executor", "finish"},
	"cost-export":       {"exporter", "abandon"},
	"discovery":         {"discovery", "finish"},
	"erasure":           {},
	"event-readiness":   {"executor", "giveUp"},
	"organisation-sync": {"organisationsync", "finish"},
}

// park gives w up: its record ends as failed with the reason, and the work is kept, off the list, for an operator. Where the
// record cannot be ended, for its worker is what is broken, the work stays on the list for some more tries, so that what the
// record holds is freed as soon as the worker is mended; and then it is parked with its record waiting.
func (s *sweep) park(ctx context.Context, w workqueue.Work, why string) (Swept, error) {
	p := workqueue.Parked{Work: w, Why: why[:min(len(why), longestReason)], ParkedAt: s.now}
	ended, err := s.end(ctx, p)
	if err != nil && w.Try-w.From < maxTries+endTries {
		_, again := s.write(ctx, workqueue.CountTry(w, s.now.Add(longestPause)))
		return Swept{Looked: 1}, fault.Wrap("end the record of "+w.ID, errors.Join(err, again))
	}
	return s.keep(ctx, p, ended, err)
}

// deadTime is how long the sweeper tries to end the record of work that ended its processes, before it parks the work
// without.
const deadTime = 24 * time.Hour

// parkDead gives up w, whose execution ended because a call ended its process each time. It is not started anew.
func (s *sweep) parkDead(ctx context.Context, w workqueue.Work, why string) (Swept, error) {
	p := workqueue.Parked{Work: w, Why: why[:min(len(why), longestReason)], ParkedAt: s.now}
	ended, err := s.end(ctx, p)
	if err != nil && s.now.Sub(w.At) < deadTime {
		_, again := s.write(ctx, workqueue.Postpone(w, s.now.Add(longestPause)))
		return Swept{Looked: 1}, fault.Wrap("end the record of "+w.ID, errors.Join(err, again))
	}
	return s.keep(ctx, p, ended, err)
}

// keep parks work whose record was ended, or could not be for the reason endErr.
func (s *sweep) keep(ctx context.Context, p workqueue.Parked, ended bool, endErr error) (Swept, error) {
	w := p.Work
	if p.Ended = ended; endErr != nil {
		p.Why += "; its record could not be ended: " + endErr.Error()
	}
	ws, err := workqueue.Park(p)
	if err == nil {
		err = s.Table.Transact(ctx, ws...)
	}
	if err != nil {
		return Swept{Looked: 1}, fmt.Errorf("park %s: %w", w.ID, err)
	}
	s.Log.ErrorContext(ctx, "work parked", "machine", w.Machine, "id", w.ID, "org", w.Org, "tries", w.Try-w.From,
		"ended", ended, "why", p.Why)
	return Swept{Looked: 1, Parked: 1}, nil
}

// end ends the record of what is parked; it reports whether it did.
func (s *sweep) end(ctx context.Context, p workqueue.Parked) (bool, error) {
	e := endings[p.Machine]
	if e.task == "" {
		return false, nil
	}
	call := workflow.Call{Task: e.task, Input: p.Input, Error: &workflow.Caught{
		Error: "Parked", Cause: fmt.Sprintf("given up after %d tries: %s", p.Try-p.From, p.Why),
	}}
	var answer json.RawMessage // nothing in it is needed
	err := s.Workers.RunTask(ctx, e.function, call, &answer)
	return err == nil, err
}

// reasonOf tells what an execution ended with that left its work unfinished.
func reasonOf(ex workflow.Execution) string {
	if ex.Error == "" {
		return fmt.Sprintf("its state machine ended as %s and left it unfinished", ex.Status)
	}
	return (&workflow.Caught{Error: ex.Error, Cause: ex.Cause}).String()
}
