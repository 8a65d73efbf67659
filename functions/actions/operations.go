// Package actions is the operation group Actions & Execution: it starts and stops resources and groups of them, and tells
// what became of it.
package actions

import (
	"context"
	"net/http"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
)

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Actions & Execution")
	s := &service{p: p, inventory: inventory.New(p)}
	s.submitOperations(g)
	s.actionOperations(g)
	s.bulkOperations(g)
	s.historyOperations(g)
	return g
}

type service struct {
	p         *platform.Platform
	inventory *inventory.Store
}

// ManualAction is the body of POST /actions.
type ManualAction struct {
	Type           cloud.Verb `json:"type" enum:"start,stop"`
	ResourceUID    string     `json:"resourceUID" minLength:"1" maxLength:"1024" doc:"Native provider identifier"`
	Provider       string     `json:"provider" minLength:"1" maxLength:"32" doc:"Cloud provider identifier, lowercase" example:"aws"`
	ResourceType   string     `json:"resourceType" minLength:"1" maxLength:"64" doc:"Resource kind identifier, lowercase, provider-prefixed" example:"aws-ec2"`
	CloudAccountID string     `json:"cloudAccountID" minLength:"1" maxLength:"128" doc:"Our id of the cloud account, or its native number"`
	Region         string     `json:"region" minLength:"1" maxLength:"64"`
	Force          bool       `json:"force,omitempty" doc:"Act also against an override or an active event readiness plan; it is put on record"`
}

// Submitted is the answer to POST /actions.
type Submitted struct {
	ActionID string           `json:"actionID"`
	Status   execution.Status `json:"status" enum:"queued" doc:"Always queued, also of an action in flight that this one joined: GET /actions/{actionID} says how far it is"`
}

// execute are the failures that operations which act document.
var (
	execute = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	read    = []int{http.StatusNotFound}
	lists   = []int{http.StatusBadRequest}
)

func (s *service) submitOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "submitAction", Method: http.MethodPost, Path: "/actions", Policy: acting, Scoped: true, Statuses: execute,
		Summary: "Start or stop a resource",
		Description: "Queues one start or stop. Both are idempotent: starting what runs and stopping what is stopped " +
			"succeeds. " +
			"While an action of the same type is in flight on the resource, that one is the answer; while the " +
			"opposite is, the answer is 409. " +
			"Every field must agree with the inventory; an account that is read_only is never acted on (403), and " +
			"neither is a resource " +
			"that the caller sees without holding actions:execute there; an account that is disconnected or excluded " +
			"is 409 with the reason. " +
			"A stop of a target of an active event readiness plan is 409 and names the plan, and so is what an " +
			"override holds in the other state; with force it is done. " +
			"A forced stop of such a target first gives back the capacity that the plan has raised, and the plan " +
			"lets the target go.",
	}, s.submit)
	rest.Handle(g, rest.Op{
		ID: "cancelAction", Method: http.MethodPost, Path: "/actions/{actionID}/cancel", Policy: acting, Scoped: true,
		Statuses: execute,
		Summary:  "Cancel an action that has not begun",
		Description: "Only a pending action can be cancelled, or one that waits for capacity at its provider; it " +
			"ends as failed. Another one that runs, " +
			"or has ended, is 409.",
	}, s.cancelAction)
}

func (s *service) submit(ctx context.Context, in *struct{ Body ManualAction }) (Submitted, error) {
	c := identity.CallerFrom(ctx)
	audit.NoteChange(ctx, audit.Change{Target: in.Body.ResourceUID})
	reach, err := s.resourceSets(ctx, acting, viewing)
	if err != nil {
		return Submitted{}, err
	}
	if err = checkMayAct(reach[0], reach[1], in.Body.ResourceUID,
		execution.ErrUnknownResource(in.Body.ResourceUID)); err != nil {
		return Submitted{}, err
	}
	a, err := execution.SubmitAction(ctx, s.p, c.Org, execution.Request{
		Verb: in.Body.Type, ResourceUID: in.Body.ResourceUID, Provider: in.Body.Provider,
		ResourceType: in.Body.ResourceType, CloudAccountID: in.Body.CloudAccountID, Region: in.Body.Region,
		Reason: "manual", ChangedBy: execution.ChangedBy("manual", c.Email), Force: in.Body.Force,
	})
	if err != nil {
		return Submitted{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: a.WithoutInternals()})
	return Submitted{ActionID: a.ID, Status: execution.Queued}, nil
}
