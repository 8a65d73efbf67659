package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
)

// anyVersion is what the client is made for: resources name their versions themselves.
var anyVersion schema.GroupVersion

// What is read and changed of a cluster.
var (
	namespacesOf  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	podsOf        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	deploymentsOf = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	statefulOf    = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	daemonSetsOf  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}
	cronJobsOf    = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "cronjobs"}
	hpasOf        = schema.GroupVersionResource{Group: "autoscaling", Version: "v2",
		Resource: "horizontalpodautoscalers"}
	pdbsOf     = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
	scaledOf   = schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}
	rolloutsOf = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "rollouts"}
	reviewsOf  = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1",
		Resource: "selfsubjectaccessreviews"}
)

const (
	pageSize = 250
	maxPages = 400 // of one listing: 100,000 objects
	// conflicts is how often a change is decided anew because the object changed meanwhile, which controllers do all the time.
	conflicts = 10
)

// cluster is what is called of one cluster. Errors are *cloud.Error.
type cluster struct {
	raw     rest.Interface
	client  dynamic.Interface
	clock   clock.Clock
	parent  string // the uid of the cluster at the cloud that runs it
	mu      sync.Mutex
	uid     string          // of the namespace kube-system; "" until it is known
	serves  map[string]bool // resources that not every cluster has
	groups  map[string]bool // the versions of API groups that the cluster serves; nil until they are known
	counted byNamespace     // what the namespaces held when they were last listed
	loaded  nodeLoads       // what pods requested when they were last listed
}

// identify returns the uid of the namespace kube-system, which a cluster keeps for life.
func (c *cluster) identify(ctx context.Context) (string, error) {
	o, err := c.get(ctx, namespacesOf, ref{name: "kube-system"})
	if err != nil {
		return "", err
	}
	return string(o.UID), nil
}

// identity is identify, asked once.
func (c *cluster) identity(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.uid != "" {
		return c.uid, nil
	}
	uid, err := c.identify(ctx)
	c.uid = uid
	return uid, err
}

func (c *cluster) get(ctx context.Context, r schema.GroupVersionResource, at ref) (object, error) {
	u, err := c.client.Resource(r).Namespace(at.ns).Get(ctx, at.name, metav1.GetOptions{})
	if err != nil {
		return object{}, classifyError(op("get", r), err)
	}
	return decode(u)
}

// page lists one page; ns "" is all namespaces. A listing that the cluster has no patience for any more goes on at what it
// offers instead.
func (c *cluster) page(ctx context.Context, r schema.GroupVersionResource, ns string,
	o metav1.ListOptions) (found []object, next string, err error) {
	o.Limit = pageSize
	list, err := c.client.Resource(r).Namespace(ns).List(ctx, o)
	if instead := continued(err); instead != "" {
		o.Continue = instead
		list, err = c.client.Resource(r).Namespace(ns).List(ctx, o)
	}
	if err != nil {
		return nil, "", classifyError(op("list", r), err)
	}
	found = make([]object, len(list.Items))
	for i := range list.Items {
		if found[i], err = decode(&list.Items[i]); err != nil {
			return nil, "", err
		}
	}
	return found, list.GetContinue(), nil
}

// continued returns where an expired listing can go on.
func continued(err error) string {
	s, ok := errors.AsType[*kerrors.StatusError](err)
	if !ok || s.Status().Code != http.StatusGone {
		return ""
	}
	return s.Status().Continue
}

// all lists everything.
func (c *cluster) all(ctx context.Context, r schema.GroupVersionResource, ns string, o metav1.ListOptions) ([]object,
	error) {
	all, complete, err := c.pages(ctx, r, ns, listLimit{o, maxPages})
	if err == nil && !complete {
		return nil, errUnsupported("the cluster has more than %d %s", maxPages*pageSize, r.Resource)
	}
	return all, err
}

// listLimit is what to list, and in how many pages.
type listLimit struct {
	metav1.ListOptions
	pages int
}

// pages lists so many pages. It reports whether these were all.
func (c *cluster) pages(ctx context.Context, r schema.GroupVersionResource, ns string, o listLimit) (all []object,
	complete bool, err error) {
	for range o.pages {
		found, next, err := c.page(ctx, r, ns, o.ListOptions)
		if err != nil {
			return nil, false, err
		}
		all = append(all, found...)
		if o.Continue = next; next == "" {
			return all, true, nil
		}
	}
	return all, false, nil
}

// change is a JSON merge patch: what is nil in it is removed.
type change map[string]any

// guarded changes an object as decide says, on condition that it is as it was read: who comes second reads again, and decides about
// what the first has made of it. A nil change is none. An o of which only the name is known is read first.
func (c *cluster) guarded(ctx context.Context, r schema.GroupVersionResource, o object,
	decide func(object) (change, error), sub ...string) error {
	var last error
	for try := range conflicts {
		var err error
		if try > 0 || o.ResourceVersion == "" {
			if o, err = c.get(ctx, r, o.ref()); err != nil {
				return err
			}
		}
		what, err := decide(o)
		if err != nil || what == nil {
			return err
		}
		if last = c.patch(ctx, r, o, what, sub...); last == nil || !isConflict(last) {
			return last
		}
		pause := 20 * time.Millisecond << min(try, 5)
		if err := c.clock.Sleep(ctx, rand.N(pause)); err != nil { //nolint:gosec // jitter needs no secrecy
			return classifyError(op("patch", r), unansweredError(err))
		}
	}
	return last
}

// patch changes o if it is still the version that was read.
func (c *cluster) patch(ctx context.Context, r schema.GroupVersionResource, o object, what change,
	sub ...string) error {
	meta, _ := what["metadata"].(change)
	if meta == nil {
		meta = change{}
	}
	meta["resourceVersion"], what["metadata"] = o.ResourceVersion, meta
	body, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("encode change of %s: %w", o.Name, err)
	}
	_, err = c.client.Resource(r).Namespace(o.Namespace).Patch(ctx, o.Name, types.MergePatchType, body,
		metav1.PatchOptions{FieldManager: fieldManager}, sub...)
	return classifyError(op("patch", r, sub...), err)
}

func isConflict(err error) bool {
	e, ok := errors.AsType[*cloud.Error](err)
	return ok && e.Code == string(metav1.StatusReasonConflict)
}

// op names a call as permissions do: "patch deployments.apps".
func op(verb string, r schema.GroupVersionResource, sub ...string) string {
	name := r.Resource
	if len(sub) > 0 {
		name += "/" + sub[0]
	}
	if r.Group != "" {
		name += "." + r.Group
	}
	return verb + " " + name
}

func decode(u *unstructured.Unstructured) (object, error) {
	var o object
	if err := convert(u.Object, &o); err != nil {
		return o, &cloud.Error{Class: cloud.Transient, Code: "Unreadable", Message: "the cluster answered what " +
			"cannot be read: " + err.Error()}
	}
	return o, nil
}
