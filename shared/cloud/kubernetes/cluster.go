package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
)

// The resources that are read and changed.
var (
	namespacesOf  = apiResource{Version: "v1", Resource: "namespaces"}
	podsOf        = apiResource{Version: "v1", Resource: "pods"}
	deploymentsOf = apiResource{Group: "apps", Version: "v1", Resource: "deployments"}
	statefulOf    = apiResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	daemonSetsOf  = apiResource{Group: "apps", Version: "v1", Resource: "daemonsets"}
	cronJobsOf    = apiResource{Group: "batch", Version: "v1", Resource: "cronjobs"}
	hpasOf        = apiResource{
		Group: "autoscaling", Version: "v2",
		Resource: "horizontalpodautoscalers",
	}
	pdbsOf     = apiResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
	scaledOf   = apiResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}
	rolloutsOf = apiResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "rollouts"}
	reviewsOf  = apiResource{
		Group: "authorization.k8s.io", Version: "v1",
		Resource: "selfsubjectaccessreviews",
	}
)

const (
	pageSize = 250
	maxPages = 400 // of one listing: 100,000 objects
	// conflicts is the number of retries of a change after a conflict. Controllers change objects all the time.
	conflicts = 10
)

// cluster makes the calls to one cluster. Errors are *cloud.Error.
type cluster struct {
	client  *apiClient
	patient *apiClient // for queries, which take longer
	clock   clock.Clock
	parent  string // the uid of the cluster at the cloud that runs it

	promMu sync.Mutex
	prom   *promServer // nil until it is known

	mu     sync.Mutex
	uid    string          // of the namespace kube-system; "" until it is known
	serves map[string]bool // resources that not every cluster has
	groups map[string]bool // the versions of API groups that the cluster serves; nil until they are known
	survey survey
}

// readClusterUID returns the uid of the namespace kube-system, which a cluster keeps for life.
func (c *cluster) readClusterUID(ctx context.Context) (string, error) {
	o, err := c.getObject(ctx, namespacesOf, ref{name: "kube-system"})
	if err != nil {
		return "", err
	}
	return o.UID, nil
}

// clusterUID is identify, asked once.
func (c *cluster) clusterUID(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.uid != "" {
		return c.uid, nil
	}
	uid, err := c.readClusterUID(ctx)
	c.uid = uid
	return uid, err
}

func (c *cluster) getObject(ctx context.Context, r apiResource, at ref) (object, error) {
	var o object
	err := c.callResource(ctx, http.MethodGet, r, at, request{into: &o})
	return o, classifyError(permissionName("get", r), err)
}

// request is a call's parameters and body, and the target of its answer.
type request struct {
	query       url.Values
	contentType string // of the body; "" is JSON
	body        any
	sub         []string // the subresource
	into        any      // nil when only the success counts
}

// callResource makes a call for an object of the resource, or for all of a namespace when at has no name.
func (c *cluster) callResource(ctx context.Context, method string, r apiResource, at ref, q request) error {
	path, err := r.objectPath(at, q.sub...)
	if err != nil {
		return err
	}
	call := apiCall{method: method, path: path, query: q.query, contentType: q.contentType}
	if q.body != nil {
		if call.body, err = json.Marshal(q.body); err != nil {
			return fmt.Errorf("encode the body of %s: %w", permissionName(method, r), err)
		}
	}
	answer, err := c.client.callAPI(ctx, call)
	if err != nil {
		return err
	}
	return decodeAnswer(answer, q.into)
}

// listPage lists one page; ns "" is all namespaces. If the cluster has dropped an expired listing, it continues with
// the token that the cluster offers.
func (c *cluster) listPage(ctx context.Context, r apiResource, ns string,
	o listOptions,
) (found []object, next string, err error) {
	var list objectList
	err = c.callResource(ctx, http.MethodGet, r, ref{ns: ns}, request{query: o.queryValues(), into: &list})
	if instead := continueToken(err); instead != "" {
		o.Continue, list = instead, objectList{}
		err = c.callResource(ctx, http.MethodGet, r, ref{ns: ns}, request{query: o.queryValues(), into: &list})
	}
	if err != nil {
		return nil, "", classifyError(permissionName("list", r), err)
	}
	for i := range list.Items { // a cluster leaves the kind out of the objects of a list
		list.Items[i].Kind = cmp.Or(list.Items[i].Kind, strings.TrimSuffix(list.Kind, "List"))
	}
	return list.Items, list.Metadata.Continue, nil
}

