package actions

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// These are the policies of the group, and the ones for seeing resources and groups.
const (
	reading  = "actions:read"
	acting   = "actions:execute"
	viewing  = "resources:read"
	grouping = "resource-groups:read"
)

// resourceSets returns, for each policy, the resources on which the caller holds it. It takes no round trip if these
// are all resources.
func (s *service) resourceSets(ctx context.Context, policies ...string) ([]inventory.ResourceSet, error) {
	c := identity.CallerFrom(ctx)
	scopes := make([]grant.Scopes, len(policies))
	for i, p := range policies {
		scopes[i] = c.Scopes(p)
	}
	return s.inventory.ResourceSets(ctx, c.Org, scopes...)
}

// checkMayAct refuses a caller who may not act on a resource. may and sees are the resources on which the caller may
// act and that the caller may see. For a resource that the caller may not see it returns missing, the error for a
// resource that does not exist.
func checkMayAct(may, sees inventory.ResourceSet, uid string, missing error) error {
	switch {
	case may.HasUID(uid):
		return nil
	case sees.HasUID(uid):
		return fault.New(fault.Denied, "permission denied: %s is needed on resource %q", acting, uid)
	}
	return missing
}
