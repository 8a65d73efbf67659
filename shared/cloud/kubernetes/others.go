package kubernetes

import (
	"context"
	"encoding/json"

	"lamplighter.dev/shared/cloud"
)

// other is a resource that is listed but not acted on. Not every cluster has the extra ones.
type other struct {
	apiResource
	kind  string // Kubernetes' name of the type: "networking.k8s.io/Ingress"
	extra bool
	list  func(ctx context.Context, c *cluster, token string) (found []listedObject, next string, err error)
}

// listedObject is an object, and its description without the fields that follow from its kind and place.
type listedObject struct {
	Head
	resource cloud.Resource
}

// newOther returns a resource of which names, labels and times are read.
func newOther(group, version, resource, kind string) other {
	o := other{apiResource: apiResource{Group: group, Version: version, Resource: resource}, kind: kind}
	if group != "" {
		o.kind = group + "/" + kind
	}
	return listedBy(o, namesAlone, func(context.Context, *cluster) (describer[named], error) {
		return func(named, *cloud.Resource) {}, nil
	})
}

// describer adds the facts of an object to its description.
type describer[T headed] func(T, *cloud.Resource)

// described returns the resource with facts. prepare is called for each page that has objects, and reads the other
// objects that the facts need.
func described[T headed](o other, prepare func(context.Context, *cluster) (describer[T], error)) other {
	return listedBy(o, "", prepare)
}

func listedBy[T headed](o other, accept string,
	prepare func(context.Context, *cluster) (describer[T], error),
) other {
	o.list = func(ctx context.Context, c *cluster, token string) ([]listedObject, string, error) {
		list, err := listTyped[T](ctx, c, o.apiResource, accept, token)
		if err != nil || len(list.Items) == 0 {
			return nil, list.Metadata.Continue, err
		}
		describe, err := prepare(ctx, c)
		if err != nil {
			return nil, "", err
		}
		out := make([]listedObject, len(list.Items))
		for i, o := range list.Items {
			out[i] = listedObject{o.head(), inventoryResource(o.head())}
			describe(o, &out[i].resource)
		}
		return out, list.Metadata.Continue, nil
	}
	return o
}

// factsOnly returns a describer for facts that need nothing but the object itself.
func factsOnly[T headed](facts func(T) cloud.Facts) func(context.Context, *cluster) (describer[T], error) {
	return func(context.Context, *cluster) (describer[T], error) {
		return func(o T, r *cloud.Resource) { r.Facts = facts(o) }, nil
	}
}

func (o other) ifServed() other {
	o.extra = true
	return o
}

// others are the resources of the kind "kubernetes-*": those that cost money, hold data or let traffic in, and those
// that limit or scale. Secrets and ConfigMaps are not among them, because a permission to list them is a permission to
// read them. Neither are objects that controllers create and delete by themselves, except the pods that a rule concerns
// (podSurvey.addNotable).
var others = []other{
	listedItself(newOther("", "v1", clusters, "cluster")),
	described(newOther("", "v1", "nodes", "Node"), describeNodes),
	described(newOther("", "v1", "services", "Service"), describeServices),
	described(newOther("", "v1", "persistentvolumes", "PersistentVolume"), factsOnly(volumeObject.volumeFacts)),
	described(newOther("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"), describeClaims),
	newOther("", "v1", "resourcequotas", "ResourceQuota"),
	newOther("", "v1", "limitranges", "LimitRange"),
	listedFromSurvey(newOther("", "v1", "pods", "Pod")),
	described(newOther("batch", "v1", "jobs", "Job"), factsOnly(job.jobFacts)),
	described(newOther("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"), describeHPAs),
	described(newOther("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"), factsOnly(budget.budgetFacts)),
	described(newOther("networking.k8s.io", "v1", "ingresses", "Ingress"), describeIngresses),
	newOther("networking.k8s.io", "v1", "ingressclasses", "IngressClass"),
	newOther("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy"),
	newOther("storage.k8s.io", "v1", "storageclasses", "StorageClass"),
	newOther("storage.k8s.io", "v1", "csidrivers", "CSIDriver"),
	newOther("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment"),
	newOther("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass"),
	newOther("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition"),
	described(newOther("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"), describeBindings),
	// the rules have one type for both kinds of bindings, and the fact cluster_wide
	described(newOther("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "RoleBinding"), describeBindings),
	newOther("gateway.networking.k8s.io", "v1", "gateways", "Gateway").ifServed(),
	newOther("gateway.networking.k8s.io", "v1", "httproutes", "HTTPRoute").ifServed(),
	newOther("snapshot.storage.k8s.io", "v1", "volumesnapshots", "VolumeSnapshot").ifServed(),
	newOther("autoscaling.k8s.io", "v1", "verticalpodautoscalers", "VerticalPodAutoscaler").ifServed(),
}

// surveyNeeds are the lists that are read for the facts of other objects alone.
var surveyNeeds = []rule{
	{slicesOf, "", "list"}, {clusterRolesOf, "", "list"}, {accountsOf, "", "list"},
}

// clusters is the resource in the uid of the cluster itself. The API does not know it.
const clusters = "clusters"

func otherNeeds() []rule {
	var out []rule
	for _, o := range others {
		if o.Resource != clusters { // which is read by the namespace that it identifies it by
			out = append(out, rule{o.apiResource, "", "list"})
		}
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
	found, next, errs := make([][]listedObject, len(todo)), make([]string, len(todo)), make([]error, len(todo))
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
		out.Resources = append(out.Resources, c.foundOthers(id, o, found[i])...)
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

// otherPage lists a page of a resource. It is empty for a resource that the cluster does not serve.
func (c *cluster) otherPage(ctx context.Context, o other, page string) ([]listedObject, string, error) {
	if o.extra {
		if served, err := c.servesResource(ctx, o.apiResource); err != nil || !served {
			return nil, "", err
		}
	}
	return o.list(ctx, c, page)
}

func (c *cluster) foundOthers(id string, o other, found []listedObject) []cloud.Resource {
	out := make([]cloud.Resource, len(found))
	for i, f := range found {
		r := f.resource
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