// objectList is a page of objects.
type objectList struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []object `json:"items"`
}

// listOptions select the objects of a listing and its next page.
type listOptions struct{ LabelSelector, Continue string }

func (o listOptions) queryValues() url.Values {
	q := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if o.LabelSelector != "" {
		q.Set("labelSelector", o.LabelSelector)
	}
	if o.Continue != "" {
		q.Set("continue", o.Continue)
	}
	return q
}

// continueToken returns the token that continues an expired listing.
func continueToken(err error) string {
	s, ok := errors.AsType[*statusError](err)
	if !ok || s.Code != http.StatusGone {
		return ""
	}
	return s.Metadata.Continue
}

// listAll lists everything.
func (c *cluster) listAll(ctx context.Context, r apiResource, ns string, o listOptions) ([]object,
	error,
) {
	all, complete, err := c.listPages(ctx, r, ns, listLimit{o, maxPages})
	if err == nil && !complete {
		return nil, cloud.ErrUnsupported("the cluster has more than %d %s", maxPages*pageSize, r.Resource)
	}
	return all, err
}

// listLimit is a listing and its maximum number of pages.
type listLimit struct {
	listOptions
	pages int
}

// listPages lists so many pages. It reports whether these were all.
func (c *cluster) listPages(ctx context.Context, r apiResource, ns string, o listLimit) (all []object,
	complete bool, err error,
) {
	for range o.pages {
		found, next, err := c.listPage(ctx, r, ns, o.listOptions)
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

// change is a JSON merge patch: nil values remove their field.
type change map[string]any

// changeGuarded changes an object as decide returns, if the object still has the version that was read. After a
// conflict it reads the object again and calls decide again. A nil change makes no call. An o without a version is
// read first.
func (c *cluster) changeGuarded(ctx context.Context, r apiResource, o object,
	decide func(object) (change, error), sub ...string,
) error {
	var last error
	for try := range conflicts {
		var err error
		if try > 0 || o.ResourceVersion == "" {
			if o, err = c.getObject(ctx, r, o.ref()); err != nil {
				return err
			}
		}
		what, err := decide(o)
		if err != nil || what == nil {
			return err
		}
		if last = c.patchObject(ctx, r, o, what, sub...); last == nil || !isConflict(last) {
			return last
		}
		pause := 20 * time.Millisecond << min(try, 5)
		if err := c.clock.Sleep(ctx, rand.N(pause)); err != nil { //nolint:gosec // jitter needs no secrecy
			return classifyError(permissionName("patch", r), unansweredError(err))
		}
	}
	return last
}

// patchObject changes o if it is still the version that was read.
func (c *cluster) patchObject(ctx context.Context, r apiResource, o object, what change,
	sub ...string,
) error {
	meta, _ := what["metadata"].(change)
	if meta == nil {
		meta = change{}
	}
	meta["resourceVersion"], what["metadata"] = o.ResourceVersion, meta
	err := c.callResource(ctx, http.MethodPatch, r, o.ref(), request{
		query: url.Values{"fieldManager": {fieldManager}}, contentType: "application/merge-patch+json", body: what,
		sub: sub,
	})
	return classifyError(permissionName("patch", r, sub...), err)
}

func isConflict(err error) bool {
	e, ok := errors.AsType[*cloud.Error](err)
	return ok && e.Code == reasonConflict
}

// permissionName names a call as permissions do: "patch deployments.apps".
func permissionName(verb string, r apiResource, sub ...string) string {
	name := r.Resource
	if len(sub) > 0 {
		name += "/" + sub[0]
	}
	if r.Group != "" {
		name += "." + r.Group
	}
	return verb + " " + name
}

// unreadableError is the error of an answer that does not have the form of its kind; nil for nil.
func unreadableError(err error) error {
	if err == nil {
		return nil
	}
	return &cloud.Error{Class: cloud.Transient, Code: "Unreadable", Message: "the answer of the cluster " +
		"cannot be read: " + err.Error()}
}
