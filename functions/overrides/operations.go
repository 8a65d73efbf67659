// Package overrides is the operation group Overrides: holding resources on or off against their schedules until a time, and links by
// which somebody without an account wakes a group or a resource until its next stop.
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

const holds = "It is applied at once and beats schedules until expiresAt, at most 90 days away; then, or when it is " +
	"deleted, the resources are brought " +
	"where another override holds them, else where their schedules want them at that moment; what no schedule wants " +
	"anything of stays as it is. " +
	"Of two overrides on one resource the newest holds it, and after its end the older one again. Until its end an " +
	"override refuses the opposite by hand: " +
	"409 naming it. Of a group it holds the resources that are in it at any moment and on which its maker may act " +
	"then (overrides:write): it holds nothing that joins the group outside " +
	"the maker's scope, and nothing at all after the maker has left the organization or lost the policy; its end " +
	"restores what lay in the maker's scope. Those that can never be acted on are left out, and where that is all, " +
	"the answer is 403 " +
	"for accounts that are read_only, 409 for accounts that are disconnected or excluded, else 400. A force_off of a " +
	"target of an active event readiness plan is 409 and names the plan, " +
	"unless force is sent; then the plan gives back its capacity and lets the target go. A grant on teams or " +
	"resources suffices when it covers every resource. At most 500 overrides of an organization live at a time: 409."

func (s *service) overrideOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listOverrides", Method: http.MethodGet, Path: overrides, Policy: reading, Scoped: true, Statuses: listing,
		Summary: "List overrides",
		Description: "Newest first, with those that have ended in the last 90 days; of the newest 10,000. A grant on " +
			"teams or resources shows those on what lies in it, and the caller's own.",
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "createOverride", Method: http.MethodPost, Path: overrides, Policy: writing, Scoped: true, Statuses: acting,
		Summary: "Hold a resource or a group on or off", Description: "One of resourceUID and groupID. " + holds,
	}, s.create)
	rest.Handle(g, rest.Op{
		ID: "getOverride", Method: http.MethodGet, Path: overrides + "/{overrideID}", Policy: reading, Scoped: true,
		Statuses: found, Summary: "Get an override",
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "deleteOverride", Method: http.MethodDelete, Path: overrides + "/{overrideID}", Policy: writing,
		Scoped: true, Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary: "End an override",
		Description: "At once, with the same restoring as at its end; the record stays. One that has ended is 409. " +
			"Its maker can end it, also when its group has grown beyond their scope.",
	}, s.end)
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
