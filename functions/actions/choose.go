package actions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// BulkFilter holds the filters of GET /resources under the same names; several values of one are separated by commas.
// An absent filter selects everything.
type BulkFilter struct {
	Search         string     `json:"search,omitempty" maxLength:"256" doc:"Part of name, uid or tags (key=value), ignoring case"`
	Type           string     `json:"type,omitempty" maxLength:"64" example:"aws-ec2"`
	Provider       string     `json:"provider,omitempty" maxLength:"32" example:"aws"`
	Status         string     `json:"status,omitempty" maxLength:"256" doc:"running, stopped, starting, stopping, pending, terminated or unknown"`
	Region         string     `json:"region,omitempty" maxLength:"64"`
	CloudAccountID string     `json:"cloud_account_id,omitempty" maxLength:"64" doc:"Our id of the cloud account"`
	GroupID        string     `json:"group_id,omitempty" maxLength:"64" doc:"Members of the resource group, unordered"`
	TeamID         string     `json:"team_id,omitempty" maxLength:"64" doc:"Owned by the team"`
	Tag            rest.Texts `json:"tag,omitempty" doc:"key=value, or key for any value: one, or a list of at most 20 that must all match"`
	Schedulable    *bool      `json:"schedulable,omitempty" doc:"Whether it can be started and stopped"`

	CreatedAfter  rest.Time `json:"created_after,omitzero" doc:"Made at this time or later, as the provider says"`
	CreatedBefore rest.Time `json:"created_before,omitzero" doc:"Made before this time"`
}

// isEmpty reports whether the filter has no condition.
func (f *BulkFilter) isEmpty() bool {
	return f.Search == "" && f.Type == "" && f.Provider == "" && f.Status == "" && f.Region == "" &&
		f.CloudAccountID == "" &&
		f.GroupID == "" && f.TeamID == "" && len(f.Tag) == 0 && f.Schedulable == nil &&
		f.CreatedAfter.IsZero() && f.CreatedBefore.IsZero()
}

func (f *BulkFilter) toFilter(sight inventory.Visibility) inventory.Filter {
	return inventory.Filter{
		Search: f.Search, Types: splitValues(f.Type), Providers: splitValues(f.Provider),
		Statuses: splitValues(f.Status),
		Regions:  splitValues(f.Region), Accounts: splitValues(f.CloudAccountID), GroupID: f.GroupID, TeamID: f.TeamID,
		Tags: f.Tag, Schedulable: f.Schedulable,
		CreatedAfter: f.CreatedAfter.Time, CreatedBefore: f.CreatedBefore.Time, Sight: sight,
	}
}

// resourceStatuses are the statuses that GET /resources filters by.
var resourceStatuses = []string{"running", "stopped", "starting", "stopping", "pending", "terminated", "unknown"}

// checkValues refuses an unknown status, and a time window that ends before it begins.
func (f *BulkFilter) checkValues() error {
	if after, before := f.CreatedAfter.Time, f.CreatedBefore.Time; !after.IsZero() && !before.IsZero() &&
		after.After(before) {
		return fault.New(fault.Invalid, "filter.created_after: %s is after created_before, %s",
			after.Format(time.RFC3339), before.Format(time.RFC3339))
	}
	for _, status := range splitValues(f.Status) {
		if !slices.Contains(resourceStatuses, status) {
			return fault.New(fault.Invalid, "filter.status: %.64q is not one of %s", status,
				strings.Join(resourceStatuses, ", "))
		}
	}
	return nil
}

