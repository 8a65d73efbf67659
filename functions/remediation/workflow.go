package remediation

import (
	"time"

	"lamplighter.dev/shared/api/rest"
	domain "lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
)

// WorkflowDetail is a workflow with the plans and the progress of its resources.
type WorkflowDetail struct {
	ID                string             `json:"id" example:"rem_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Status            domain.Status      `json:"status" enum:"pending,awaiting_approval,running,succeeded,failed,cancelled,expired,rolled_back"`
	Message           *string            `json:"message" doc:"Why it is in its status"`
	Reason            *string            `json:"reason" doc:"Of the request"`
	RecommendationIDs []string           `json:"recommendationIDs"`
	Digest            string             `json:"digest" doc:"Of the plans of all resources: what is approved. It differs if anything would be done differently"`
	SavingsUSD        string             `json:"savingsUSD" doc:"Expected, net a month" example:"41.25"`
	NeedsExecute      bool               `json:"needsExecute" doc:"It is a proposal: its approver needs remediation:execute"`
	Steps             []WorkflowStep     `json:"steps" doc:"precondition, approval, action, validation"`
	Targets           []WorkflowTarget   `json:"targets" doc:"The first one is changed and validated before the others begin"`
	History           []WorkflowEvent    `json:"history" doc:"Oldest first"`
	RequestedBy       string             `json:"requestedBy" doc:"The address of a person, or recommender for a workflow that the service requested"`
	DecidedBy         *string            `json:"decidedBy" doc:"Who approved or rejected it"`
	DecidedAt         *time.Time         `json:"decidedAt"`
	Rollback          *WorkflowRollback  `json:"rollback" doc:"The last request to roll back"`
	Rehearsal         *WorkflowRehearsal `json:"rehearsal" doc:"The last one; null if it was never rehearsed"`
	RollbackUntil     *time.Time         `json:"rollbackUntil" doc:"Until when it can be rolled back; null if it cannot"`
	ExpiresAt         time.Time          `json:"expiresAt" doc:"Of the approval"`
	CreatedAt         time.Time          `json:"createdAt"`
	UpdatedAt         time.Time          `json:"updatedAt"`
	EndedAt           *time.Time         `json:"endedAt"`
}

// WorkflowStep is a step of a workflow.
type WorkflowStep struct {
	Name    string            `json:"name" enum:"precondition,approval,action,validation"`
	Status  domain.StepStatus `json:"status" enum:"pending,running,succeeded,failed,skipped"`
	Message *string           `json:"message"`
	At      *time.Time        `json:"at" doc:"Of its last change"`
}

// WorkflowTarget is a recommendation of a workflow, with the change of its resource.
type WorkflowTarget struct {
	RecommendationID string             `json:"recommendationID"`
	RuleID           string             `json:"ruleID"`
	Title            string             `json:"title"`
	ResourceID       string             `json:"resourceID"`
	ResourceUID      string             `json:"resourceUid"`
	ResourceName     string             `json:"resourceName"`
	ResourceType     string             `json:"resourceType"`
	CloudAccountID   string             `json:"cloudAccountID"`
	Region           string             `json:"region"`
	Verb             rule.Verb          `json:"verb" enum:"schedule,stop,scale,change-storage,release,delete,resize,set-lifecycle,guard,setting"`
	Parameters       map[string]string  `json:"parameters" nullable:"false"`
	Risk             string             `json:"risk" enum:"low,medium,high"`
	SavingsUSD       string             `json:"savingsUSD"`
	Plan             WorkflowPlan       `json:"plan"`
	Status           domain.TargetState `json:"status" enum:"pending,calling,marked,watching,succeeded,failed,rolling_back,rolled_back,skipped"`
	Message          *string            `json:"message"`
	ActionID         *string            `json:"actionID" doc:"The action that stops it"`
	UndoActionID     *string            `json:"undoActionID" doc:"The action that starts it again"`
}

// WorkflowPlan is the change of one resource.
type WorkflowPlan struct {
	Calls        []string          `json:"calls" nullable:"false" doc:"In words, in their order"`
	Before       map[string]string `json:"before" nullable:"false" doc:"The values that change, as they are now"`
	After        map[string]string `json:"after" nullable:"false"`
	Undo         string            `json:"undo" doc:"How it is given back"`
	UndoLimits   []string          `json:"undoLimits" nullable:"false" doc:"What is not given back"`
	WatchSeconds int               `json:"watchSeconds" doc:"How long the resource is watched after the change"`
	Digest       string            `json:"digest"`
	Patch        *domain.CodePatch `json:"patch" doc:"In a dry run, of a resource that is made from code: the change to make there, instead of a change of the resource. Else null"`
}

// WorkflowEvent is a change of the status of a workflow.
type WorkflowEvent struct {
	At   time.Time      `json:"at"`
	From *domain.Status `json:"from" doc:"null of the first one"`
	To   domain.Status  `json:"to"`
	By   string         `json:"by" doc:"The address of a person, executor, or recommender for a workflow that the service requested"`
	Why  *string        `json:"why"`
}

// WorkflowRollback is a request to roll a workflow back.
type WorkflowRollback struct {
	By    string    `json:"by"`
	At    time.Time `json:"at"`
	Ended bool      `json:"ended"`
	Error *string   `json:"error" doc:"What could not be given back, and why"`
}

// newWorkflow returns a workflow as callers see it at a time.
func newWorkflow(w *domain.Workflow, now time.Time) WorkflowDetail {
	out := WorkflowDetail{
		ID: w.ID, Status: w.StatusAt(now), Message: rest.Optional(w.Message), Reason: rest.Optional(w.Reason),
		RecommendationIDs: make([]string, len(w.Targets)), Digest: w.Digest, SavingsUSD: w.SavingUSD().Fixed(2),
		NeedsExecute: w.Proposal, RequestedBy: w.Requester.Email, DecidedBy: rest.Optional(w.Approver.Email),
		DecidedAt: rest.Optional(w.Approver.At), RollbackUntil: rest.Optional(w.RollbackUntil()),
		ExpiresAt: w.ExpiresAt, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt, EndedAt: rest.Optional(w.EndedAt),
		Targets: newTargets(w.Targets),
	}
	for i := range w.Targets {
		out.RecommendationIDs[i] = w.Targets[i].RecID
	}
	for _, step := range w.Steps.Named() {
		out.Steps = append(out.Steps,
			WorkflowStep{step.Name, step.Status, rest.Optional(step.Message), rest.Optional(step.At)})
	}
	for _, e := range w.History {
		out.History = append(out.History,
			WorkflowEvent{e.At, rest.Optional(e.From), e.To, e.By, rest.Optional(e.Why)})
	}
	if r := w.Rollback; r != nil {
		out.Rollback = &WorkflowRollback{r.Email, r.At, r.Ended, rest.Optional(r.Error)}
	}
	if w.Rehearsal != nil {
		r := newRehearsal(w.Rehearsal)
		out.Rehearsal = &r
	}
	return out
}

func newTargets(targets []domain.Target) []WorkflowTarget {
	out := make([]WorkflowTarget, len(targets))
	for i := range targets {
		t := &targets[i]
		out[i] = WorkflowTarget{
			RecommendationID: t.RecID, RuleID: t.RuleID, Title: t.Title, ResourceID: t.ResourceID,
			ResourceUID: t.ResourceUID, ResourceName: t.ResourceName, ResourceType: t.ResourceType,
			CloudAccountID: t.CloudAccountID, Region: t.Region, Verb: t.Verb, Parameters: rest.NonNilMap(t.Parameters),
			Risk: t.Risk, SavingsUSD: t.SavingUSD.Fixed(2), Plan: newPlan(&t.Plan), Status: t.State,
			Message: rest.Optional(t.Message), ActionID: rest.Optional(t.ActionID),
			UndoActionID: rest.Optional(t.UndoID),
		}
	}
	return out
}

func newPlan(p *domain.Plan) WorkflowPlan {
	return WorkflowPlan{
		Calls: append([]string{}, p.Calls...), Before: rest.NonNilMap(p.Before), After: rest.NonNilMap(p.After),
		Undo:       p.Undo,
		UndoLimits: append([]string{}, p.Limits...), WatchSeconds: int(p.Watch / time.Second), Digest: p.Digest,
	}
}
