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

// endTries is how often, in addition, the end of a record is tried before its work is parked without it.
const endTries = 4

// longestReason is how many bytes of a reason are stored.
const longestReason = 500

// ending is the task of a worker that ends the record of a machine's work as failed, as the machine itself does when
// it gives up. It releases the record's claims on a resource, group or account.
type ending struct{ function, task string }

// endings are the endings of all machines. An erasure has none: it must not be reported as over before it is.
var endings = map[string]ending{
	"action":            {"executor", "abandon"},
	"bill-account":      {"billingsync", "giveUp"},
	"bill-upload":       {"billingsync", "giveUp"},
	"billing-sync":      {"billingsync", "giveUp"},
	"bulk-action":       {"executor", "finish"},
	"cost-export":       {"exporter", "abandon"},
	"discovery":         {"discovery", "finish"},
	"erasure":           {},
	"event-readiness":   {"executor", "giveUp"},
	"organisation-sync": {"organisationsync", "finish"},
	"recommendations":   {"recommender", "finish"},
	"remediation":       {"executor", "giveUpRemediation"},
}

// parkWork gives up w: its record ends as failed with the reason, and the work is moved from the list of pending work
// to that of parked work, for an operator. If the record cannot be ended, because its worker is broken, the work
// stays pending for some more tries, so that the record's claims are released as soon as the worker works again.
// After that it is parked with its record still open.
func (s *sweep) parkWork(ctx context.Context, w workqueue.Work, why string) (Swept, error) {
	p := workqueue.Parked{Work: w, Why: why[:min(len(why), longestReason)], ParkedAt: s.now}
	ended, err := s.endRecord(ctx, p)
	if err != nil && w.Try-w.From < maxTries+endTries {
		_, again := s.writeIf(ctx, workqueue.CountTry(w, s.now.Add(longestPause)))
		return Swept{Looked: 1}, fault.Wrap("end the record of "+w.ID, errors.Join(err, again))
	}
	return s.storeParked(ctx, p, ended, err)
}

// deadTime is how long the sweeper tries to end the record of work that ended its processes, before it parks the work
// without that.
const deadTime = 24 * time.Hour

// parkDead gives up w, whose execution ended because each call ended its process. It is not started again.
func (s *sweep) parkDead(ctx context.Context, w workqueue.Work, why string) (Swept, error) {
	p := workqueue.Parked{Work: w, Why: why[:min(len(why), longestReason)], ParkedAt: s.now}
	ended, err := s.endRecord(ctx, p)
	if err != nil && s.now.Sub(w.At) < deadTime {
		_, again := s.writeIf(ctx, workqueue.Postpone(w, s.now.Add(longestPause)))
		return Swept{Looked: 1}, fault.Wrap("end the record of "+w.ID, errors.Join(err, again))
	}
	return s.storeParked(ctx, p, ended, err)
}

// storeParked parks work whose record was ended, or could not be ended because of endErr.
func (s *sweep) storeParked(ctx context.Context, p workqueue.Parked, ended bool, endErr error) (Swept, error) {
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

// endRecord ends the record of parked work. It reports whether it did.
func (s *sweep) endRecord(ctx context.Context, p workqueue.Parked) (bool, error) {
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

// reasonOf describes how an execution ended without finishing its work.
func reasonOf(ex workflow.Execution) string {
	if ex.Error == "" {
		return fmt.Sprintf("its state machine ended as %s and left it unfinished", ex.Status)
	}
	return (&workflow.Caught{Error: ex.Error, Cause: ex.Cause}).String()
}