// splitValues returns the values of a filter, or nil if it is absent.
func splitValues(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// choice is the set of resources that a bulk action acts on, and the requested resources that it skips.
type choice struct {
	group   inventory.Group // the zero one when resources were named, or found by a filter
	members []inventory.Member
	left    []execution.LeftOut
	scopes  *grant.Scopes // where the caller may act; nil is everywhere
}

// resourceIDs returns the IDs of the resources to act on.
func (c choice) resourceIDs() []string {
	out := make([]string, len(c.members))
	for i, m := range c.members {
		out[i] = m.ResourceID
	}
	return out
}

// chooseResources finds the resources of a bulk action. A dry run uses the same choice.
func (s *service) chooseResources(ctx context.Context, in BulkAction) (choice, error) {
	named := 0
	for _, there := range []bool{in.GroupID != "", len(in.ResourceIDs) > 0, in.Filter != nil} {
		if there {
			named++
		}
	}
	if named != 1 {
		return choice{}, fault.New(fault.Invalid, "groupID, resourceIDs, filter: send one of them, and not %d", named)
	}
	var chosen choice
	var err error
	switch {
	case in.GroupID != "":
		chosen, err = s.chooseGroup(ctx, in.GroupID)
	case in.Filter != nil:
		chosen, err = s.chooseFiltered(ctx, in.Filter)
	default:
		chosen, err = s.chooseNamed(ctx, in.ResourceIDs)
	}
	if err != nil {
		return chosen, err
	}
	return s.withoutHeld(ctx, in, chosen)
}

// withoutHeld skips resources that an override or an active event readiness plan holds against the bulk action, and
// resources in disconnected accounts. The error is fault.Conflict if no other resource is left.
func (s *service) withoutHeld(ctx context.Context, in BulkAction, chosen choice) (choice, error) {
	kept, held, err := execution.FilterUnheld(ctx, s.p.Table, s.inventory, execution.Asked{
		Org: identity.CallerOrg(ctx), Verb: in.Type, Members: chosen.members, At: s.p.Clock.Now(), Force: in.Force,
		Accounts: true,
	})
	if err == nil && len(kept) == 0 {
		why := cmp.Or(held[0].Detail, held[0].Reason)
		err = fault.New(fault.Conflict,
			"nothing can be asked to %s: of resource %s, %s; end that first, or send force against an override "+
				"or an event", in.Type, held[0].UID, why)
	}
	chosen.members, chosen.left = kept, append(chosen.left, held...)
	return chosen, err
}

// mayAct returns the scopes of the caller's right to act, or nil for the entire organization.
func mayAct(ctx context.Context) *grant.Scopes {
	if may := identity.CallerFrom(ctx).Scopes(acting); !may.All {
		return &may
	}
	return nil
}

// chooseGroup reads a group and its members. It refuses an empty group, and one with a member on which the caller may
// not act. A group that the caller may not see is reported as missing.
func (s *service) chooseGroup(ctx context.Context, groupID string) (choice, error) {
	org, out := identity.CallerOrg(ctx), choice{scopes: mayAct(ctx)}
	if !id.IsValid("grp", groupID) {
		return out, noGroup(groupID)
	}
	if out.scopes != nil {
		if err := s.seesGroup(ctx, groupID); err != nil {
			return out, err
		}
	}
	var err error
	out.group, out.members, out.left, err = execution.ExpandGroup(ctx, s.inventory, org, groupID)
	switch {
	case fault.Is(err, fault.NotFound):
		return out, noGroup(groupID)
	case err != nil:
		return out, err
	case len(out.members) == 0:
		return out, fault.New(fault.Invalid, "resource group %s (%s) has no resources that can be acted on: add "+
			"some first", groupID, out.group.Name)
	}
	return out, s.checkCover(ctx, org, out.members, out.scopes)
}

// seesGroup refuses a group without a resource that the caller may see.
func (s *service) seesGroup(ctx context.Context, groupID string) error {
	c := identity.CallerFrom(ctx)
	sees := c.Scopes(grouping)
	if sees.All {
		return nil
	}
	parts, err := s.inventory.GroupsInScope(ctx, c.Org, sees, groupID)
	if err == nil && len(parts) == 0 {
		err = noGroup(groupID)
	}
	return err
}

func noGroup(groupID string) error { return fault.New(fault.NotFound, "no resource group %q", groupID) }

// checkCover refuses members that do not all lie in scopes.
func (s *service) checkCover(ctx context.Context, org string, members []inventory.Member, scopes *grant.Scopes) error {
	if scopes == nil {
		return nil
	}
	may, err := s.inventory.ResourceSets(ctx, org, *scopes)
	if err != nil {
		return err
	}
	for _, m := range members {
		if !may[0].HasUID(m.UID) {
			return fault.New(fault.Denied, "permission denied: %s is needed on every resource of the group", acting)
		}
	}
	return nil
}

// chooseNamed finds resources by ID. If the caller may not see one of them, it is reported as missing and none is
// acted on.
func (s *service) chooseNamed(ctx context.Context, ids []string) (choice, error) {
	out := choice{scopes: mayAct(ctx)}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	found, err := s.inventory.ByIDs(ctx, identity.CallerOrg(ctx), ids, inventory.SeeEverything())
	if err != nil {
		return out, err
	}
	if err = s.checkAllowed(ctx, ids, found); err != nil {
		return out, err
	}
	out.members, out.left = execution.Resources(found)
	if len(out.members) == 0 {
		return out, fault.New(
			fault.Invalid, "resourceIDs: all %d resources are terminated: there is nothing to act on", len(ids))
	}
	return out, nil
}

// checkAllowed refuses IDs of resources that do not exist or that the caller may not see, and then IDs of resources
// on which the caller may not act.
func (s *service) checkAllowed(ctx context.Context, ids []string, found []inventory.Listed) error {
	reach, err := s.resourceSets(ctx, acting, viewing)
	if err != nil {
		return err
	}
	may, sees := reach[0], reach[1]
	known, denied := make(map[string]bool, len(found)), []string(nil)
	for _, r := range found {
		if may.HasUID(r.UID) || sees.HasUID(r.UID) {
			known[r.ID] = true
		}
		if known[r.ID] && !may.HasUID(r.UID) {
			denied = append(denied, r.ID)
		}
	}
	unknown := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return known[id] })
	switch {
	case len(unknown) > 0:
		return fault.New(fault.NotFound, "resourceIDs: no resource has the id %s", quoteIDs(unknown))
	case len(denied) > 0:
		return fault.New(fault.Denied, "permission denied: %s is needed on %s", acting, quoteIDs(denied))
	}
	return nil
}

