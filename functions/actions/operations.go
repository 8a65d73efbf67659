// Package actions is the operation group Actions & Execution: it starts and stops resources and groups, and lists the
// results.
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
	Force          bool       `json:"force,omitempty" doc:"Act despite an override or active event readiness plan; it is audited"`
}

// Submitted is the answer to POST /actions.
type Submitted struct {
	ActionID string           `json:"actionID"`
	Status   execution.Status `json:"status" enum:"queued" doc:"Always queued, even if this request joined an action in flight; see GET /actions/{actionID}"`
}

// execute are the documented error statuses of operations that act.
var (
	execute = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	read    = []int{http.StatusNotFound}
	lists   = []int{http.StatusBadRequest}
)

func (s *service) submitOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "submitAction", Method: http.MethodPost, Path: "/actions", Policy: acting, Scoped: true, Statuses: execute,
		Summary: "Start or stop a resource",
		Description: "Queues one start or stop. Both are idempotent: starting a running resource and stopping a " +
			"stopped one succeed. If an action of the same type is in flight on the resource, the answer is that " +
			"action; if the opposite is, the answer is 409. Every field must agree with the inventory. A resource " +
			"in a read_only account is 403, as is a resource that the caller sees without actions:execute on it. A " +
			"resource in a disconnected or excluded account is 409 with the reason. Without force, a stop of a " +
			"target of an active event readiness plan is 409 naming the plan, and so is an action against an " +
			"override that holds the other state. A forced stop of such a target first gives back the capacity " +
			"that the plan has raised, and the plan releases the target.",
	}, s.submitAction)
	rest.Handle(g, rest.Op{
		ID: "cancelAction", Method: http.MethodPost, Path: "/actions/{actionID}/cancel", Policy: acting, Scoped: true,
		Statuses: execute,
		Summary:  "Cancel an action that has not begun",
		Description: "A pending action, or one that waits for capacity at its provider, can be cancelled; it ends as " +
			"failed. Another running action, or one that has ended, is 409.",
	}, s.cancelAction)
}

func (s *service) submitAction(ctx context.Context, in *struct{ Body ManualAction }) (Submitted, error) {
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
