package kubernetes

import (
	"context"
	"slices"
	"sync"

	"lamplighter.dev/shared/cloud"
)

// parallelCalls is the number of objects that one call of ours works on at the same time.
const parallelCalls = 16

// conn is a connection to one cluster.
type conn struct {
	*cluster
	cloud.OpenChange
	region string
	passMu sync.Mutex
	last   *pass  // of the last read, until an act has used it
	lastOf string // the kind that it read
}

func newConn(c *cluster, region string) *conn {
	out := &conn{cluster: c, region: region}
	out.OpenChange = out.changing
	return out
}

// Identify returns the uid of the namespace kube-system.
func (c *conn) Identify(ctx context.Context) (string, error) { return c.readClusterUID(ctx) }

// Regions returns the one region that the cluster is.
func (c *conn) Regions(context.Context) ([]string, error) { return []string{c.region}, nil }

// kindOf finds the kind of a type in the region.
func (c *conn) kindOf(kindType, region string) (kind, error) {
	i := slices.IndexFunc(registry, func(k kind) bool { return k.Type == kindType })
	switch {
	case i < 0:
		return kind{}, cloud.ErrInvalid("Kubernetes has no resource type %.64q here", kindType)
	case region != c.region:
		return kind{}, cloud.ErrInvalid("the region of this cluster is %s, not %.64q", c.region, region)
	}
	return registry[i], nil
}

// List reads one page of a kind.
func (c *conn) List(ctx context.Context, kind, region, page string) (cloud.ResourcePage, error) {
	list := listOthers
	if !cloud.IsCollective(kind) || region != c.region {
		k, err := c.kindOf(kind, region)
		if err != nil {
			return cloud.ResourcePage{}, err
		}
		list = k.list
	}
	got, err := list(ctx, c.cluster, page)
	for i := range got.Resources {
		if got.Resources[i].Region = region; !cloud.IsCollective(kind) {
			got.Resources[i].Type = kind
		}
	}
	return got, err
}

// Read returns the live states. Uids of another cluster do not exist here.
func (c *conn) Read(ctx context.Context, kind, region string, uids []string) ([]cloud.State, error) {
	k, err := c.kindOf(kind, region)
	if err != nil || len(uids) == 0 {
		return nil, err
	}
	id, err := c.clusterUID(ctx)
	if err != nil {
		return nil, err
	}
	at, errs := c.refsOf(id, k, uids)
	p := c.newPass(at)
	states := make([]cloud.State, len(uids))
	cloud.InParallel(len(uids), parallelCalls, func(i int) {
		if errs[i] == nil {
			states[i], errs[i] = k.read(ctx, p, at[i])
			states[i].UID = uids[i]
		}
	})
	c.keepPass(kind, p)
	return existingStates(states, errs)
}

// refsOf returns the objects that the uids name, and an error for each uid that is not of this cluster.
func (c *conn) refsOf(id string, k kind, uids []string) ([]ref, []error) {
	at, errs := make([]ref, len(uids)), make([]error, len(uids))
	for i, u := range uids {
		var ok bool
		if at[i], ok = parseUID(id, k.resource.Resource, u); !ok {
			errs[i] = cloud.ErrNotFound("%s is not in this cluster", u)
		}
	}
	return at, errs
}

// keepPass stores the pass of a read for the act that follows.
func (c *conn) keepPass(kind string, p *pass) {
	c.passMu.Lock()
	defer c.passMu.Unlock()
	c.last, c.lastOf = p, kind
}

// passFor returns the pass of the last read, if it is fresh and covers the objects, or a new one. A pass is used once.
func (c *conn) passFor(kind string, objects []ref) *pass {
	c.passMu.Lock()
	last, of := c.last, c.lastOf
	c.last = nil
	c.passMu.Unlock()
	if last != nil && of == kind && c.clock.Now().Sub(last.at) < passFresh && last.coversObjects(objects) {
		return last
	}
	return c.newPass(objects)
}

// existingStates returns the states without the resources that do not exist.
func existingStates(states []cloud.State, errs []error) ([]cloud.State, error) {
	out := make([]cloud.State, 0, len(states))
	for i, err := range errs {
		switch {
		case err == nil:
			out = append(out, states[i])
		case cloud.ClassOf(err) != cloud.NotFound:
			return nil, err
		}
	}
	return out, nil
}

