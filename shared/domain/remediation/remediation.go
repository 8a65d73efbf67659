// Package remediation keeps the workflows that carry out recommendations: the plan of each change, its approval, its
// progress, and the values before it. The executor runs them; API functions propose, approve and show them. It links no
// cloud's SDK. See docs/decisions/074-remediation.md.
package remediation

import (
	"time"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
)

// The partitions of workflows.
const (
	Partition        table.Partition = "ORG#*#REM"        // workflows, their list, holds on resources, counts by day
	CapturePartition table.Partition = "ORG#*#REMCAPTURE" // the values before each change, written once
)

// Function is the operation group that answers for workflows. Executor is the worker that carries them out. Machine is
// their state machine.
const (
	Function = "remediation"
	Executor = "executor"
	Machine  = "remediation"
)

// The limits of workflows.
const (
	MaxTargets    = 50                   // recommendations of one workflow
	MaxDayChanges = 50                   // changes of an organization a day, in UTC
	ApprovalTime  = 24 * time.Hour       // in which a proposal is decided
	RollbackTime  = 7 * 24 * time.Hour   // after its end, in which a person may roll a workflow back
	Keep          = 400 * 24 * time.Hour // a workflow and its captures
)

// Workflow is the record of one remediation: of one recommendation or of several.
type Workflow struct {
	ID     string `json:"id"` // rem_…
	Org    string `json:"org"`
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"` // of the request
	// Proposal is set if the requester holds remediation:write only: the approver needs remediation:execute.
	Proposal bool `json:"proposal,omitempty"`
	// Autonomous is set if the service requested it, for a rule that the organization lets run without approval.
	Autonomous bool       `json:"autonomous,omitempty"`
	Targets    []Target   `json:"targets"` // the first one is changed and validated before the others begin
	Digest     string     `json:"digest"`  // hash of the plans of all targets; the approver approves this hash
	Steps      Steps      `json:"steps"`
	History    []Event    `json:"history"` // oldest first
	Requester  Person     `json:"requester"`
	Approver   Person     `json:"approver,omitzero"` // who approved or rejected it
	Canceller  Person     `json:"canceller,omitzero"`
	Rollback   *Rollback  `json:"rollback,omitempty"`  // the last request to roll back
	Rehearsal  *Rehearsal `json:"rehearsal,omitempty"` // the last one
	ExpiresAt  time.Time  `json:"expiresAt"`           // of the proposal
	Message    string     `json:"message,omitempty"`   // why it is in its status
	CreatedAt  time.Time  `json:"createdAt"`
	UpdatedAt  time.Time  `json:"updatedAt"`
	EndedAt    time.Time  `json:"endedAt,omitzero"` // when it became final, or rolled_back
	Rollbacks  int        `json:"rollbacks,omitempty"`
	// Suspensions counts the waits of the workflow that were longer than a state machine runs. ResumeAt is the end of
	// the last one.
	Suspensions int       `json:"suspensions,omitempty"`
	ResumeAt    time.Time `json:"resumeAt,omitzero"`
	// KeptUntil is when the snapshots that its deletions took are deleted; zero without any.
	KeptUntil time.Time `json:"keptUntil,omitzero"`
	Version   int64     `json:"version"` // each write requires the version that was read
}

// Person is a user who decided something.
type Person struct {
	User  string    `json:"user"` // usr_…
	Email string    `json:"email"`
	At    time.Time `json:"at"`
}

// Rollback is a person's request to restore the values that the resources had before the workflow.
type Rollback struct {
	Person
	Ended bool   `json:"ended,omitempty"`
	Error string `json:"error,omitempty"` // why some of it could not be given back
}

// Event is a change of the status of a workflow.
type Event struct {
	At   time.Time `json:"at"`
	From Status    `json:"from,omitempty"` // empty for the first one
	To   Status    `json:"to"`
	By   string    `json:"by"` // the address of a person, "executor" or "recommender"
	Why  string    `json:"why,omitempty"`
}

