package azure

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

const (
	permissionsPath    = "/providers/Microsoft.Authorization/permissions"
	permissionsVersion = "2022-04-01"
)

// baseNeeds are the permissions that no kind has to itself.
var baseNeeds = []string{
	"Microsoft.Resources/subscriptions/read", "Microsoft.Resources/subscriptions/locations/read",
	"Microsoft.Authorization/permissions/read", "Microsoft.ResourceGraph/resources/read",
	metricsNeed, sizesNeed, opinionsNeed,
	// the Resource Graph shows only resources that the role may read: without this permission the rest of the
	// inventory is missing
	"*/read",
}

// RequiredActions are the permissions of this package's calls, by level of access. Each level includes the levels
// before it.
type RequiredActions struct {
	Discover     []string // to list and read resources, clusters included
	StartStop    []string // to discover, start and stop
	Scale        []string // to discover, start, stop and change capacities
	Remediate    []string // all of these, and what the changes of the catalogue need
	Organisation []string // to list the subscriptions of a management group besides
	Billing      []string // to find and to check bills, besides
	BillingData  []string // to read them, in the storage account
}

// ListRequiredActions returns the permissions of every registered kind, sorted and without duplicates. Customers make
// their role from it.
func ListRequiredActions() RequiredActions {
	discover := slices.Clone(baseNeeds)
	var startStop, scale []string
	for _, k := range registry {
		discover, startStop, scale = append(discover, k.needs.discover...), append(startStop, k.needs.startStop...),
			append(scale, k.needs.scale...)
	}
	return RequiredActions{
		sortUnique(discover), sortUnique(discover, startStop),
		sortUnique(discover, startStop, scale),
		sortUnique(discover, startStop, scale, cloud.ChangeNeeds("azure")),
		sortUnique(organisationNeeds), sortUnique(billingNeeds),
		[]string{blobsNeed},
	}
}

func sortUnique(actions ...[]string) []string {
	all := slices.Concat(actions...)
	slices.Sort(all)
	return slices.Compact(all)
}

// role is the effect of one role assignment: Actions without NotActions.
type role struct {
	Actions    []string `json:"actions"`
	NotActions []string `json:"notActions"`
}

func (r role) allowsAction(action string) bool {
	is := func(pattern string) bool { return matchesPattern(pattern, action) }
	return slices.ContainsFunc(r.Actions, is) && !slices.ContainsFunc(r.NotActions, is)
}

// matchesPattern reports whether a pattern of a role, with its asterisks, matches the action.
func matchesPattern(pattern, action string) bool {
	parts := strings.Split(strings.ToLower(pattern), "*")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	found, err := regexp.MatchString("^"+strings.Join(parts, ".*")+"$", strings.ToLower(action))
	return err == nil && found
}

// Permissions reads the roles of the application in the subscription and returns the missing permissions. If Azure
// does not return the roles, all are unknown.
func (c *conn) Permissions(ctx context.Context) ([]cloud.Permission, error) {
	roles, err := c.roles(ctx)
	if err != nil && cloud.ClassOf(err) != cloud.Denied {
		return nil, err
	}
	var out []cloud.Permission
	add := func(capability string, actions ...string) {
		for _, a := range actions {
			p := newPermission(capability, a, roles, err)
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	add("discover", baseNeeds...)
	for _, k := range registry {
		add("discover", k.needs.discover...)
		add("start_stop", k.needs.startStop...)
		add("scale", k.needs.scale...)
	}
	add(cloud.RemediateCapability, cloud.ChangeNeeds("azure")...)
	add("billing", billingNeeds...)
	out = append(out,
		cloud.Permission{
			Capability: "billing", Action: blobsNeed, Status: "unknown",
			Message: "it is given in the storage account: the first delivery will tell",
		})
	return out, nil
}

// roles lists the roles of the application in the subscription.
func (c *conn) roles(ctx context.Context) ([]role, error) {
	id, err := c.subscriptionID(ctx)
	if err != nil {
		return nil, err
	}
	return listAll[role](ctx, c.client, subscriptionsPath+"/"+id+permissionsPath, permissionsVersion)
}

var _ cloud.KindProber = (*conn)(nil)

// KindPermissions returns the permissions for one kind, with one call.
func (c *conn) KindPermissions(ctx context.Context, kindType, _, _ string) ([]cloud.Permission, error) {
	i := slices.IndexFunc(registry, func(k kind) bool { return k.Type == kindType })
	if i < 0 {
		return nil, cloud.ErrInvalid("Azure has no resource type %q here", kindType)
	}
	roles, err := c.roles(ctx)
	if err != nil && cloud.ClassOf(err) != cloud.Denied {
		return nil, err
	}
	var out []cloud.Permission
	for _, a := range registry[i].needs.startStop {
		out = append(out, newPermission("start_stop", a, roles, err))
	}
	for _, a := range registry[i].needs.scale {
		out = append(out, newPermission("scale", a, roles, err))
	}
	return out, nil
}

var _ cloud.ChangeProber = (*conn)(nil)

// ChangePermissions returns the permissions of a change, with one call.
func (c *conn) ChangePermissions(ctx context.Context, want cloud.Change) ([]cloud.Permission, error) {
	out, err := cloud.NeedsOf(want, "")
	if err != nil {
		return nil, err
	}
	roles, err := c.roles(ctx)
	if err != nil && cloud.ClassOf(err) != cloud.Denied {
		return nil, err
	}
	for i, p := range out {
		out[i] = newPermission(p.Capability, p.Action, roles, err)
	}
	return out, nil
}

func newPermission(capability, action string, roles []role, err error) cloud.Permission {
	p := cloud.Permission{Capability: capability, Action: action, Status: "granted"}
	switch {
	case err != nil:
		p.Status, p.Message = "unknown", err.Error()
	case !slices.ContainsFunc(roles, func(r role) bool { return r.allowsAction(action) }):
		p.Status, p.Message = "denied", "no role of the application in this subscription allows "+action
	}
	return p
}
