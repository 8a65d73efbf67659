package kubernetes

import (
	"context"
	"net/http"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// typedResources are the resources whose spec and status are those of an object.
var typedResources = []apiResource{
	namespacesOf, deploymentsOf, statefulOf, daemonSetsOf, cronJobsOf, hpasOf, pdbsOf,
}

// objectOf returns the fields of a document that this package knows, of other resources those of the metadata.
func (k *objectChange) objectOf(d document) (object, error) {
	if !slices.Contains(typedResources, k.resource) {
		d = document{"kind": d["kind"], "metadata": d["metadata"]}
	}
	return decodeAs[object](d)
}

// getDocument reads an object with all of its fields.
func (c *cluster) getDocument(ctx context.Context, r apiResource, at ref) (document, error) {
	var d document
	err := c.callResource(ctx, http.MethodGet, r, at, request{into: &d})
	return d, classifyError(permissionName("get", r), err)
}

// listDocuments lists the objects of a namespace with all of their fields.
func (c *cluster) listDocuments(ctx context.Context, r apiResource, ns string) ([]document, error) {
	var out []document
	err := eachIn(ctx, c, r, ns, func(d *document) { out = append(out, *d) })
	return out, err
}

// eachIn calls do with each object of a resource in a namespace. There is none of a resource that the cluster does not
// serve.
func eachIn[T any](ctx context.Context, c *cluster, r apiResource, ns string, do func(*T)) error {
	if served, err := c.servesOptional(ctx, r); err != nil || !served {
		return err
	}
	o := listOptions{}
	for range maxPages {
		var page typedList[T]
		err := c.callResource(ctx, http.MethodGet, r, ref{ns: ns}, request{query: o.queryValues(), into: &page})
		if err != nil {
			return classifyError(permissionName("list", r), err)
		}
		for i := range page.Items {
			do(&page.Items[i])
		}
		if o.Continue = page.Metadata.Continue; o.Continue == "" {
			return nil
		}
	}
	return cloud.ErrUnsupported("namespace %s has more than %d %s", ns, maxPages*pageSize, r.Resource)
}

// servesOptional reports whether the cluster serves a resource. It asks only about those that not every cluster has.
func (c *cluster) servesOptional(ctx context.Context, r apiResource) (bool, error) {
	if r != vpasOf && !slices.Contains(optionalResources, r) {
		return true, nil
	}
	return c.servesResource(ctx, r)
}
