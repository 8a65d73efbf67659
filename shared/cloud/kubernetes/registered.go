package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes/kubeconfig"
)

// account is a connection to a cloud account and to the objects in its registered clusters.
type account struct {
	cloud.Conn // the cloud's
	provider   *Provider
	clusters   []cloud.RegisteredCluster

	mu      sync.Mutex
	entered map[string]*conn // by region and name
}

var (
	_ cloud.ClusterOpener = (*Provider)(nil)
	_ cloud.Inside        = (*account)(nil)
)

// WithClusters returns a connection that looks into the clusters, too. Each is entered when it is first needed.
func (p *Provider) WithClusters(c cloud.Conn, clusters []cloud.RegisteredCluster) cloud.Conn {
	clusters = slices.Clone(clusters)
	slices.SortFunc(clusters, func(a, b cloud.RegisteredCluster) int { return strings.Compare(a.Name, b.Name) })
	return &account{Conn: c, provider: p, clusters: clusters, entered: map[string]*conn{}}
}

// KindsInside returns all kinds of this package if a cluster is registered.
func (a *account) KindsInside(region string) []cloud.Kind {
	if len(a.clustersIn(region)) == 0 {
		return nil
	}
	return a.provider.Kinds()
}

// isInCluster reports whether the kind is one of the objects in clusters.
func isInCluster(kindType string) bool {
	return kindType == cloud.KubernetesOthers || slices.ContainsFunc(registry, func(k kind) bool {
		return k.Type == kindType
	})
}

// clustersIn returns the clusters of a region, by name.
func (a *account) clustersIn(region string) []cloud.RegisteredCluster {
	return slices.DeleteFunc(slices.Clone(a.clusters), func(c cloud.RegisteredCluster) bool {
		return c.Region != region
	})
}

// enterCluster connects to a cluster, once.
func (a *account) enterCluster(ctx context.Context, r cloud.RegisteredCluster) (*conn, error) {
	key := r.Region + "/" + r.Name
	a.mu.Lock()
	known := a.entered[key]
	a.mu.Unlock()
	if known != nil {
		return known, nil
	}
	entry, access, err := a.clusterEntry(ctx, r)
	if err != nil {
		return nil, err
	}
	c, err := a.provider.openCluster(entry, access)
	if err != nil {
		return nil, err
	}
	c.parent = entry.UID
	a.mu.Lock()
	defer a.mu.Unlock()
	a.entered[key] = newConn(c, r.Region)
	return a.entered[key], nil
}

// clusterEntry is the access to a cluster: by its own kubeconfig, or by its cloud.
func (a *account) clusterEntry(ctx context.Context, r cloud.RegisteredCluster) (e cloud.ClusterEntry,
	access kubeconfig.Access,
	err error,
) {
	if r.Kubeconfig != nil {
		if err = json.Unmarshal(r.Kubeconfig, &access); err != nil {
			return e, access,
				cloud.ErrInvalid("the kubeconfig of the cluster %s cannot be read: register it again", r.Name)
		}
		return entryOf(access), access, nil
	}
	opens, ok := a.Conn.(cloud.ClusterAccess)
	if !ok {
		return e, access,
			cloud.ErrUnsupported("the cluster %s cannot be entered with the credentials of its account: register "+
				"it with a "+
				"kubeconfig", r.Name)
	}
	e, err = opens.EnterCluster(ctx, r.Region, r.Name)
	return e, access, err
}

// listPosition is the position in a listing of clusters. Failed is the error of an earlier cluster. It is returned
// after the other clusters are listed, so that the objects of the failed cluster are not taken for gone.
type listPosition struct {
	Cluster string      `json:"c"` // the one to list
	Page    string      `json:"p,omitempty"`
	Class   cloud.Class `json:"k,omitempty"`
	Stopped bool        `json:"s,omitempty"` // the failure is that a cluster is stopped
	Failed  string      `json:"f,omitempty"`
}

// longestFailure bounds the text of a failure in a page token.
const longestFailure = 500

// List lists one cluster of the region after the other.
func (a *account) List(ctx context.Context, kind, region, page string) (cloud.ResourcePage, error) {
	if !isInCluster(kind) {
		return a.Conn.List(ctx, kind, region, page)
	}
	here := a.clustersIn(region)
	if len(here) == 0 {
		return cloud.ResourcePage{}, nil
	}
	at := listPosition{Cluster: here[0].Name}
	if page != "" {
		if err := json.Unmarshal([]byte(page), &at); err != nil {
			return cloud.ResourcePage{}, cloud.ErrInvalid("page %.100q is not one of this listing", page)
		}
	}
	i := slices.IndexFunc(here, func(c cloud.RegisteredCluster) bool { return c.Name >= at.Cluster })
	if i < 0 { // it was deregistered meanwhile, and was the last
		return cloud.ResourcePage{}, at.failureError()
	}
	if here[i].Name != at.Cluster {
		at.Page = ""
	}
	got, err := a.listOne(ctx, here[i], kind, at.Page)
	if err != nil && ctx.Err() != nil {
		return cloud.ResourcePage{}, err
	}
	return at.nextPlace(got, err, here, i)
}

func (a *account) listOne(ctx context.Context, r cloud.RegisteredCluster, kind, page string) (cloud.ResourcePage,
	error,
) {
	c, err := a.enterCluster(ctx, r)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	got, err := c.List(ctx, kind, r.Region, page)
	return got, notLetIn(r.Name, err)
}

