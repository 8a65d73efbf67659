package actions

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// The policies of the group, and the one by which resources are seen.
const (
	reading  = "actions:read"
	acting   = "actions:execute"
	viewing  = "resources:read"
	grouping = "resource-groups:read"
)

// resourceSets tells for each policy on which resources the caller holds it. It costs no round trip where that is all of them.
func (s *service) resourceSets(ctx context.Context, policies ...string) ([]inventory.ResourceSet, error) {
	c := identity.CallerFrom(ctx)
	scopes := make([]grant.Scopes, len(policies))
	for i, p := range policies {
		scopes[i] = c.Scopes(p)
	}
	return s.inventory.ResourceSets(ctx, c.Org, scopes...)
}

// checkMayAct decides whether a caller may act on a resource, may and sees being where they may act and what they see: what they
// do not see is missing to them, which is also the answer when it does not exist.
func checkMayAct(may, sees inventory.ResourceSet, uid string, missing error) error {
	switch {
	case may.HasUID(uid):
		return nil
	case sees.HasUID(uid):
		return fault.New(fault.Denied, "permission denied: %s is needed on resource %q", acting, uid)
	}
	return missing
}
