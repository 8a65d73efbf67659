// Package overrides is the operation group Overrides. An override holds resources on or off until a time, against
// their schedules. A wake link lets a person without an account start a group or a resource until its next stop.
package overrides

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/inventory"
)

const (
	reading   = "overrides:read"
	writing   = "overrides:write"
	viewing   = "resources:read"
	executing = "actions:execute"
	grouping  = "resource-groups:read"

	overrides = "/overrides"
	ofGroup   = "/resource-groups/{groupID}/overrides"
	links     = "/wake-links"
	wakePage  = "/wake/{token}"
)

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Overrides")
	s := &service{p, inventory.New(p), evaluation.New(p)}
	s.overrideOperations(g)
	s.linkOperations(g)
	s.wakeOperations(g)
	return g
}

type service struct {
	p          *platform.Platform
	inventory  *inventory.Store
	evaluation *evaluation.Store
}

var (
	listing = []int{http.StatusBadRequest}
	found   = []int{http.StatusNotFound}
	acting  = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
)

const holds = "It applies at once and overrides schedules until expiresAt, at most 90 days ahead. At its end, or " +
	"when it is deleted, each resource gets the state of another override that holds it, or else the state that " +
	"its schedules want at that moment; without either it stays as it is. The newest of two overrides on a " +
	"resource holds it, and after its end the older one again. Until its end an override refuses the opposite " +
	"action by hand: 409 naming the override. An override on a group holds the resources that are in the group at " +
	"any moment and on which its creator may act at that moment (overrides:write). It does not hold resources " +
	"outside the creator's scope, and holds nothing after the creator has left the organization or lost the " +
	"policy; its end restores the resources in the creator's scope. Resources that cannot be acted on are skipped. " +
	"If that leaves none, the answer is 403 for read_only accounts, 409 for disconnected or excluded ones, else " +
	"400. A force_off of a target of an active event readiness plan is 409 naming the plan, unless force is sent; " +
	"then the plan gives back its capacity and releases the target. A grant on teams or resources suffices if it " +
	"covers every resource. An organization has at most 500 active overrides: else 409."

func (s *service) overrideOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listOverrides", Method: http.MethodGet, Path: overrides, Policy: reading, Scoped: true, Statuses: listing,
		Summary: "List overrides",
		Description: "Newest first, with those that have ended in the last 90 days; at most the newest 10,000. A " +
			"caller with a grant on teams or resources sees the overrides on resources in it, and their own.",
	}, s.listOverrides)
	rest.Handle(g, rest.Op{
		ID: "createOverride", Method: http.MethodPost, Path: overrides, Policy: writing, Scoped: true, Statuses: acting,
		Summary: "Hold a resource or a group on or off", Description: "One of resourceUID and groupID. " + holds,
	}, s.createOverride)
	rest.Handle(g, rest.Op{
		ID: "getOverride", Method: http.MethodGet, Path: overrides + "/{overrideID}", Policy: reading, Scoped: true,
		Statuses: found, Summary: "Get an override",
	}, s.getOverride)
	rest.Handle(g, rest.Op{
		ID: "deleteOverride", Method: http.MethodDelete, Path: overrides + "/{overrideID}", Policy: writing,
		Scoped: true, Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary: "End an override",
		Description: "At once, with the same restoring as at its end; the record stays. One that has ended is 409. " +
			"Its maker can end it, also when its group has grown beyond their scope.",
	}, s.endOverride)
	rest.Handle(g, rest.Op{
		ID: "listGroupOverrides", Method: http.MethodGet, Path: ofGroup, Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "List the overrides of a resource group", Description: "Those on the group itself, newest first.",
	}, s.listOfGroup)
	rest.Handle(g, rest.Op{
		ID: "createGroupOverride", Method: http.MethodPost, Path: ofGroup, Policy: writing, Scoped: true,
		Statuses: acting,
		Summary:  "Hold a resource group on or off", Description: holds,
	}, s.createOfGroup)
}
