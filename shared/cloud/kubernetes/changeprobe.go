package kubernetes

import (
	"context"
	"strings"

	"lamplighter.dev/shared/cloud"
)

var _ cloud.ChangeProber = (*conn)(nil)

// ChangePermissions asks the cluster about the rules of a change.
func (c *conn) ChangePermissions(ctx context.Context, want cloud.Change) ([]cloud.Permission, error) {
	needs, err := cloud.NeedsOf(want, "")
	if err != nil {
		return nil, err
	}
	var asked []askedRule
	for _, n := range needs {
		asked = append(asked, askedRule{n.Capability, changeRule(n.Action)})
	}
	return c.reviewAll(ctx, asked)
}

// changeRules returns the rules for permissions in the catalogue's format.
func changeRules(permissions []string) []rule {
	out := make([]rule, len(permissions))
	for i, p := range permissions {
		out[i] = changeRule(p)
	}
	return out
}

// changeRule returns the rule for a permission: "patch deployments.apps", "patch deployments/scale.apps", "get pods".
func changeRule(permission string) rule {
	verb, name, _ := strings.Cut(permission, " ")
	path, group, _ := strings.Cut(name, ".")
	resource, sub, _ := strings.Cut(path, "/")
	return rule{versionedResource(group, resource), sub, verb}
}

// versionedResource returns the resource of a group. One that not every cluster has comes with its version, so that its
// rules are left out where it is missing.
func versionedResource(group, resource string) apiResource {
	for _, r := range optionalResources {
		if r.Group == group && r.Resource == resource {
			return r
		}
	}
	for _, o := range others {
		if o.Group == group && o.Resource == resource {
			return o.apiResource
		}
	}
	return apiResource{Group: group, Resource: resource}
}

var _ cloud.ChangeProber = (*account)(nil)

// ChangePermissions asks the cluster of the resource, or the cloud about its own.
func (a *account) ChangePermissions(ctx context.Context, want cloud.Change) ([]cloud.Permission, error) {
	if isInCluster(want.Kind) {
		c, err := a.openClusters(ctx, want.Region).clusterOf(want.UID)
		if err != nil {
			return nil, err
		}
		return c.ChangePermissions(ctx, want)
	}
	c, ok := a.Conn.(cloud.ChangeProber)
	if !ok {
		return cloud.NeedsOf(want, "its first use will tell")
	}
	return c.ChangePermissions(ctx, want)
}