// notLetIn returns the error of a cluster that refuses credentials which its cloud accepts: the account itself is not
// refused.
func notLetIn(cluster string, err error) error {
	e, ok := errors.AsType[*cloud.Error](err)
	if !ok || e.Class != cloud.Refused {
		return err
	}
	told := *e
	told.Class = cloud.Denied
	told.Message = e.Message + ": the cluster " + cluster +
		" does not let these credentials in: give them access there (EKS: an access entry; AKS, GKE: a role of the " +
		"cloud or a ClusterRoleBinding), or register the cluster with a kubeconfig"
	return &told
}

// nextPlace returns the page with the token that continues the listing.
func (p listPosition) nextPlace(got cloud.ResourcePage, err error, here []cloud.RegisteredCluster,
	i int) (cloud.ResourcePage,
	error,
) {
	if err != nil && (p.Failed == "" || p.Stopped) { // a failure is reported before a stopped cluster
		p.Class, p.Stopped, p.Failed = cloud.ClassOf(err), cloud.CodeOf(err) == cloud.ClusterStopped,
			here[i].Name+": "+err.Error()
		p.Failed = p.Failed[:min(len(p.Failed), longestFailure)]
	}
	switch {
	case err == nil && got.Next != "":
		p.Cluster, p.Page = here[i].Name, got.Next
	case i+1 < len(here):
		p.Cluster, p.Page = here[i+1].Name, ""
	case p.Failed == "":
		return got, nil
	case err == nil: // the last page has resources; the failure follows on a page of its own
		p.Cluster, p.Page = here[i].Name+"\x00", ""
	default:
		return cloud.ResourcePage{}, p.failureError()
	}
	got.Next = string(encodeSnapshot(p))
	return got, nil
}

func (p listPosition) failureError() error {
	if p.Failed == "" {
		return nil
	}
	e := &cloud.Error{Class: p.Class, Message: p.Failed}
	if p.Stopped {
		e.Code, e.Message = cloud.ClusterStopped, strings.TrimPrefix(p.Failed, cloud.ClusterStopped+": ")
	}
	return e
}

// openedClusters are the clusters of a region by their uids, and the error that kept other clusters from being opened.
type openedClusters struct {
	byUID map[string]*conn
	err   error
}

// openClusters asks the clusters of a region for their identity.
func (a *account) openClusters(ctx context.Context, region string) openedClusters {
	here := a.clustersIn(region)
	conns, ids, errs := make([]*conn, len(here)), make([]string, len(here)), make([]error, len(here))
	cloud.InParallel(len(here), parallelCalls, func(i int) {
		if conns[i], errs[i] = a.enterCluster(ctx, here[i]); errs[i] == nil {
			ids[i], errs[i] = conns[i].clusterUID(ctx)
			errs[i] = notLetIn(here[i].Name, errs[i])
		}
	})
	o := openedClusters{byUID: map[string]*conn{}}
	for i, err := range errs {
		if err == nil {
			o.byUID[ids[i]] = conns[i]
		} else if o.err == nil {
			o.err = err
		}
	}
	return o
}

// clusterOf returns the cluster that a uid is in. When one of the clusters did not answer, it may be in that one.
func (o openedClusters) clusterOf(uid string) (*conn, error) {
	id, _, _ := strings.Cut(uid, "/")
	switch c := o.byUID[id]; {
	case c != nil:
		return c, nil
	case o.err != nil:
		return nil, o.err
	default:
		return nil, cloud.ErrNotFound("%s is in no registered cluster of this account and region", uid)
	}
}

// Read reads each uid in its cluster. Uids without a registered cluster do not exist.
func (a *account) Read(ctx context.Context, kind, region string, uids []string) ([]cloud.State, error) {
	if !isInCluster(kind) {
		return a.Conn.Read(ctx, kind, region, uids)
	}
	o := a.openClusters(ctx, region)
	in := map[*conn][]string{}
	for _, u := range uids {
		c, err := o.clusterOf(u)
		switch {
		case err == nil:
			in[c] = append(in[c], u)
		case cloud.ClassOf(err) != cloud.NotFound:
			return nil, err
		}
	}
	var all []cloud.State
	for c, these := range in {
		states, err := c.Read(ctx, kind, region, these)
		if err != nil {
			return nil, err
		}
		all = append(all, states...)
	}
	return all, nil
}

// Act acts on each target in its cluster.
func (a *account) Act(ctx context.Context, v cloud.Verb, kind, region string, targets []cloud.Target) []cloud.Result {
	if !isInCluster(kind) {
		return a.Conn.Act(ctx, v, kind, region, targets)
	}
	o := a.openClusters(ctx, region)
	out := make([]cloud.Result, len(targets))
	in := map[*conn][]int{}
	for i, t := range targets {
		out[i].UID = t.UID
		c, err := o.clusterOf(t.UID)
		if out[i].Err = err; err == nil {
			in[c] = append(in[c], i)
		}
	}
	for c, index := range in {
		these := make([]cloud.Target, len(index))
		for i, at := range index {
			these[i] = targets[at]
		}
		for i, r := range c.Act(ctx, v, kind, region, these) {
			out[index[i]] = r
		}
	}
	return out
}

// Scale scales in the cluster of the uid.
func (a *account) Scale(ctx context.Context, kind, region, uid string, want cloud.Capacity) error {
	if !isInCluster(kind) {
		return a.Conn.Scale(ctx, kind, region, uid, want)
	}
	c, err := a.openClusters(ctx, region).clusterOf(uid)
	if err != nil {
		return err
	}
	return c.Scale(ctx, kind, region, uid, want)
}