// Act starts or stops.
func (c *conn) Act(ctx context.Context, v cloud.Verb, kind, region string, targets []cloud.Target) []cloud.Result {
	k, id, err := c.kindToActOn(ctx, kind, region)
	if err != nil {
		return allFailed(targets, err)
	}
	at, errs := c.refsOf(id, k, uidsOf(targets))
	out := make([]cloud.Result, len(targets))
	var goals []goal
	var index []int
	for i, t := range targets {
		if out[i] = (cloud.Result{UID: t.UID, Err: errs[i]}); errs[i] == nil {
			goals, index = append(goals, goal{at[i], t.Snapshot}), append(index, i)
		}
	}
	for i, o := range k.act(ctx, c.passFor(kind, refsOf(goals)), v, goals) {
		out[index[i]].Err, out[index[i]].LeftOff = o.err, o.left
	}
	return out
}

// kindToActOn finds a kind, and the identity of the cluster.
func (c *conn) kindToActOn(ctx context.Context, kindType, region string) (kind, string, error) {
	k, err := c.kindOf(kindType, region)
	if err != nil {
		return k, "", err
	}
	id, err := c.clusterUID(ctx)
	return k, id, err
}

func uidsOf(targets []cloud.Target) []string {
	out := make([]string, len(targets))
	for i, t := range targets {
		out[i] = t.UID
	}
	return out
}

func allFailed(targets []cloud.Target, err error) []cloud.Result {
	out := make([]cloud.Result, len(targets))
	for i, t := range targets {
		out[i] = cloud.Result{UID: t.UID, Err: err}
	}
	return out
}

// Scale sets the number of replicas of an object. A minimum or a maximum belongs to its autoscaler, and is class
// Unsupported.
func (c *conn) Scale(ctx context.Context, kind, region, uid string, want cloud.Capacity) error {
	k, err := c.kindOf(kind, region)
	if err != nil {
		return err
	}
	if k.scale == nil {
		return cloud.ErrUnsupported("%s has no size to set", k.Name)
	}
	at, err := c.refOf(ctx, k, uid)
	if err != nil {
		return err
	}
	return k.scale(ctx, c.cluster, at, want)
}

// refOf returns the object of this cluster that a uid names.
func (c *conn) refOf(ctx context.Context, k kind, uid string) (ref, error) {
	id, err := c.clusterUID(ctx)
	if err != nil {
		return ref{}, err
	}
	at, ok := parseUID(id, k.resource.Resource, uid)
	if !ok {
		return ref{}, cloud.ErrNotFound("%s is not in this cluster", uid)
	}
	return at, nil
}

// ReadAutoscaling returns how a workload is scaled.
func (c *conn) ReadAutoscaling(ctx context.Context, kind, region, uid string) (cloud.Autoscaling, error) {
	k, at, err := c.autoscaledWorkload(ctx, kind, region, uid)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	return readAutoscaling(ctx, c.cluster, k.resource, at)
}

// SetAutoscaling sets how a workload is scaled.
func (c *conn) SetAutoscaling(ctx context.Context, kind, region, uid string, want cloud.Autoscaling) error {
	k, at, err := c.autoscaledWorkload(ctx, kind, region, uid)
	if err != nil {
		return err
	}
	return setAutoscaling(ctx, c.cluster, k.resource, at, want)
}

// autoscaledWorkload finds a workload of a kind that Kubernetes scales by itself.
func (c *conn) autoscaledWorkload(ctx context.Context, kindType, region, uid string) (kind, ref, error) {
	k, err := c.kindOf(kindType, region)
	if err != nil {
		return k, ref{}, err
	}
	if !slices.Contains(cloud.AutoscaledTypes(), kindType) {
		return k, ref{}, cloud.ErrUnsupported("%s is not scaled by Kubernetes", k.Name)
	}
	at, err := c.refOf(ctx, k, uid)
	return k, at, err
}

var (
	_ cloud.Conn       = (*conn)(nil)
	_ cloud.Autoscaler = (*conn)(nil)
)
