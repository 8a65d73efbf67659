package kubernetes

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
)

// The optional interfaces of the cloud's connection are passed on. Objects in clusters have no limit of their own, no
// cheaper way to be read.
var (
	_ cloud.Admitter = (*account)(nil)
	_ cloud.Verifier = (*account)(nil)
	_ cloud.Metered  = (*account)(nil)

	_ cloud.Autoscaler = (*account)(nil)
	_ cloud.KindProber = (*account)(nil)
)

// PermissionsInside asks the cluster itself. A cluster that refuses the credentials is class Denied, with advice.
func (a *account) PermissionsInside(ctx context.Context, region, name string) ([]cloud.Permission, error) {
	i := slices.IndexFunc(a.clusters, func(r cloud.RegisteredCluster) bool {
		return r.Region == region && r.Name == name
	})
	if i < 0 {
		return nil, cloud.ErrNotFound("no cluster %.100q of region %.64q is registered", name, region)
	}
	c, err := a.enterCluster(ctx, a.clusters[i])
	if err != nil {
		return nil, err
	}
	all, err := c.Permissions(ctx)
	return all, notLetIn(name, err)
}

// Admit admits all objects in clusters, and asks the cloud about its own resources.
func (a *account) Admit(ctx context.Context, v cloud.Verb, kind, region string, n int) (now int, later time.Duration) {
	if c, ok := a.Conn.(cloud.Admitter); ok && !isInCluster(kind) {
		return c.Admit(ctx, v, kind, region, n)
	}
	return n, 0
}

// Verify reads the objects in clusters, and asks the cloud about its own resources.
func (a *account) Verify(ctx context.Context, kind, region string, uids []string) ([]cloud.State, error) {
	if c, ok := a.Conn.(cloud.Verifier); ok && !isInCluster(kind) {
		return c.Verify(ctx, kind, region, uids)
	}
	return a.Read(ctx, kind, region, uids)
}

// ReadOpinions are the cloud's.
func (a *account) ReadOpinions(ctx context.Context, r cloud.OpinionRequest, take func(cloud.Opinion)) (
	cloud.OpinionAnswer, error,
) {
	c, ok := a.Conn.(cloud.OpinionReader)
	if !ok {
		return cloud.OpinionAnswer{}, cloud.ErrUnsupported("this cloud has no recommendations of its own that are read")
	}
	return c.ReadOpinions(ctx, r, take)
}

// ReadAutoscaling reads the scaling of an object in a cluster, or asks the cloud about its own resource.
func (a *account) ReadAutoscaling(ctx context.Context, kind, region, uid string) (cloud.Autoscaling, error) {
	c, err := a.clusterAutoscaler(ctx, kind, region, uid)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	return c.ReadAutoscaling(ctx, kind, region, uid)
}

// SetAutoscaling sets the scaling of an object in a cluster, or has the cloud set that of its own resource.
func (a *account) SetAutoscaling(ctx context.Context, kind, region, uid string, want cloud.Autoscaling) error {
	c, err := a.clusterAutoscaler(ctx, kind, region, uid)
	if err != nil {
		return err
	}
	return c.SetAutoscaling(ctx, kind, region, uid, want)
}

// KindPermissions asks the cluster of the uid, or the cloud about its own resource.
func (a *account) KindPermissions(ctx context.Context, kind, region, uid string) ([]cloud.Permission, error) {
	if isInCluster(kind) {
		c, err := a.openClusters(ctx, region).clusterOf(uid)
		if err != nil {
			return nil, err
		}
		return c.KindPermissions(ctx, kind, region, uid)
	}
	c, ok := a.Conn.(cloud.KindProber)
	if !ok {
		return nil, cloud.ErrUnsupported("the permissions of %s are not asked here", kind)
	}
	return c.KindPermissions(ctx, kind, region, uid)
}

func (a *account) clusterAutoscaler(ctx context.Context, kind, region, uid string) (cloud.Autoscaler, error) {
	if isInCluster(kind) {
		return a.openClusters(ctx, region).clusterOf(uid)
	}
	c, ok := a.Conn.(cloud.Autoscaler)
	if !ok {
		return nil, cloud.ErrUnsupported("%s is not scaled here", kind)
	}
	return c, nil
}

// changerOf returns what changes resources of a type: the cluster of an object, or the cloud for its own resources.
func (a *account) changerOf(ctx context.Context, c cloud.Change) (cloud.Changer, error) {
	if k, known := cloud.KindOf(c.Kind); known && k.Provider == Name {
		return a.openClusters(ctx, c.Region).clusterOf(c.UID)
	}
	changer, ok := a.Conn.(cloud.Changer)
	if !ok {
		return nil, cloud.ErrUnsupported("resources of type %s are not changed here", c.Kind)
	}
	return changer, nil
}

// DescribeForChange reads a resource for its change.
func (a *account) DescribeForChange(ctx context.Context, c cloud.Change) (cloud.Description, error) {
	changer, err := a.changerOf(ctx, c)
	if err != nil {
		return cloud.Description{}, err
	}
	return changer.DescribeForChange(ctx, c)
}

// PlanChange plans a change and writes nothing.
func (a *account) PlanChange(ctx context.Context, c cloud.Change) (cloud.ChangePlan, error) {
	changer, err := a.changerOf(ctx, c)
	if err != nil {
		return cloud.ChangePlan{}, err
	}
	return changer.PlanChange(ctx, c)
}

// ApplyChange makes one call of a change.
func (a *account) ApplyChange(ctx context.Context, c cloud.ChangeCall) error {
	changer, err := a.changerOf(ctx, c.Change)
	if err != nil {
		return err
	}
	return changer.ApplyChange(ctx, c)
}

// CheckChange reports whether the values of a call are there.
func (a *account) CheckChange(ctx context.Context, c cloud.ChangeCall) (reached bool, now cloud.Values, err error) {
	changer, err := a.changerOf(ctx, c.Change)
	if err != nil {
		return false, nil, err
	}
	return changer.CheckChange(ctx, c)
}
