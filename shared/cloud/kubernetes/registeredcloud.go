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
