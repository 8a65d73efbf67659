package kubernetes

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
)

// The optional interfaces of the cloud's connection are passed on. Objects in clusters have no limit of their own, no
// cheaper way to be read, and no metrics here.
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
		return nil, notFound("no cluster %.100q of region %.64q is registered", name, region)
	}
	c, err := a.enter(ctx, a.clusters[i])
	if err != nil {
		return nil, err
	}
	all, err := c.Permissions(ctx)
	return all, notLetIn(name, err)
}

// Admit admits all objects in clusters, and asks the cloud about its own resources.
//
//nolint:revive // as cloud.Admitter has it
func (a *account) Admit(ctx context.Context, v cloud.Verb, kind, region string, n int) (now int, later time.Duration) {
	if c, ok := a.Conn.(cloud.Admitter); ok && !ours(kind) {
		return c.Admit(ctx, v, kind, region, n)
	}
	return n, 0
}

// Verify reads the objects in clusters, and asks the cloud about its own resources.
func (a *account) Verify(ctx context.Context, kind, region string, uids []string) ([]cloud.State, error) {
	if c, ok := a.Conn.(cloud.Verifier); ok && !ours(kind) {
		return c.Verify(ctx, kind, region, uids)
	}
	return a.Read(ctx, kind, region, uids)
}

// Metrics are the cloud's.
func (a *account) Metrics(ctx context.Context, r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	c, ok := a.Conn.(cloud.Metered)
	if !ok || ours(r.Type) {
		return cloud.MetricAnswer{}, errUnsupported("%s is not measured here", r.Type)
	}
	return c.Metrics(ctx, r)
}

// ReadAutoscaling reads the scaling of an object in a cluster, or asks the cloud about its own resource.
func (a *account) ReadAutoscaling(ctx context.Context, kind, region, uid string) (cloud.Autoscaling, error) {
	c, err := a.autoscaler(ctx, kind, region, uid)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	return c.ReadAutoscaling(ctx, kind, region, uid)
}

// SetAutoscaling sets the scaling of an object in a cluster, or has the cloud set that of its own resource.
//
//nolint:revive // as cloud.Autoscaler has it
func (a *account) SetAutoscaling(ctx context.Context, kind, region, uid string, want cloud.Autoscaling) error {
	c, err := a.autoscaler(ctx, kind, region, uid)
	if err != nil {
		return err
	}
	return c.SetAutoscaling(ctx, kind, region, uid, want)
}

// KindPermissions asks the cluster of the uid, or the cloud about its own resource.
//
//nolint:revive // as cloud.KindProber has it
func (a *account) KindPermissions(ctx context.Context, kind, region, uid string) ([]cloud.Permission, error) {
	if ours(kind) {
		c, err := a.open(ctx, region).of(uid)
		if err != nil {
			return nil, err
		}
		return c.KindPermissions(ctx, kind, region, uid)
	}
	c, ok := a.Conn.(cloud.KindProber)
	if !ok {
		return nil, errUnsupported("the permissions of %s are not asked here", kind)
	}
	return c.KindPermissions(ctx, kind, region, uid)
}

func (a *account) autoscaler(ctx context.Context, kind, region, uid string) (cloud.Autoscaler, error) {
	if ours(kind) {
		return a.open(ctx, region).of(uid)
	}
	c, ok := a.Conn.(cloud.Autoscaler)
	if !ok {
		return nil, errUnsupported("%s is not scaled here", kind)
	}
	return c, nil
}
