package gcp

import (
	"context"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// nodepoolMemory is the state that a stop overwrites and a start restores: the nodes of a zone, and the scaling, nil
// for a pool that is not scaled.
type nodepoolMemory struct {
	Nodes   int64           `json:"nodesPerZone"`
	Scaling *nodepoolScaler `json:"autoscaling,omitempty"`
}

// nodepoolScaler is how a pool is scaled: by bounds of each zone, or of all together.
type nodepoolScaler struct {
	Min      int64  `json:"min"`
	Max      int64  `json:"max"`
	TotalMin int64  `json:"totalMin"`
	TotalMax int64  `json:"totalMax"`
	Location string `json:"locationPolicy,omitempty"`
}

func (s nodepoolScaler) isTotal() bool { return s.TotalMax > 0 }

// scaling returns how the pool is scaled; nil when it is not.
func (n nodepool) scaling() *nodepoolScaler {
	a := n.Autoscaling
	if a == nil || !a.Enabled {
		return nil
	}
	return &nodepoolScaler{
		Min: a.MinNodeCount, Max: a.MaxNodeCount, TotalMin: a.TotalMinNodeCount,
		TotalMax: a.TotalMaxNodeCount, Location: a.LocationPolicy,
	}
}

// actNodepool looks at the pool and takes its two steps in the order that leaves, after a crash in between, a pool on
// which the act is done again: the scaling is switched off before the size is 0, and on before it is more.
func actNodepool(ctx context.Context, p place, v cloud.Verb, t target) error {
	n, err := getNodepool(ctx, p, t.ref)
	if err != nil {
		return err
	}
	if reason := n.stopObstacle(); reason != "" {
		return cloud.ErrUnsupported("%s", reason)
	}
	if v == cloud.Stop {
		if n.scaling() != nil {
			if err := setScaling(ctx, p, n, nil); err != nil {
				return err
			}
		}
		return setNodes(ctx, p, n, 0)
	}
	return startNodepool(ctx, p, n, t)
}

func startNodepool(ctx context.Context, p place, n nodepool, t target) error {
	m, ok, err := cloud.DecodeSnapshot[nodepoolMemory](t.snapshot, "state")
	if err != nil {
		return err
	}
	if !ok { // stopped by somebody else: so is its scaling
		m = nodepoolMemory{Nodes: n.minimum()}
	}
	if m.Scaling != nil && n.scaling() == nil {
		if err := setScaling(ctx, p, n, m.Scaling); err != nil {
			return err
		}
	}
	if n.perZone() > 0 {
		return nil // somebody has started it
	}
	if m.Nodes == 0 {
		return cloud.ErrUnsupported("%s", cloud.NoSizeRemembered(n.Name))
	}
	return setNodes(ctx, p, n, m.Nodes)
}

// minimum returns the minimum of a zone between which the pool is scaled; 0 when it is not.
func (n nodepool) minimum() int64 {
	if s := n.scaling(); s != nil {
		return s.Min
	}
	return 0
}

func getNodepool(ctx context.Context, p place, r ref) (nodepool, error) {
	found, err := getNodepools(ctx, p, r.clusterLink(), []ref{r})
	if err != nil {
		return nodepool{}, err
	}
	if len(found) == 0 {
		return nodepool{}, cloud.ErrNotFound("there is no GKE node pool %s in cluster %s", r.name, r.cluster)
	}
	return found[0], nil
}

// setScaling sets how the pool is scaled, nil for not at all, and waits for that: GKE does one thing to a cluster at a
// time.
func setScaling(ctx context.Context, p place, n nodepool, s *nodepoolScaler) error {
	var change googlerest.NodePoolAutoscalingChange
	if a := &change.Autoscaling; s != nil {
		a.Enabled, a.LocationPolicy = true, s.Location
		if s.isTotal() {
			a.TotalMinNodeCount, a.TotalMaxNodeCount = &s.TotalMin, s.TotalMax
		} else {
			a.MinNodeCount, a.MaxNodeCount = &s.Min, s.Max
		}
	}
	return changePool(ctx, p, n.ref, googlerest.NewPost("container.clusters.update",
		googlerest.Container+"{+name}:setAutoscaling", n.poolLink()).Body(change))
}

// setNodes sets the nodes of each zone.
func setNodes(ctx context.Context, p place, n nodepool, perZone int64) error {
	_, err := call[googlerest.ClusterOperation](ctx, p.session, googlerest.NewPost("container.clusters.update",
		googlerest.Container+"{+name}:setSize", n.poolLink()).Body(googlerest.NodePoolSizeChange{NodeCount: perZone}))
	return err
}

// changePool makes a change that another one follows, and waits for its end. A change that takes longer is class
// Moving: the act is repeated when the cluster is ready, and finds this part done.
func changePool(ctx context.Context, p place, r ref, request *googlerest.Request) error {
	o, err := call[googlerest.ClusterOperation](ctx, p.session, request)
	for n := 0; err == nil && o.Status != "DONE"; n++ {
		if n == operationPolls {
			return cloud.ErrMoving("operation %s (%s) is %s and not yet done", o.Name, o.OperationType, o.Status)
		}
		if err = p.awaitPause(ctx); err == nil {
			o, err = call[googlerest.ClusterOperation](ctx, p.session, googlerest.NewGet("container.operations.get",
				googlerest.Container+"{+name}", "projects/"+r.project+"/locations/"+r.location+"/operations/"+o.Name))
		}
	}
	if err == nil && o.Error != nil {
		return &cloud.Error{
			Class: cloud.Transient, Op: "container.clusters.update", Code: o.OperationType,
			Message: o.Error.Message,
		}
	}
	return err
}

// scaleNodepool sets the nodes of a zone, and the bounds between which they are scaled.
func scaleNodepool(ctx context.Context, p place, r ref, want cloud.Capacity) error {
	n, err := getNodepool(ctx, p, r)
	if err != nil {
		return err
	}
	s := n.scaling()
	z := size{Max: largestSize, Desired: n.perZone()}
	if s != nil && !s.isTotal() {
		z.Min, z.Max = s.Min, s.Max
	}
	if z, err = z.withCapacity(want); err != nil {
		return err
	}
	if err := n.refuseScale(want); err != nil {
		return err
	}
	if changesBounds(want) && (z.Min != s.Min || z.Max != s.Max) {
		if err := setScaling(ctx, p, n, &nodepoolScaler{Min: z.Min, Max: z.Max, Location: s.Location}); err != nil {
			return err
		}
	}
	if want.Desired == nil || z.Desired == n.perZone() {
		return nil
	}
	return setNodes(ctx, p, n, z.Desired)
}

func (n nodepool) refuseScale(want cloud.Capacity) error {
	s := n.scaling()
	switch {
	case n.stopObstacle() != "":
		return cloud.ErrUnsupported("%s", n.stopObstacle())
	case changesBounds(want) && s == nil:
		return cloud.ErrUnsupported("the node pool %s is not scaled: only its desired size can be set", n.Name)
	case changesBounds(want) && s.isTotal():
		return cloud.ErrUnsupported(
			"the bounds of the node pool %s are of all its zones together, and are not set here",
			n.Name)
	}
	return nil
}