// Target is one recommendation of a workflow, with the planned change of its resource and its progress.
type Target struct {
	RecID          string            `json:"recID"`
	RuleID         string            `json:"ruleID"`
	RuleVersion    int               `json:"ruleVersion"`
	Title          string            `json:"title"`
	Risk           string            `json:"risk"`
	SavingUSD      money.Amount      `json:"savingUSD"` // net, a month
	ResourceID     string            `json:"resourceID"`
	ResourceUID    string            `json:"resourceUID"`
	ResourceName   string            `json:"resourceName"`
	ResourceType   string            `json:"resourceType"`
	Provider       string            `json:"provider"`
	CloudAccountID string            `json:"cloudAccountID"`
	Region         string            `json:"region"`
	Verb           rule.Verb         `json:"verb"`
	Parameters     map[string]string `json:"parameters,omitempty"` // of the request
	// NonProduction says that the rule was decided on an environment that is not production.
	NonProduction bool `json:"nonProduction,omitempty"`
	Plan          Plan `json:"plan"`

	State    TargetState `json:"state"`
	ActionID string      `json:"actionID,omitempty"` // the action that stops it
	UndoID   string      `json:"undoID,omitempty"`   // the action that starts it again
	Changed  bool        `json:"changed,omitempty"`  // the call was made, or may have been
	CalledAt time.Time   `json:"calledAt,omitzero"`  // of its present step
	// Step is the number of the present step of a change that takes several calls: 0 is the first. MarkedAt is when
	// the first of several was seen done. DueAt is when the next one begins, while the target is Marked.
	Step     int       `json:"step,omitempty"`
	MarkedAt time.Time `json:"markedAt,omitzero"`
	DueAt    time.Time `json:"dueAt,omitzero"`
	// CopyUID is the snapshot that its deletion took, until that is deleted.
	CopyUID string `json:"copyUID,omitempty"`
	// ReachedAt is when the wanted state was seen first. Validation watches the resource from then on.
	ReachedAt time.Time `json:"reachedAt,omitzero"`
	UndoneAt  time.Time `json:"undoneAt,omitzero"` // when the call that undoes it was made
	Message   string    `json:"message,omitempty"` // why it is in its state
}

// TargetState is the progress of one target.
type TargetState string

// The states of a target. A target is captured and its call is marked before the call is made (calling).
const (
	Waiting   TargetState = "pending"
	Calling   TargetState = "calling"
	Marked    TargetState = "marked" // between two steps: it waits for the next one
	Watching  TargetState = "watching"
	Done      TargetState = "succeeded"
	Broken    TargetState = "failed"
	Undoing   TargetState = "rolling_back"
	Undone    TargetState = "rolled_back"
	LeftAlone TargetState = "skipped"
)

// IsFinal reports whether nothing is under way for a target in this state.
func (s TargetState) IsFinal() bool {
	return s == Done || s == Broken || s == Undone || s == LeftAlone
}

// HasBegun reports whether a call was made for a target, or may have been.
func (w *Workflow) HasBegun() bool {
	for i := range w.Targets {
		if w.Targets[i].Changed || w.Targets[i].State == Calling {
			return true
		}
	}
	return false
}

// Count returns how many targets are in one of the states.
func (w *Workflow) Count(states ...TargetState) int {
	n := 0
	for i := range w.Targets {
		for _, s := range states {
			if w.Targets[i].State == s {
				n++
			}
		}
	}
	return n
}

// SavingUSD returns the sum of the targets' savings, net a month.
func (w *Workflow) SavingUSD() money.Amount {
	var out money.Amount
	for i := range w.Targets {
		out = out.Add(w.Targets[i].SavingUSD)
	}
	return out
}

// StatusAt returns the status at a time: a proposal that nobody decided in time is expired, though the work that
// records it may be late.
func (w *Workflow) StatusAt(at time.Time) Status {
	if w.Status == AwaitingApproval && !at.Before(w.ExpiresAt) {
		return Expired
	}
	return w.Status
}

// RollbackUntil returns until when a person may roll the workflow back, or zero if there is nothing to roll back.
func (w *Workflow) RollbackUntil() time.Time {
	if w.Status != Succeeded && w.Status != Failed || !w.HasBegun() {
		return time.Time{}
	}
	return w.EndedAt.Add(RollbackTime)
}
