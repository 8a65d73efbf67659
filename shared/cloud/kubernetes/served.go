package kubernetes

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// servesResource reports whether the cluster serves a resource that is not Kubernetes' own. Every authenticated user
// may ask that.
func (c *cluster) servesResource(ctx context.Context, r apiResource) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.serves[r.String()]; ok {
		return known, nil
	}
	if served, err := c.servesGroup(ctx, r); err != nil || !served {
		return false, err
	}
	body, err := c.client.callAPI(ctx, apiCall{method: http.MethodGet, path: r.groupPath()})
	if isNotFound(err) {
		c.serves[r.String()] = false
		return false, nil
	}
	var list struct {
		Resources []struct {
			Name string `json:"name"`
		} `json:"resources"`
	}
	if err == nil {
		err = json.Unmarshal(body, &list)
	}
	if err != nil {
		return false, classifyError("get "+r.groupVersion(), err)
	}
	for i := range list.Resources {
		c.serves[r.String()] = c.serves[r.String()] || list.Resources[i].Name == r.Resource
	}
	return c.serves[r.String()], nil
}

// servesGroup reports whether the cluster serves the API group of a resource in its version. It is asked once. The
// caller holds the lock.
func (c *cluster) servesGroup(ctx context.Context, r apiResource) (bool, error) {
	if c.groups == nil {
		body, err := c.client.callAPI(ctx, apiCall{method: http.MethodGet, path: []string{"apis"}})
		var list struct {
			Groups []struct {
				Versions []struct {
					GroupVersion string `json:"groupVersion"`
				} `json:"versions"`
			} `json:"groups"`
		}
		if err == nil {
			err = json.Unmarshal(body, &list)
		}
		if err != nil {
			return false, classifyError("get /apis", err)
		}
		c.groups = map[string]bool{}
		for i := range list.Groups {
			for _, v := range list.Groups[i].Versions {
				c.groups[v.GroupVersion] = true
			}
		}
	}
	return c.groups[r.groupVersion()], nil
}

// mayServe reports whether a list of the resource can succeed: the cluster serves its API group.
func (c *cluster) mayServe(ctx context.Context, r apiResource) (bool, error) {
	if !slices.Contains(optionalResources, r) {
		return true, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.servesGroup(ctx, r)
}

// listServed lists everything of a resource. The list is empty for a resource that the cluster does not have.
func (c *cluster) listServed(ctx context.Context, r apiResource, ns string) ([]object, error) {
	all, complete, err := c.atMost(ctx, r, ns, maxPages)
	if err == nil && !complete {
		return nil, cloud.ErrUnsupported("the cluster has more than %d %s", maxPages*pageSize, r.Resource)
	}
	return all, err
}

// atMost lists the resource in a limited number of pages. It reports whether the list is complete.
func (c *cluster) atMost(ctx context.Context, r apiResource, ns string, pages int) ([]object, bool,
	error,
) {
	if may, err := c.mayServe(ctx, r); err != nil || !may {
		return nil, true, err
	}
	all, complete, err := c.listPages(ctx, r, ns, listLimit{pages: pages})
	if err == nil || !slices.Contains(optionalResources, r) {
		return all, complete, err
	}
	class := cloud.ClassOf(err)
	if class == cloud.Denied { // a cluster denies the list of a resource that it does not have, too
		if has, asked := c.servesResource(ctx, r); asked == nil && !has {
			class = cloud.NotFound
		}
	}
	if class == cloud.NotFound { // the group has other resources alone
		return nil, true, nil
	}
	return nil, false, err
}
