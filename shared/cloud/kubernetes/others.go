package kubernetes

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"lamplighter.dev/shared/cloud"
)

// other is a resource that is listed but not acted on. Not every cluster has the extra ones.
type other struct {
	apiResource
	kind  string // Kubernetes' name of the type: "networking.k8s.io/Ingress"
	extra bool
	whole bool // is listed with all that it says
}

func newOther(group, version, resource, kind string) other {
	o := other{
		apiResource: apiResource{Group: group, Version: version, Resource: resource},
		kind:        kind,
	}
	if group != "" {
		o.kind = group + "/" + kind
	}
	return o
}

func (o other) ifServed() other {
	o.extra = true
	return o
}

// others are the resources of the kind "kubernetes-*": those that cost money, hold data or let traffic in, and those
// that limit or scale. Secrets and ConfigMaps are not among them, because a permission to list them is a permission to
// read them. Neither are objects that controllers create and delete by themselves.
var others = []other{
	nodesOf,
	newOther("", "v1", "services", "Service"),
	newOther("", "v1", "persistentvolumes", "PersistentVolume"),
	newOther("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
	newOther("", "v1", "resourcequotas", "ResourceQuota"),
	newOther("", "v1", "limitranges", "LimitRange"),
	newOther("batch", "v1", "jobs", "Job"),
	newOther("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
	newOther("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"),
	newOther("networking.k8s.io", "v1", "ingresses", "Ingress"),
	newOther("networking.k8s.io", "v1", "ingressclasses", "IngressClass"),
	newOther("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy"),
	newOther("storage.k8s.io", "v1", "storageclasses", "StorageClass"),
	newOther("storage.k8s.io", "v1", "csidrivers", "CSIDriver"),
	newOther("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment"),
	newOther("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass"),
	newOther("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition"),
	newOther("gateway.networking.k8s.io", "v1", "gateways", "Gateway").ifServed(),
	newOther("gateway.networking.k8s.io", "v1", "httproutes", "HTTPRoute").ifServed(),
	newOther("snapshot.storage.k8s.io", "v1", "volumesnapshots", "VolumeSnapshot").ifServed(),
	newOther("autoscaling.k8s.io", "v1", "verticalpodautoscalers", "VerticalPodAutoscaler").ifServed(),
}

func otherNeeds() []rule {
	out := make([]rule, len(others))
	for i, o := range others {
		out[i] = rule{o.apiResource, "", "list"}
	}
	return out
}

// moreOthers is the position in a listing of others: the token of the next page by resource. Denied is the error of
// resources that may not be listed. It is returned after everything else, so that those resources are not taken for
// gone.
type moreOthers struct {
	Next   map[string]string `json:"n"`
	Denied string            `json:"d,omitempty"`
}

// listOthers reads a page of each, side by side; page "" is the first of all.
func listOthers(ctx context.Context, c *cluster, page string) (cloud.ResourcePage, error) {
	id, err := c.clusterUID(ctx)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	at := moreOthers{Next: map[string]string{}}
	todo := others
	if page != "" {
		if err := json.Unmarshal([]byte(page), &at); err != nil {
			return cloud.ResourcePage{}, cloud.ErrInvalid("page %.100q is not one of this listing", page)
		}
		todo = at.unfinished()
	}
	after := moreOthers{Next: map[string]string{}, Denied: at.Denied}
	found, next, errs := make([][]object, len(todo)), make([]string, len(todo)), make([]error, len(todo))
	cloud.InParallel(len(todo), parallelCalls, func(i int) {
		found[i], next[i], errs[i] = c.otherPage(ctx, todo[i], at.Next[todo[i].String()])
	})
	var out cloud.ResourcePage
	for i, o := range todo {
		switch {
		case errs[i] == nil:
		case cloud.ClassOf(errs[i]) == cloud.Denied:
			after.Denied = errs[i].Error()
			continue
		default:
			return cloud.ResourcePage{}, errs[i]
		}
		here := c.foundOthers(id, o, found[i])
		if o.whole && len(here) > 0 {
			if err := c.addNodeFacts(ctx, found[i], here, page == ""); err != nil {
				return cloud.ResourcePage{}, err
			}
		}
		out.Resources = append(out.Resources, here...)
		if next[i] != "" {
			after.Next[o.String()] = next[i]
		}
	}
	return after.pageOf(out, at)
}

// unfinished returns the resources that have a next page.
func (r moreOthers) unfinished() []other {
	var out []other
	for _, o := range others {
		if r.Next[o.String()] != "" {
			out = append(out, o)
		}
	}
	return out
}

// pageOf returns the token of the next page. A denial gets a page of its own after the last.
func (r moreOthers) pageOf(out cloud.ResourcePage, before moreOthers) (cloud.ResourcePage, error) {
	switch {
	case len(r.Next) == 0 && r.Denied == "":
		return out, nil
	case len(r.Next) == 0 && len(out.Resources) == 0 && before.Denied == r.Denied:
		return cloud.ResourcePage{}, &cloud.Error{Class: cloud.Denied, Message: r.Denied}
	}
	out.Next = string(encodeSnapshot(r))
	return out, nil
}

// otherPage lists a page of a resource. Unless the resource is listed whole, objects have only their names and labels.
func (c *cluster) otherPage(ctx context.Context, o other, page string) ([]object, string, error) {
	if o.extra {
		if served, err := c.servesResource(ctx, o.apiResource); err != nil || !served {
			return nil, "", err
		}
	}
	ask := func(page string) ([]byte, error) {
		return c.client.callAPI(ctx,
			apiCall{
				method: http.MethodGet, path: append(o.groupPath(), o.Resource), accept: o.acceptHeader(),
				query: url.Values{"limit": {strconv.Itoa(pageSize)}, "continue": {page}},
			})
	}
	body, err := ask(page)
	if instead := continueToken(err); instead != "" {
		body, err = ask(instead)
	}
	if err != nil {
		return nil, "", classifyError(permissionName("list", o.apiResource), err)
	}
	var list objectList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, "", unreadableError(err)
	}
	return list.Items, list.Metadata.Continue, nil
}

func (c *cluster) foundOthers(id string, o other, found []object) []cloud.Resource {
	out := make([]cloud.Resource, len(found))
	for i, f := range found {
		r := f.inventoryResource()
		r.UID, r.ParentUID = workloadUID(id, o.Resource, f.ref()), c.parent
		if f.Namespace != "" {
			r.ParentUID = namespaceUID(id, f.Namespace)
		}
		if r.Type, r.Status = cloud.TypeOf(Name, o.kind), cloud.Running; f.DeletionTimestamp != nil {
			r.Status = cloud.Terminated
		}
		out[i] = r
	}
	return out
}
