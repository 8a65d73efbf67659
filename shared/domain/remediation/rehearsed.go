package remediation

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// RehearseTask is the executor's task that rehearses a workflow on a simulated cloud. Its input is a RehearsalInput,
// its output a Rehearsal.
const RehearseTask = "rehearseRemediation"

// RehearsalInput is a workflow with the plans of its targets.
type RehearsalInput struct {
	Org     string   `json:"org"`
	Digest  string   `json:"digest"`
	Targets []Target `json:"targets"`
}

// Organisation returns the organization that the input belongs to.
func (in RehearsalInput) Organisation() string { return in.Org }

// RehearsalFault names a fault of the simulated cloud.
type RehearsalFault string

// The faults of a rehearsal.
const (
	NoFault         RehearsalFault = "none"
	LostReplies     RehearsalFault = "lost_reply"     // calls take effect, and their answers are lost
	Throttling      RehearsalFault = "throttling"     // a quarter of the calls is refused as too many
	DeniedHalfWay   RehearsalFault = "denied"         // the call that ends a change is denied
	SnapshotPending RehearsalFault = "snapshot_hangs" // a snapshot never completes
)

// Rehearsal is the result of a rehearsal: one run for each fault.
type Rehearsal struct {
	At     time.Time      `json:"at"`
	By     string         `json:"by"`     // the address of who asked for it
	Digest string         `json:"digest"` // of the plan that was rehearsed
	Runs   []RehearsedRun `json:"runs"`
}

// RehearsedRun is one run of the workflow with one fault.
type RehearsedRun struct {
	Fault  RehearsalFault `json:"fault"`
	Status Status         `json:"status"` // of the workflow after its change
	// RolledBack is the status after a person has rolled a change back that succeeded.
	RolledBack Status            `json:"rolledBack,omitempty"`
	Message    string            `json:"message,omitempty"`
	Targets    []RehearsedTarget `json:"targets"`
	Steps      []RehearsedStep   `json:"steps"` // oldest first, the first MaxRehearsedSteps
}

// MaxRehearsedSteps bounds the steps of a run that are kept.
const MaxRehearsedSteps = 20

// RehearsedTarget is the result for one target.
type RehearsedTarget struct {
	RecID    string `json:"recID"`
	Restored bool   `json:"restored"` // the values at the end are those before
	// Differences are values that were not restored, in words.
	Differences []string `json:"differences,omitempty"`
	// Expected says that the differences were: nothing gives the change back, as its plan says.
	Expected bool `json:"expected,omitempty"`
}

// RehearsedStep is one call of a run.
type RehearsedStep struct {
	After time.Duration     `json:"after"` // since the approval
	RecID string            `json:"recID"`
	Call  string            `json:"call"`
	Set   map[string]string `json:"set"`
	Error string            `json:"error,omitempty"`
}

// Passed reports whether each run ended with the values before, or as the plan says.
func (r *Rehearsal) Passed() bool {
	for i := range r.Runs {
		if !r.Runs[i].Passed() {
			return false
		}
	}
	return len(r.Runs) > 0
}

// Passed reports whether the run ended with the values before, or as the plan says. Without a fault, and with lost
// replies, the change must succeed. A call that is throttled for good is not repeated, so its change may be given back.
func (r *RehearsedRun) Passed() bool {
	for _, t := range r.Targets {
		if !t.Restored && !t.Expected {
			return false
		}
	}
	return r.Status == Succeeded || r.Fault != NoFault && r.Fault != LostReplies
}

// JoinRuns joins the runs of the parts of one workflow with one fault. Its status is that of the first part that did
// not succeed.
func JoinRuns(parts []RehearsedRun) RehearsedRun {
	out := RehearsedRun{Status: Succeeded}
	for i := range parts {
		p := &parts[i]
		if out.Fault = p.Fault; out.Status == Succeeded {
			out.Status = p.Status
		}
		if out.RolledBack == "" || out.RolledBack == RolledBack && p.RolledBack != "" {
			out.RolledBack = p.RolledBack
		}
		out.Message = cmp.Or(out.Message, p.Message)
		out.Targets = append(out.Targets, p.Targets...)
		out.Steps = append(out.Steps, p.Steps[:min(len(p.Steps), MaxRehearsedSteps-len(out.Steps))]...)
	}
	return out
}

// RehearsalCall returns the executor's call that rehearses a workflow.
func RehearsalCall(w *Workflow) (workflow.Call, error) {
	b, err := json.Marshal(RehearsalInput{Org: w.Org, Digest: w.Digest, Targets: w.Targets})
	return workflow.Call{Task: RehearseTask, Input: b}, fault.Wrap("encode the rehearsal of "+w.ID, err)
}

// CheckRehearsable returns fault.Conflict for a workflow that awaits no decision at a time: a rehearsal is for the
// person who decides.
func (w *Workflow) CheckRehearsable(at time.Time) error {
	if status := w.StatusAt(at); status != AwaitingApproval {
		return fault.New(fault.Conflict, "status: workflow %s is %s: only one that awaits approval is rehearsed", w.ID,
			status)
	}
	return nil
}

// StoreRehearsal stores a rehearsal with its workflow. It returns fault.Conflict if the workflow was decided or
// rehearsed since it was read. The digest stays: nothing else is done than before.
func (s *Store) StoreRehearsal(ctx context.Context, w Workflow, r Rehearsal) (Workflow, error) {
	if err := w.CheckRehearsable(s.clock.Now()); err != nil {
		return w, err
	}
	w = w.Copy()
	w.Rehearsal = &r
	return w, s.Save(ctx, &w)
}
