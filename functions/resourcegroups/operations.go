// Package resourcegroups is the operation group Resource Groups: sets of resources that are started and stopped
// together, tier by tier. A group lists its resources or selects them by their attributes.
package resourcegroups

import (
	"context"
	"net/http"
	"slices"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
)

const (
	groups  = "/resource-groups"
	group   = groups + "/{groupID}"
	member  = group + "/resources/{resourceID}"
	reading = "resource-groups:read"
	writing = "resource-groups:write"
)

// joins describes the permission needed to add resources to a group that is attached to schedules.
const joins = "A group that is attached to a schedule starts and stops its new members, too: adding one needs " +
	"actions:execute on it, else 403."

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Resource Groups")
	s := &service{p, inventory.New(p)}
	s.groupOperations(g)
	s.memberOperations(g)
	return g
}

type service struct {
	p         *platform.Platform
	inventory *inventory.Store
}

func (s *service) groupOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listResourceGroups", Method: http.MethodGet, Path: groups, Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest},
		Summary:  "List resource groups",
		Description: "Without members; read one group to get them, or GET /resources with group_id. A " +
			"caller with a grant on teams or resources sees the groups with members in it, and their count.",
	}, s.listGroups)
	rest.Handle(g, rest.Op{
		ID: "createResourceGroup", Method: http.MethodPost, Path: groups, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Create a resource group",
		Description: "A group is static with members, or dynamic with a selector. With neither it is static and " +
			"empty; both are refused. At most 500 groups an organization. Names are unique, ignoring case.",
	}, s.createGroup)
	rest.Handle(g, rest.Op{
		ID: "getResourceGroup", Method: http.MethodGet, Path: group, Policy: reading, Scoped: true,
		Statuses: []int{http.StatusNotFound},
		Summary:  "Read a resource group",
		Description: "Members are sorted by tier, order and id. The members of a dynamic group are those that its " +
			"selector finds now, all at tier 1, order 1. A caller with a grant on teams or resources sees the " +
			"members in it; a group without such members is 404.",
	}, s.getGroup)
	rest.Handle(g, rest.Op{
		ID: "updateResourceGroup", Method: http.MethodPut, Path: group, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Change a resource group",
		Description: "Changes only the fields present. members replaces all members. selector makes the group " +
			"dynamic and removes its members; selector null makes it static. " + joins,
	}, s.updateGroup)
	rest.Handle(g, rest.Op{
		ID: "deleteResourceGroup", Method: http.MethodDelete, Path: group, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Delete a resource group",
		Description: "The resources stay. While the group is in use the answer is 409 and lists the uses by id and " +
			"name: running bulk actions, schedules that it is attached to, overrides and wake links on it, and " +
			"budgets, subscriptions, webhooks and integrations for it.",
	}, s.deleteGroup)
}

func (s *service) memberOperations(g *rest.Group) {
	statuses := []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	rest.Handle(g, rest.Op{
		ID: "addGroupResource", Method: http.MethodPost, Path: member, Policy: writing, Statuses: statuses,
		Summary: "Add a resource to a group",
		Description: "At the body's tier (default: 1) and order (default: the last of the tier). An existing " +
			"member is moved there. " + joins,
	}, s.addMember)
	rest.Handle(g, rest.Op{
		ID: "removeGroupResource", Method: http.MethodDelete, Path: member, Policy: writing, Statuses: statuses,
		Summary: "Take a resource out of a group",
	}, s.removeMember)
	rest.Handle(g, rest.Op{
		ID: "sequenceGroup", Method: http.MethodPatch, Path: group + "/sequence", Policy: writing, Statuses: statuses,
		Summary:     "Change the sequence of a group",
		Description: "Moves the named members to their new tier and order. The other members stay at their places.",
	}, s.sequenceMembers)
}

// GroupInput names the group of a request. It is exported because the framework ignores unexported embedded structs.
type GroupInput struct {
	GroupID string `path:"groupID" maxLength:"64"`
}

type listInput struct {
	rest.Page
	rest.Sort[inventory.Group, orders]
	Search string `query:"search" maxLength:"128" doc:"Part of name or description, ignoring case"`
}

// orders are the sort orders of groups. Groups with equal keys are sorted by ID.
type orders struct{}

var _ rest.Orders[inventory.Group] = orders{}

func (orders) Orders() []rest.Order[inventory.Group] {
	return []rest.Order[inventory.Group]{
		rest.OrderByText("name", func(g inventory.Group) string { return g.Name }),
		rest.OrderByTime("createdAt", func(g inventory.Group) time.Time { return g.CreatedAt }),
	}
}

func (s *service) listGroups(ctx context.Context, in *listInput) (rest.List[Group], error) {
	all, err := s.visibleGroups(ctx)
	if err != nil {
		return rest.List[Group]{}, err
	}
	all = slices.DeleteFunc(all, func(g inventory.Group) bool {
		return !rest.Matches(in.Search, g.Name, g.Description)
	})
	in.Apply(all)
	page := rest.MapItems(rest.PageOf(all, in.Page), newBriefGroup)
	shown := make([]*Group, len(page.Items))
	for i := range page.Items {
		shown[i] = &page.Items[i]
	}
	return page, s.addStates(ctx, shown)
}