// maxMentioned is how many of many IDs an error names.
const maxMentioned = 10

func quoteIDs(ids []string) string {
	var out []string
	for _, id := range ids[:min(len(ids), maxMentioned)] {
		out = append(out, fmt.Sprintf("%.64q", id))
	}
	if more := len(ids) - maxMentioned; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

// chooseFiltered finds the visible resources that match a filter, and drops those on which the caller may not act.
func (s *service) chooseFiltered(ctx context.Context, f *BulkFilter) (choice, error) {
	c, out := identity.CallerFrom(ctx), choice{scopes: mayAct(ctx)}
	if f.isEmpty() {
		return out, fault.New(fault.Invalid, "filter: it is empty and would choose everything; set one of the "+
			"filters of GET /resources")
	}
	if err := f.checkValues(); err != nil {
		return out, err
	}
	found, err := s.inventory.FindResources(ctx, c.Org,
		inventory.List{Filter: f.toFilter(inventory.SightOf(c, viewing)), Limit: execution.MaxTargets + 1})
	if err != nil {
		return out, err
	}
	if len(found) > execution.MaxTargets {
		return out, fault.New(
			fault.Invalid, "filter: it finds more than %d resources, which are the most; narrow it",
			execution.MaxTargets)
	}
	out.members, out.left = execution.Selected(found)
	if out.scopes != nil {
		may, err := s.inventory.ResourceSets(ctx, c.Org, *out.scopes)
		if err != nil {
			return out, err
		}
		var denied []execution.LeftOut
		out.members, denied = execution.Within(out.members, may[0])
		out.left = append(out.left, denied...)
	}
	if len(out.members) == 0 {
		return out, fault.New(
			fault.Invalid, "filter: of the %d resources that it finds none can be acted on; widen it", len(found))
	}
	return out, nil
}
